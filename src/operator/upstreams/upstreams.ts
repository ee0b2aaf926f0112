// op upstreams: the state of the upstreams as all processes see it, and the operator's settings. A
// change is stored in the database with its author; every process applies it within two seconds,
// and running requests continue. upstream-credentials.ts adds and rotates credentials.
import type { UpstreamLine, Upstreams } from '../../upstreams/upstreams.ts'
import { EXIT_DONE, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { suggestion } from '../desk/nearest.ts'
import { tableOf } from '../desk/table.ts'

/** A share among upstreams of the same priority; larger numbers are not needed. */
const WEIGHT_MAX = 1_000_000

export async function listUpstreams(desk: Desk): Promise<number> {
  const lines = await desk.modules.upstreams.overview()
  const models = lines.flatMap((line) =>
    line.models.filter(isWorthALine).map((model) => modelRowOf(line.target, model)),
  )
  const text = tableOf(COLUMNS, lines.map(rowOf), WIDTH_MAX)
  if (models.length > 0) text.push('', ...tableOf(MODEL_COLUMNS, models, WIDTH_MAX))
  desk.say({ upstreams: lines }, [...text, ...lines.flatMap(problemsOf)])
  return EXIT_DONE
}

export function drain(desk: Desk, name: string): Promise<number> {
  return change(desk, name, { weight: null, isDrained: true })
}

export function undrain(desk: Desk, name: string): Promise<number> {
  return change(desk, name, { weight: null, isDrained: false })
}

export async function setWeight(desk: Desk, name: string, text: string): Promise<number> {
  const weight = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  if (!(weight <= WEIGHT_MAX))
    throw usageError(`a weight is a whole number from 0 to ${WEIGHT_MAX}`)
  return change(desk, name, { weight, isDrained: null })
}

/** A null member leaves the setting unchanged. */
async function change(desk: Desk, name: string, next: Setting): Promise<number> {
  const { upstreams } = desk.modules
  const lines = await upstreams.overview()
  const { own, mine, isCredential } = findIn(lines, name)
  if (isCredential && next.weight !== null) {
    throw usageError(`all credentials of ${mine.upstream} have its weight; name the upstream`)
  }
  if (isAlready(mine, isCredential, next)) {
    desk.say({ isDone: false, name }, [`${name} is so already`])
    return EXIT_DONE
  }
  return desk.act({
    plan: planOf(lines, { name, own, mine }, next),
    // A drain is done at night and undone at once: it needs no second person.
    ...(next.weight !== null && {
      needs: { kind: 'upstream', size: 1n } as const,
      compared: [`${name}: its weight becomes ${next.weight}; now it is ${mine.weight}`],
    }),
    work: (tx) =>
      isCredential
        ? upstreams.changeCredential(
            { target: name, reference: null, isDrained: next.isDrained, by: desk.by },
            tx,
          )
        : upstreams.change({ name, ...next, by: desk.by }, tx),
    report: () => ({
      result: { name, ...next },
      line: `${name}: ${changeText(next)}; every process knows in two seconds`,
    }),
  })
}

/** The credentials of an upstream, or the one that is named. */
function findIn(lines: readonly UpstreamLine[], name: string) {
  const isCredential = name.includes('#')
  const own = lines.filter(
    (line) => line.isConfigured && (isCredential ? line.target : line.upstream) === name,
  )
  const [mine] = own
  if (mine !== undefined) return { own, mine, isCredential }
  const all = lines.filter((line) => line.isConfigured)
  const names = [...new Set(all.map((line) => (isCredential ? line.target : line.upstream)))]
  const what = isCredential ? 'credential' : 'upstream'
  throw usageError(
    `there is no ${what} ${name}; there are: ${names.join(', ')}${suggestion(name, names)}`,
  )
}

type Setting = Omit<Parameters<Upstreams['change']>[0], 'name' | 'by'>

function changeText({ weight, isDrained }: Setting): string {
  if (weight !== null) return `weight ${weight}`
  return isDrained ? 'drained' : 'in use again'
}

function isAlready(
  mine: UpstreamLine,
  isCredential: boolean,
  { weight, isDrained }: Setting,
): boolean {
  if (weight !== null) return mine.weight === weight
  return (isCredential ? mine.isCredentialDrained : mine.isUpstreamDrained) === isDrained
}

function planOf(
  lines: readonly UpstreamLine[],
  { name, own, mine }: { name: string; own: readonly UpstreamLine[]; mine: UpstreamLine },
  { weight, isDrained }: Setting,
): string[] {
  const underWay = own.reduce((sum, line) => sum + line.underWay, 0)
  const plan = [`${name}, ${own.length} credentials, ${underWay} requests under way`]
  if (mine.changedBy !== null) plan.push(`  last changed by ${mine.changedBy}, ${mine.changedAt}`)
  if (weight !== null) plan.push(`  its weight becomes ${weight}; now it is ${mine.weight}`)
  if (isDrained === false) plan.push('  it gets new requests again')
  if (isDrained === false && mine.isUpstreamDrained && mine.target === name) {
    plan.push(`  but not before its upstream ${mine.upstream} is undrained`)
  }
  if (isDrained !== true && weight !== 0) return plan
  if (isDrained === true) plan.push('  it gets no new request; those under way go on')
  const others = lines.filter((line) => !own.includes(line) && line.weight > 0 && !line.isDrained)
  const isCredential = mine.target === name
  const names = [...new Set(others.map((line) => (isCredential ? line.target : line.upstream)))]
  if (names.length > 0) plan.push(`  in use remain: ${names.join(', ')}`)
  else plan.push('  NO OTHER IS IN USE: every request will be refused with 529')
  return plan
}

/** May be wider than the terminal, but is never cut: operators copy rows into tickets. */
const WIDTH_MAX = 200

const COLUMNS = [
  { head: 'target' },
  { head: 'state' },
  { head: 'under way', side: 'right' },
  { head: 'succeeded', side: 'right' },
  { head: 'failed', side: 'right' },
  { head: 'first byte ms', side: 'right' },
  { head: 'weight', side: 'right' },
  { head: 'drained' },
  { head: 'processes', side: 'right' },
] as const

function rowOf(line: UpstreamLine): string[] {
  return [
    line.target,
    line.isConfigured ? upstreamState(line) : `${upstreamState(line)}, not configured here`,
    ...[line.underWay, line.succeeded, line.failed, line.firstByteMs, line.weight].map(String),
    drainedText(line),
    String(line.processes),
  ]
}

/** `closed` is the word of the circuit breaker; operators read it as out of service. */
export function upstreamState({ state, out }: Pick<UpstreamLine, 'state' | 'out'>): string {
  if (out !== null) return out
  if (state === 'unseen') return state
  return state === 'closed' ? 'serving' : 'sick'
}

type ModelLine = UpstreamLine['models'][number]

const MODEL_COLUMNS = [
  { head: 'target' },
  { head: 'model' },
  { head: 'path' },
  { head: 'state' },
  { head: 'cooling s', side: 'right' },
  { head: 'under way', side: 'right' },
  { head: 'most', side: 'right' },
  { head: 'left' },
] as const

function isWorthALine({ state, most, limits }: ModelLine): boolean {
  return state !== 'serving' || most !== null || Object.keys(limits).length > 0
}

function modelRowOf(target: string, line: ModelLine): string[] {
  const left = Object.entries(line.limits).map(([kind, one]) => `${kind} ${one.left}/${one.limit}`)
  return [
    ...[target, line.model, line.isFree ? 'count_tokens' : 'messages', line.state],
    ...[String(line.coolingSeconds), String(line.underWay), line.most?.toString() ?? ''],
    left.join(', '),
  ]
}

function drainedText({ isDrained, underWay }: UpstreamLine): string {
  if (!isDrained) return 'no'
  return underWay > 0 ? 'draining' : 'yes'
}

function problemsOf({ target, problems }: UpstreamLine): string[] {
  return problems.map(
    ({ problem, processes }) => `${target}: ${processes} processes cannot read it: ${problem}`,
  )
}
