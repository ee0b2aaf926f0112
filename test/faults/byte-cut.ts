// The upstream cuts its connection, by FIN and by RST, at every byte of every recording, headers
// included. The client gets message_stop only if the upstream sent it completely, and otherwise an
// error. A complete reply is charged once, with the right amount; a cut one is free. The upstream
// is a bare socket, because no HTTP server would send such bytes.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { holdIdOf } from '../../src/platform/ids.ts'
import { createTestGateway, type TestGateway } from '../stages/gateway.ts'
import type { Drill } from '../support/drill.ts'
import { ensure } from '../support/drill.ts'
import type { Cut, Sample, Way } from './support/cut-upstream.ts'
import { sampleOf, startCutUpstream, ways } from './support/cut-upstream.ts'
import { createReader, type Seen } from './support/stream-reader.ts'

const RECORDINGS = join(import.meta.dirname, '../recordings')
/** A prime, so that the short form does not always cut at the same offset of an event. */
const SHORT_STEP = 41
/** Enough to keep two cores busy: one runs this process, the other the database. */
const AT_ONCE = 128

export const drill: Drill = async ({ isFull, say }) => {
  const samples = await readSamples()
  const upstream = await startCutUpstream(samples)
  const gateway = await createTestGateway({ upstreamUrl: upstream.url })
  const reader = createReader(gateway.url, AT_ONCE)
  const figures = { cuts: 0, whole: 0, broken: 0, refused: 0 }
  const startedMs = performance.now()
  try {
    for (const sample of samples) {
      for (const way of ways) {
        const counted = await play({ gateway, reader, sample, way, step: isFull ? 1 : SHORT_STEP })
        figures.cuts += counted.cuts
        figures.whole += counted.whole
        figures.broken += counted.broken
        figures.refused += counted.refused
      }
      say(`${sample.name}: ${figures.cuts} cuts so far`)
    }
    ensure(figures.whole >= samples.length, 'complete replies arrive complete')
    const findings = await gateway.ledger.audit('all')
    ensure(
      findings.length === 0,
      `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`,
    )
    const seconds = Math.round((performance.now() - startedMs) / 1_000)
    return { recordings: samples.length, ...figures, seconds, findings: findings.length }
  } finally {
    reader.close()
    await gateway.end()
    await upstream.close()
  }
}

async function readSamples(): Promise<Sample[]> {
  const names = (await readdir(RECORDINGS)).filter((name) => name.endsWith('.sse')).sort()
  return Promise.all(
    names.map(async (file) => {
      const name = file.replace('.sse', '')
      const bytes = await readFile(join(RECORDINGS, file))
      const facts = JSON.parse(await readFile(join(RECORDINGS, `${name}.json`), 'utf8'))
      return sampleOf(name, bytes, facts.usage)
    }),
  )
}

type Stage = {
  readonly gateway: TestGateway
  readonly reader: ReturnType<typeof createReader>
  readonly sample: Sample
  readonly way: Way
  readonly step: number
}

/** Plays every cut of one recording in one way on its own account, then checks its ledger. */
async function play({ gateway, reader, sample, way, step }: Stage) {
  const { book, key } = await gateway.account(10n ** 9n)
  const { raw, wholeAt } = sample.sent[way]
  const offsets = Array.from({ length: Math.ceil(raw.length / step) }, (_, i) => i * step)
  offsets.push(raw.length)
  const seen = new Map<string, Seen & { offset: number }>()
  const work = offsets[Symbol.iterator]()
  const counted = { cuts: 0, whole: 0, broken: 0, refused: 0 }
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const offset of work) {
        const cut: Cut = { name: sample.name, way, offset }
        const one = await reader.ask(key, cut)
        judge(one, cut, sample, wholeAt)
        seen.set(one.requestId, { ...one, offset })
        counted.cuts += 1
        if (one.kind === 'whole') counted.whole += 1
        else if (one.kind === 'refused') counted.refused += 1
        else counted.broken += 1
      }
    }),
  )
  await compareLedger(gateway, await gateway.settled(book).then(() => book), seen, sample)
  return counted
}

function judge(one: Seen, { name, way, offset }: Cut, sample: Sample, wholeAt: number): void {
  const where = `${name}, ${way} at byte ${offset}`
  ensure(one.kind !== 'silent', `an incomplete reply ends with an error (${where})`)
  if (offset < wholeAt) ensure(one.kind !== 'whole', `a cut reply has no message_stop (${where})`)
  // A RST may discard bytes that were sent before it.
  else if (way !== 'reset')
    ensure(one.kind === 'whole', `a complete reply arrives (${where}: ${one.kind})`)
  ensure(
    sample.text.startsWith(one.passed) || sample.text.startsWith(one.passed.replace(/\n\n$/, '')),
    `the client gets the bytes that the upstream sent (${where})`,
  )
  if (one.kind === 'whole')
    ensure(one.passed === sample.text, `a complete reply has every byte (${where})`)
}

async function compareLedger(
  { database, ledger }: TestGateway,
  book: bigint,
  seen: ReadonlyMap<string, Seen & { offset: number }>,
  sample: Sample,
): Promise<void> {
  const { rows } = await database.db.query(
    `select hold_id, kind, ending, -amount as charged, estimated
     from entries where book_id = $1 and kind in ('charge', 'void')`,
    [book],
  )
  const entries = new Map(
    (rows as { hold_id: string; kind: string; charged: bigint; estimated: boolean }[]).map(
      (row) => [row.hold_id, row],
    ),
  )
  ensure(rows.length === seen.size, `every request has one entry (${rows.length} of ${seen.size})`)
  for (const [requestId, { kind, offset }] of seen) {
    const entry = entries.get(holdIdOf(requestId) ?? '')
    const where = `${sample.name} at byte ${offset}`
    ensure(entry !== undefined, `every request is in the ledger (${where})`)
    ensure(
      (entry.kind === 'charge') === (kind === 'whole'),
      `a complete reply is charged, a cut one is free (${where})`,
    )
    if (kind !== 'whole') continue
    const charged = BigInt(entry.charged)
    ensure(charged === sample.charge, `the charge is right (${where}: ${charged})`)
    ensure(!entry.estimated, `the charge of a complete reply is not estimated (${where})`)
  }
  const after = await ledger.balance(book as Parameters<typeof ledger.balance>[0])
  ensure(after?.held === 0n, `no credits stay held (${sample.name})`)
}
