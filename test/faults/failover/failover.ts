// The cluster of deploy/patroni fails over under load. What was acknowledged to a client stays in
// the ledger, once; no stream breaks; no answer is a 401, 402 or 500; requests that arrive while
// there is no primary wait and succeed; gateways, worker and cabinet recover without a restart.
import type { Drill, Figures } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import { createTestLedger } from '../../support/harness.ts'
import { whyNot } from '../cluster/packages.ts'
import { createStage, type Stage } from '../cluster/stage.ts'
import { type Fault, MATRIX, SHORT } from './faults.ts'
import { type Load, type LoadSize, type Page, startLoad } from './load.ts'
import { compare, type Seen, writeGap } from './record.ts'
import { loseAcknowledged } from './twin.ts'

const SHORT_SIZE: LoadSize = { perSecond: 30, streams: 40 }
const FULL_SIZE: LoadSize = { perSecond: 100, streams: 200 }
const ROUNDS = 3
const CALM_MS = 4_000
/** A request is admitted again within this time, or the drill gives up. */
const ADMITTED_MS_MAX = 90_000
/** On two cores the requests of a gap of 20 s take about as long again. */
const BACKLOG_MS_MAX = 60_000
/** The disk of a node where one is filled: the database, its WAL, and more. */
const DISK_MEGABYTES = 1_500
const JOB_MS_MAX = 30_000

export const parts = [...MATRIX.map(({ name }) => name), 'twin']

export const drill: Drill = async ({ isFull, seed, only, times, say }) => {
  const reason = whyNot()
  ensure(reason === undefined, `the program can run here: ${reason}`)
  const isChosen = (part: string) => only?.includes(part) ?? true
  const faults = (only || isFull ? MATRIX : SHORT).filter(({ name }) => isChosen(name))
  const hasDisks = faults.some(({ name }) => name === 'disk')
  const stage = await createStage({ say, diskMegabytes: hasDisks ? DISK_MEGABYTES : undefined })
  const draw = random(seed)
  const load = startLoad(stage, isFull ? FULL_SIZE : SHORT_SIZE, draw)
  try {
    await sleep(CALM_MS)
    const gaps: Record<string, number[]> = {}
    const broken: string[] = []
    const scene: Scene = { stage, load, draw, say, isFull, broken }
    for (let round = 0; round < (times ?? (isFull ? ROUNDS : 1)); round++) {
      for (const fault of faults) {
        const gapMs = await playFault(scene, fault)
        gaps[fault.name] = [...(gaps[fault.name] ?? []), gapMs]
      }
    }
    await untilCalm(scene)
    await recover(stage)
    await load.stop()
    const checked = await closingCheck(stage, load)
    say(`compared ${checked.acknowledged} acknowledged requests with the ledger: none is lost`)
    ensure(broken.length === 0, broken.join('\n'))
    const figures: Record<string, number | string> = { patroni: stage.cluster.patroniVersion }
    for (const [name, list] of Object.entries(gaps)) figures[`${name} ms`] = list.join(' ')
    if (isChosen('twin')) {
      const twinLost = await loseAcknowledged(stage, SHORT_SIZE, draw, load.seen.size)
      say(`with asynchronous replication ${twinLost} are lost, and the comparison finds them`)
      figures.twinLost = twinLost
    }
    return { ...checked, ...figures }
  } finally {
    await load.stop().catch(() => undefined)
    await stage.end()
  }
}

type Scene = {
  readonly stage: Stage
  readonly load: Load
  readonly draw: () => number
  readonly say: (text: string) => void
  readonly isFull: boolean
  /** Broken promises: the other faults are played nevertheless. */
  readonly broken: string[]
}

/** Plays one fault, waits until the cluster is whole again, and returns the write gap. */
async function playFault(scene: Scene, { title, gapMsMax, play }: Fault): Promise<number> {
  const { stage, load, say } = scene
  await untilCalm(scene)
  const streams = load.openStreams()
  const sinceMs = performance.now()
  const mend = await play(stage.cluster, scene.draw)
  // Without a limit nothing needs to be admitted before the fault ends.
  if (gapMsMax === undefined) await mend()
  await untilAdmitted(load)
  if (gapMsMax !== undefined) await mend()
  await sleep(CALM_MS)
  await stage.cluster.untilWhole()
  const gap = writeGap(load.seen.values(), sinceMs)
  const arrived = [...load.seen.values()].filter(
    (one) => one.askedMs > gap.fromMs && one.askedMs < gap.toMs,
  )
  const failed = failuresOf(load, sinceMs)
  say(
    `${title}: no request admitted for ${gap.ms} ms, ${arrived.length} arrived meanwhile, ` +
      `${streams} streams were open, ${failed.length} answers failed ${describe(failed)}`,
  )
  if (gapMsMax === undefined) return gap.ms
  if (failed.length > 0) scene.broken.push(`${title}: not every request succeeds`)
  if (scene.isFull && gap.ms > gapMsMax) {
    scene.broken.push(`${title}: the gap of ${gap.ms} ms is longer than ${gapMsMax} ms`)
  }
  return gap.ms
}

/** The replies of a backlog arrive in the next gap and would hide it. */
async function untilCalm({ load, say }: Scene): Promise<void> {
  const deadline = performance.now() + BACKLOG_MS_MAX
  while (!load.isCalm() && performance.now() < deadline) await sleep(50)
  if (!load.isCalm()) say('requests of the last gap still wait, so the next gap seems shorter')
}

/** Waits until a request that is sent from now on is admitted. */
async function untilAdmitted({ seen }: Load): Promise<void> {
  const sinceMs = performance.now()
  const isAdmitted = () =>
    [...seen.values()].some((one) => one.askedMs > sinceMs && one.headMs !== undefined)
  while (!isAdmitted()) {
    ensure(performance.now() - sinceMs < ADMITTED_MS_MAX, 'requests are admitted again')
    await sleep(50)
  }
}

function failuresOf({ seen }: Load, sinceMs: number): Seen[] {
  return [...seen.values()].filter(
    ({ answer, endedMs = 0 }) => answer !== undefined && !answer.isWhole && endedMs > sinceMs,
  )
}

/** Each kind of failure once, with the time after which the first of them came. */
function describe(broken: readonly Seen[]): string {
  const kinds = new Map<string, { count: number; ms: number }>()
  for (const { answer, askedMs, endedMs = askedMs } of broken) {
    const kind = `${answer?.error} ${answer?.sentence ?? ''}`
    const { count, ms } = kinds.get(kind) ?? { count: 0, ms: Math.round(endedMs - askedMs) }
    kinds.set(kind, { count: count + 1, ms })
  }
  return [...kinds].map(([kind, { count, ms }]) => `${count} after ${ms} ms: ${kind}`).join('; ')
}

/** Worker and cabinet do their work again: a job runs, and a purchase is credited. */
async function recover({ database: { db }, owner }: Stage): Promise<void> {
  const { rows } = await db.query(`select id from graphile_worker.add_job('usage')`)
  const { id } = rows[0] as { id: bigint }
  const deadline = performance.now() + JOB_MS_MAX
  const waits = async () =>
    (await db.query('select from graphile_worker.jobs where id = $1', [id])).rows.length > 0
  while (await waits()) {
    ensure(performance.now() < deadline, 'the worker runs a job after the faults')
    await sleep(50)
  }
  await owner.buy('after')
}

async function closingCheck(stage: Stage, load: Load): Promise<Figures> {
  const all = [...load.seen.values()]
  const statuses = new Map<number, number>()
  for (const { answer } of all) {
    const status = answer?.status ?? 0
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  for (const status of [401, 402, 500]) {
    ensure(!statuses.has(status), `no answer is a ${status} (${statuses.get(status)} are)`)
  }
  const streams = all.filter((one) => one.isLong)
  const cut = streams.filter((one) => one.headMs !== undefined && !one.answer?.isWhole)
  ensure(cut.length === 0, `no stream breaks: ${describe(cut)}`)
  checkPages(load.pages)
  for (const program of stage.programs) {
    ensure(program.isAlive(), `no program has died: ${program.complaints().slice(-3).join('\n')}`)
  }
  const found = await compare(load.seen, stage.database)
  const { lost, doubled, foreign } = found
  ensure(lost.length === 0, `nothing acknowledged is lost (${lost.length}: ${lost.slice(0, 5)})`)
  ensure(doubled.length === 0, `nothing is charged twice (${doubled.length} are)`)
  ensure(foreign.length === 0, `each charge is of its request (${foreign.length} are not)`)
  ensure(found.openHolds === 0, `every hold ends (${found.openHolds} are open)`)
  await audit(stage)
  return {
    requests: all.length,
    acknowledged: found.acknowledged,
    lost: lost.length,
    doubled: doubled.length,
    streams: streams.length,
    brokenStreams: cut.length,
    pages: load.pages.length,
    ...Object.fromEntries([...statuses].map(([status, count]) => [`status ${status}`, count])),
  }
}

/** The cabinet answers, or asks to try again later. */
function checkPages(pages: readonly Page[]): void {
  const bad = pages.filter(({ status }) => status !== 200 && status !== 503)
  const [first] = bad
  const shown = `${first?.status} ${first?.route} ${first?.body}`
  ensure(bad.length === 0, `the cabinet answers 200 or 503: ${bad.length} did not, ${shown}`)
}

async function audit({ database }: Stage): Promise<void> {
  const ledger = await createTestLedger(database.url)
  try {
    const findings = await ledger.audit('all')
    ensure(findings.length === 0, `the audit is empty: ${findings[0]?.rule} ${findings[0]?.detail}`)
  } finally {
    await ledger.end()
  }
}
