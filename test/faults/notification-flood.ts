// Floods the notification endpoint with forged, malformed, oversized and replayed notifications.
// They add no credit, no process crashes, memory does not grow, and genuine notifications are
// answered as fast as without the flood. Calm and flood alternate, so that other load on the
// machine affects both.
import { readFileSync } from 'node:fs'
import type { OrderId } from '../../src/platform/ids.ts'
import { pack } from '../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../stages/served/payments.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, isWithin, percentile } from '../support/drill.ts'
import {
  type Answered,
  createNotifier,
  prioritize,
  prioritizeDatabase,
  startFlooder,
} from './support/notifier.ts'

/**
 * A quarter of what the cabinet handles at once; each sends as fast as it is answered. More would
 * measure this machine, which also runs the attacker, the provider and the database.
 */
const CONNECTIONS = 8
/** The provider waits ten seconds; this is our own limit. */
const ANSWER_MS_MAX = 50
/** What the heap may gain between two garbage collections. */
const GROWTH_MIB_MAX = 48
/** Fifty genuine notices a second would be four million purchases a day. */
const GENUINE_PAUSE_MS = 20

type Turn = {
  readonly calm: readonly Answered[]
  readonly flooded: readonly Answered[]
  readonly residentMiB: number
}

export const drill: Drill = async ({ isFull, seed, say }) => {
  const size = isFull
    ? { flood: 100_000, turns: 10, calm: 100 }
    : { flood: 3_000, turns: 3, calm: 50 }
  prioritize(0)
  const stage = await createPaymentStage({ workers: 1 })
  await prioritizeDatabase(stage)
  const flooder = await startFlooder()
  const provider = createNotifier(stage, GENUINE_PAUSE_MS)
  try {
    await provider.prepare(20)
    const replays = provider.bodies.slice(0, 10)
    await provider.send(() => true)
    const victims = await Promise.all(Array.from({ length: 20 }, () => stage.bought()))
    const victimIds = await paymentIds(stage, victims)
    const turns: Turn[] = []
    const answers: Record<string, number> = {}
    let seconds = 0
    for (let i = 0; i < size.turns; i++) {
      await provider.prepare(size.calm * (isFull ? 5 : 3))
      const calm = await provider.send((sent) => sent < size.calm)
      const state = { isOver: false }
      const task = {
        url: stage.noticesUrl.replace(/\/yookassa$/, ''),
        count: Math.ceil(size.flood / size.turns),
        connections: CONNECTIONS,
        seed: seed + i,
        replays,
        victims: victimIds,
      }
      const flood = flooder.flood(task).finally(() => {
        state.isOver = true
      })
      const flooded = await provider.send(() => !state.isOver)
      const { answers: more, seconds: took } = await flood
      merge(answers, more)
      seconds += took
      const residentMiB = residentMiBOf(stage.cabinet.pid)
      turns.push({ calm, flooded, residentMiB })
      if (isFull) say(`${(i + 1) * task.count} sent, ${residentMiB} MiB resident`)
    }
    const checked = await check(stage, { paid: provider.bodies.length, victims })
    const figures = { ...figuresOf(turns, answers, seconds), ...checked }
    judge(turns, answers, figures)
    if (isFull) judgeTimes(figures)
    return figures
  } finally {
    flooder.child.kill('SIGKILL')
    await provider.close()
    await stage.end()
  }
}

async function paymentIds(stage: PaymentStage, orders: readonly { id: OrderId }[]) {
  const { rows } = await stage.db.query(
    'select provider_payment_id as id from orders where id = any($1)',
    [orders.map(({ id }) => id)],
  )
  return (rows as { id: string }[]).map(({ id }) => id)
}

function merge(sums: Record<string, number>, more: Record<string, number>): void {
  for (const [name, value] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + value
}

function residentMiBOf(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kib) / 1_024)
}

async function check(
  stage: PaymentStage,
  { paid, victims }: { paid: number; victims: readonly { id: OrderId }[] },
) {
  ensure(stage.cabinet.isAlive(), 'the cabinet process has not died')
  ensure(
    stage.workers.every((one) => one.isAlive()),
    'the worker process has not died',
  )
  const isDone = async () => {
    const { rows } = await stage.db.query(
      `select count(*)::int4 as n from entries where kind = 'purchase'`,
    )
    return (rows[0] as { n: number }).n === paid
  }
  await stage.until('exactly the genuine payments are credited', isDone, 60_000)
  for (const { id } of victims) {
    ensure((await stage.stateOf(id)) === 'pending', 'an unpaid order is not credited')
  }
  const sum = await stage.db.query(`select sum(available)::int8 as sum from books`)
  const expected = pack.credits * BigInt(paid)
  ensure((sum.rows[0] as { sum: bigint }).sum === expected, 'the balances equal the paid packs')
  const notices = await stage.countNotices()
  ensure(notices <= paid * 2 + victims.length * 100, `few notifications are stored (${notices})`)
  const findings = await stage.ledger.audit('all')
  ensure(findings.length === 0, `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`)
  return { paid, noticesKept: notices, findings: findings.length }
}

function p99Of(answers: readonly Answered[]): number {
  return Math.round(
    percentile(
      answers.map(({ ms }) => ms),
      0.99,
    ),
  )
}

/** The median of the turns' p99, so that other load during one turn does not count. */
function medianOf(turns: readonly Turn[], what: 'calm' | 'flooded'): number {
  return percentile(
    turns.map((turn) => p99Of(turn[what])),
    0.5,
  )
}

function figuresOf(turns: readonly Turn[], answers: Record<string, number>, seconds: number) {
  const sent = Object.values(answers).reduce((sum, one) => sum + one, 0)
  const residentMiB = turns.map((turn) => turn.residentMiB)
  const calm = turns.flatMap((turn) => turn.calm)
  const flooded = turns.flatMap((turn) => turn.flooded)
  return {
    sent,
    perSecond: Math.round(sent / seconds),
    genuineCalm: calm.length,
    genuineFlooded: flooded.length,
    askedToRetry: flooded.filter(({ status }) => status !== 200).length,
    calmP99Ms: p99Of(calm),
    floodP99Ms: p99Of(flooded),
    calmP99MsOfTurns: medianOf(turns, 'calm'),
    floodP99MsOfTurns: medianOf(turns, 'flooded'),
    residentMiB: residentMiB.join(' '),
    // The first turn warms the process up.
    growthMiB: Math.max(...residentMiB.slice(-2)) - (residentMiB[1] ?? 0),
    answers: Object.entries(answers)
      .toSorted()
      .map(([name, count]) => `${name}: ${count}`)
      .join(', '),
  }
}

function judge(
  turns: readonly Turn[],
  answers: Record<string, number>,
  figures: ReturnType<typeof figuresOf>,
): void {
  const statuses = new Set(turns.flatMap(({ flooded }) => flooded.map(({ status }) => status)))
  const isExpected = [...statuses].every((status) => status === 200 || status === 503)
  ensure(isExpected, `a genuine notification gets 200, or 503 to retry (${[...statuses]})`)
  const { genuineFlooded, askedToRetry } = figures
  ensure(askedToRetry <= genuineFlooded / 50, `at most 2 % of them get 503 (${askedToRetry})`)
  const wrong = Object.keys(answers).filter((name) => !EXPECTED.test(name))
  ensure(wrong.length === 0, `each kind of forgery gets an expected status (${wrong})`)
  ensure(figures.growthMiB <= GROWTH_MIB_MAX, `memory does not grow (${figures.residentMiB} MiB)`)
}

function judgeTimes(figures: ReturnType<typeof figuresOf>): void {
  const { calmP99MsOfTurns: calm, floodP99MsOfTurns: flood } = figures
  // On a machine that is slow even without the flood, twice the calm time is enough.
  const isFast = flood < ANSWER_MS_MAX || isWithin(flood, calm, 2)
  ensure(isFast, `p99 under the flood is below 50 ms (${flood}, calm ${calm})`)
}

/** 429: one sender sent too many for unknown payments. 503: too many at once; retry. */
const EXPECTED = new RegExp(
  [
    /^(?:forged|forged-known|replayed) (?:200|429|503)$/,
    /^malformed (?:400|429|503)$/,
    /^elsewhere 404$/,
    /^(?:oversized|ten-megabytes) (?:413|cut)$/,
  ]
    .map(({ source }) => source)
    .join('|'),
)
