// Clients that leave at every kind of byte, close only their sending side, never read, or read so
// slowly that the upstream gives up. Each is charged by the published table, and its entry and its
// line of the request log say who ended it. A client that reads, and whose upstream fails, pays
// nothing. Time is turned by hand; with --full the minute of a client that never reads is real.
import { systemClock } from '../../../src/platform/clock.ts'
import { type HoldId, requestIdOf } from '../../../src/platform/ids.ts'
import { type Account, createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, PromiseBroken, sleep } from '../../support/drill.ts'
import { startRawUpstream } from '../../support/raw-upstream.ts'
import { type Leave, leavesOf, readLeaveSamples } from './leaves.ts'
import { openReader, type Reader } from './readers.ts'
import { createScripts } from './scripts.ts'

const AT_ONCE = 128
/** A prime, so that the offsets do not always hit the same place of a record. */
const STEP = { short: Number.POSITIVE_INFINITY, full: 13 }
const UNREAD_MS = 61_000

type Stage = {
  readonly gateway: TestGateway
  readonly account: Account
  readonly scripts: ReturnType<typeof createScripts>
  /** Lines of the request log, by request. */
  readonly log: ReadonlyMap<string, string>
  passMs(ms: number): Promise<void>
}

export const drill: Drill = async ({ isFull, say }) => {
  const turned = { ms: 0 }
  const clock = { ...systemClock, spanMs: () => systemClock.spanMs() + turned.ms }
  const scripts = createScripts()
  const upstream = await startRawUpstream(scripts.serve)
  const log = new Map<string, string>()
  const logLines = { push: (line: string) => noteEnding(log, line) } as unknown as string[]
  const gateway = await createTestGateway({ upstreamUrl: upstream.url, clock, logLines })
  const account = await gateway.account(10n ** 12n)
  const passMs = async (ms: number) => {
    if (isFull) await sleep(ms)
    else turned.ms += ms
  }
  const stage: Stage = { gateway, account, scripts, log, passMs }
  try {
    const readers = await playReaders(stage, isFull ? 16 : 4)
    say(`readers: ${JSON.stringify(readers)}`)
    const classes = await playLeaves(stage, isFull)
    say(`left at: ${JSON.stringify(classes)}`)
    const findings = await gateway.ledger.audit('all')
    ensure(findings.length === 0, `every book adds up (${findings.length} findings)`)
    const left = Object.values(classes).reduce((sum, count) => sum + count, 0)
    return { ...readers, left, places: Object.keys(classes).length }
  } finally {
    await gateway.end()
    await upstream.close()
  }
}

/** How each kind of reader ends, and whether it pays. */
const readerEndings = {
  'never reads': 'client_slow',
  'reads in small steps': 'client_slow',
  'closes its sending side': 'client_left',
  leaves: 'client_left',
  'reads, and the upstream breaks': 'upstream_failed',
} as const
type ReaderKind = keyof typeof readerEndings

async function playReaders(stage: Stage, each: number): Promise<Record<string, number>> {
  const kinds = Object.keys(readerEndings) as ReaderKind[]
  const all = await Promise.all(
    kinds.flatMap((kind) =>
      Array.from({ length: each }, async (_, i) => {
        const label = `${kind.replaceAll(/\W+/g, '-')}-${i}`
        const pour = stage.scripts.pour(label)
        const reader = openReader(stage.gateway.port, stage.account.key, label)
        await pour.begun
        if (kind === 'never reads' || kind === 'reads in small steps') await pour.stands()
        else reader.read()
        return { kind, label, reader, pour }
      }),
    ),
  )
  for (const { kind, reader, pour } of all) {
    if (kind === 'closes its sending side') reader.closeSendingSide()
    else if (kind === 'leaves') reader.leave()
    else if (kind !== 'never reads') pour.giveUp()
  }
  // Those that read are over before the time is turned: it would make them slow.
  const quick = all.filter(({ kind }) => kind === 'reads, and the upstream breaks')
  for (const { label } of quick) await entryOf(stage, label)
  await stage.passMs(15_000)
  const stepping = all.filter(({ kind }) => kind === 'reads in small steps')
  await Promise.all(stepping.map(({ reader }) => readInSteps(reader)))
  await stage.passMs(UNREAD_MS)
  const counted: Record<string, number> = {}
  for (const { kind, label, reader } of all) {
    const ending = readerEndings[kind]
    const { amount } = await judge(stage, label, [ending])
    ensure(amount < 0n === (ending !== 'upstream_failed'), `who ends it pays (${kind}: ${amount})`)
    counted[kind] = (counted[kind] ?? 0) + 1
    reader.leave()
  }
  return counted
}

async function readInSteps(reader: Reader): Promise<void> {
  for (let i = 0; i < 500 && !reader.isClosed(); i++) {
    reader.read()
    await sleep(2)
    reader.pause()
    await sleep(20)
  }
}

type Entry = {
  readonly hold: HoldId
  readonly ending: string
  readonly amount: bigint
  readonly isEstimated: boolean | null
  readonly ms: number | null
}

/** Waits for the entry of the request with this label. */
async function entryOf({ gateway }: Stage, label: string): Promise<Entry> {
  for (let i = 0; i < 3_000; i++) {
    const { rows } = await gateway.database.db.query(
      `select hold_id as hold, ending::text as ending, amount, estimated as "isEstimated",
         total_ms as ms from entries where label = $1`,
      [label],
    )
    const entry = rows[0] as Entry | undefined
    if (entry !== undefined) return { ...entry, amount: BigInt(entry.amount) }
    await sleep(20)
  }
  throw new PromiseBroken(`every request has an entry (${label})`)
}

/** The entry of a request, which the log agrees with. */
async function judge(stage: Stage, label: string, endings: readonly string[]): Promise<Entry> {
  const entry = await entryOf(stage, label)
  const { ending, ms } = entry
  ensure(endings.includes(ending), `the entry says ${endings.join(' or ')} (${label}: ${ending})`)
  ensure((ms ?? -1) >= 0, `the entry has its time (${label})`)
  const request = requestIdOf(entry.hold)
  for (let i = 0; i < 500 && !stage.log.has(request); i++) await sleep(10)
  const logged = stage.log.get(request)
  ensure(logged === ending, `the log says the same (${label}: ${logged})`)
  return entry
}

function noteEnding(log: Map<string, string>, line: string): void {
  const { msg, request, ending } = JSON.parse(line)
  if (msg === 'request') log.set(request, ending)
}

async function playLeaves(stage: Stage, isFull: boolean): Promise<Record<string, number>> {
  const step = isFull ? STEP.full : STEP.short
  const samples = await readLeaveSamples()
  const work = samples.flatMap((one) => leavesOf(one, step, isFull)).entries()
  const counted: Record<string, number> = {}
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [i, leave] of work) {
        await playLeave(stage, leave, `leave-${i}`)
        counted[leave.where] = (counted[leave.where] ?? 0) + 1
      }
    }),
  )
  return counted
}

async function playLeave(stage: Stage, leave: Leave, label: string): Promise<void> {
  const script = stage.scripts.send(label, leave.first, leave.rest)
  const reader = openReader(stage.gateway.port, stage.account.key, label)
  reader.read()
  await script.sent
  reader.leave()
  if (leave.rest.length > 0) {
    await sleep(100) // the gateway has seen that the client left
    script.goOn()
  }
  const endings = leave.isReported ? ['client_left', 'complete'] : [leave.ending]
  const { amount, isEstimated } = await judge(stage, label, endings)
  const what = `${leave.name} ${leave.where}, ${leave.first?.length} bytes`
  ensure(
    -amount >= leave.least && -amount <= leave.most,
    `it pays what was generated (${what}: ${-amount}, from ${leave.least} to ${leave.most})`,
  )
  const hasEstimate = leave.ending === 'client_left' && !leave.isReported
  ensure((isEstimated ?? false) === hasEstimate, `the entry says if it is estimated (${what})`)
}
