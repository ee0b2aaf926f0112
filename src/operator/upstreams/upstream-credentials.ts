// op upstreams add, rotate and remove: the operator's changes to credentials. What is stored is
// where the secret is, never the secret: each process reads it on its own machine within five
// seconds.
import { isStorableReference, type UpstreamLine } from '../../upstreams/upstreams.ts'
import { EXIT_DONE, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { suggestion } from '../desk/nearest.ts'

/** It begins with a letter: numbers are those of the nodes' files. */
const NAME = /^[a-z][a-z0-9-]{0,39}$/

export async function addCredential(
  desk: Desk,
  upstream: string,
  name: string,
  reference: string,
): Promise<number> {
  const lines = await desk.modules.upstreams.overview()
  const own = lines.filter((line) => line.upstream === upstream && line.isConfigured)
  if (own.length === 0) throw unknown('upstream', upstream, namesOf(lines))
  if (!NAME.test(name)) {
    throw usageError(`a credential's name is a letter, then a-z, 0-9 and -, not ${name}`)
  }
  checkReference(reference)
  const target = `${upstream}#${name}`
  if (own.some((line) => line.target === target)) {
    throw usageError(`there is a credential ${target} already; op upstreams rotate changes it`)
  }
  return desk.act({
    plan: [
      `${target}, a new credential beside ${own.length}`,
      `  its secret is read from ${reference} on every node`,
      '  it gets its share of conversations, which begin there without a prompt cache',
    ],
    needs: { kind: 'upstream', size: 1n },
    work: (tx) => change(desk, { target, reference, isDrained: false }, tx),
    report: () => ({
      result: { target, reference },
      line: `${target}: added; every process reads ${reference} within five seconds`,
    }),
  })
}

export async function rotateCredential(
  desk: Desk,
  target: string,
  reference: string,
): Promise<number> {
  const line = await find(desk, target)
  checkReference(reference)
  if (line.reference === reference) {
    desk.say({ isDone: false, target }, [
      `${target} is read from there already; a changed file is noticed within five seconds`,
    ])
    return EXIT_DONE
  }
  return desk.act({
    plan: [
      `${target}, ${line.underWay} requests under way`,
      `  its secret was read from ${line.reference ?? 'where the file of each node says'}`,
      `  new requests use the one in ${reference}; those under way go on with the old one`,
      '  a node that cannot read it goes on with the old one, and op upstreams says so',
    ],
    needs: { kind: 'upstream', size: 1n },
    compared: [target, line.reference ?? '', reference],
    work: (tx) => change(desk, { target, reference, isDrained: null }, tx),
    report: () => ({
      result: { target, reference },
      line: `${target}: every process reads ${reference} within five seconds`,
    }),
  })
}

export async function removeCredential(desk: Desk, target: string): Promise<number> {
  const line = await find(desk, target)
  if (!line.isAdded) return forgetRotation(desk, target, line)
  if (!line.isDrained || line.underWay > 0) {
    throw usageError(
      `${target} is in use, with ${line.underWay} requests under way; drain it and wait for them`,
    )
  }
  return desk.act({
    plan: [`${target}, drained, no request under way`, '  it is forgotten; no secret is deleted'],
    needs: { kind: 'upstream', size: 1n },
    work: (tx) => desk.modules.upstreams.removeCredential(target, tx),
    report: () => ({ result: { target }, line: `${target}: removed` }),
  })
}

/** A rotation cannot name a command, so this is the only way back to one in the nodes' file. */
function forgetRotation(desk: Desk, target: string, line: UpstreamLine): Promise<number> {
  if (line.reference === null) {
    throw usageError(`${target} is in the file of the nodes; remove it there, or drain it`)
  }
  if (line.isDrained) throw usageError(`${target} is drained; undrain it first`)
  return desk.act({
    plan: [
      `${target}, ${line.underWay} requests under way`,
      `  its secret was read from ${line.reference}`,
      '  new requests use the one that the file of each node names',
    ],
    needs: { kind: 'upstream', size: 1n },
    compared: [target, line.reference],
    work: (tx) => desk.modules.upstreams.removeCredential(target, tx),
    report: () => ({
      result: { target },
      line: `${target}: every process reads it as its file says within five seconds`,
    }),
  })
}

async function find(desk: Desk, target: string): Promise<UpstreamLine> {
  const lines = await desk.modules.upstreams.overview()
  const found = lines.find((line) => line.target === target && line.isConfigured)
  const targets = lines.flatMap((line) => (line.isConfigured ? [line.target] : []))
  if (found === undefined) throw unknown('credential', target, targets)
  return found
}

type Change = Omit<Parameters<Desk['modules']['upstreams']['changeCredential']>[0], 'by'>

function change(
  { modules, by }: Desk,
  next: Change,
  tx: Parameters<Desk['modules']['upstreams']['changeCredential']>[1],
): Promise<void> {
  return modules.upstreams.changeCredential({ ...next, by }, tx)
}

function checkReference(reference: string): void {
  if (isStorableReference(reference)) return
  throw usageError(
    'a reference is file:/path or env:NAME, with bearer: before it for a token; a command can ' +
      'only stand in the file of a node, because the database must not start programs',
  )
}

function namesOf(lines: readonly UpstreamLine[]): string[] {
  return [...new Set(lines.flatMap((line) => (line.isConfigured ? [line.upstream] : [])))]
}

function unknown(what: string, name: string, names: readonly string[]) {
  return usageError(
    `there is no ${what} ${name}; there are: ${names.join(', ')}${suggestion(name, [...names])}`,
  )
}
