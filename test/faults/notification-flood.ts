// The address of notifications under a flood of forged, malformed, oversized and replayed ones. No
// credit comes of it, nothing crashes, memory does not grow, and the provider's own notices are
// taken meanwhile as fast as on a calm day: calm and flood take turns, so that both meet the same
// machine.
import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'undici'
import type { OrderId } from '../../src/platform/ids.ts'
import { pack } from '../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../stages/served/payments.ts'
import type { Fault } from '../support/fault.ts'
import { hold, isWithin, percentile, sleep } from '../support/fault.ts'
import type { FloodAnswer, FloodTask } from './support/notification-flooder.ts'

/**
 * A quarter of what the cabinet takes at once, each sending as fast as it is answered. More would
 * measure this machine, which plays the attacker, the provider and the database as well.
 */
const CONNECTIONS = 8
/** The provider gives us ten seconds; this is what we give ourselves. */
const ANSWER_MS_MAX = 50
/** What a process may hold on to between two collections of its garbage. */
const GROWTH_MIB_MAX = 48
/** Fifty genuine notices a second would be four million purchases a day. */
const GENUINE_PAUSE_MS = 20

/** Niceness: some nine times the share of an ordinary process. */
const FAVOURED = -10
/** Purchases made together when payments are prepared. */
const AT_ONCE = 10

type Told = { readonly status: number; readonly ms: number }
type Turn = {
  readonly calm: readonly Told[]
  readonly flooded: readonly Told[]
  readonly residentMiB: number
}

export const fault: Fault = async ({ isFull, seed, say }) => {
  const size = isFull
    ? { flood: 100_000, turns: 10, calm: 100 }
    : { flood: 3_000, turns: 3, calm: 50 }
  favour(0)
  const stage = await createPaymentStage({ workers: 1 })
  await favourDatabase(stage)
  const flooder = await startFlooder()
  const provider = createProvider(stage)
  try {
    await provider.prepare(20)
    const replays = provider.bodies.slice(0, 10)
    await provider.tell(() => true)
    const victims = await Promise.all(Array.from({ length: 20 }, () => stage.bought()))
    const victimIds = await paymentIds(stage, victims)
    const turns: Turn[] = []
    const answers: Record<string, number> = {}
    let seconds = 0
    for (let i = 0; i < size.turns; i++) {
      await provider.prepare(size.calm * (isFull ? 5 : 3))
      const calm = await provider.tell((told) => told < size.calm)
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
      const flooded = await provider.tell(() => !state.isOver)
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

/** The provider itself, with payments that are true, telling of them at a steady pace. */
function createProvider(stage: PaymentStage) {
  const agent = new Agent({ connections: 64 })
  const bodies: string[] = []
  const state = { told: 0 }
  const url = new URL(stage.noticesUrl)

  async function one(body: string): Promise<Told> {
    const startedMs = performance.now()
    const response = await agent.request({
      origin: url.origin,
      path: url.pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '185.71.76.1' },
      body,
    })
    await response.body.dump()
    return { status: response.statusCode, ms: performance.now() - startedMs }
  }

  return {
    bodies,

    /** So many more orders that are paid, and not told of yet. */
    async prepare(count: number): Promise<void> {
      await stage.sim('modes', {}, 'DELETE')
      await stage.sim('modes', { mode: 'drop' })
      const make = async () => {
        const { id } = await stage.bought()
        const object = await stage.sim('pay', { orderId: id })
        bodies.push(JSON.stringify({ type: 'notification', event: 'payment.succeeded', object }))
      }
      for (let i = 0; i < count; i += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, make))
      }
    },

    /** Tells of one after the other, not waiting for answers, as long as it is to go on. */
    async tell(goesOn: (told: number) => boolean): Promise<Told[]> {
      const sent: Promise<Told>[] = []
      while (goesOn(sent.length) && state.told < bodies.length) {
        sent.push(one(bodies[state.told] ?? ''))
        state.told += 1
        await sleep(GENUINE_PAUSE_MS)
      }
      return Promise.all(sent)
    },

    close: () => agent.destroy(),
  }
}

/**
 * Milliseconds are measured here, and whoever else uses this machine must not be in them: this
 * process, those that it starts, and the database's that serve them go first. Only root may; for
 * others the machine should be quiet.
 */
function favour(pid: number): void {
  try {
    setPriority(pid, FAVOURED)
  } catch (error) {
    if (!/EACCES|EPERM|ESRCH/.test((error as NodeJS.ErrnoException).message)) throw error
  }
}

async function favourDatabase({ db }: PaymentStage): Promise<void> {
  const { rows } = await db.query(
    'select pid from pg_stat_activity where datname = current_database()',
  )
  for (const { pid } of rows as { pid: number }[]) favour(pid)
}

async function startFlooder() {
  const child: ChildProcess = fork(join(import.meta.dirname, 'support/notification-flooder.ts'))
  await new Promise((resolve) => child.once('message', resolve))
  // The attacker has machines of his own, and is not favoured.
  setPriority(child.pid ?? 0, 0)
  return {
    child,
    flood: (task: FloodTask) =>
      new Promise<FloodAnswer>((resolve, reject) => {
        child.once('message', (message) => resolve(message as FloodAnswer))
        child.once('exit', () => reject(new Error('the flooder ended')))
        child.send(task)
      }),
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
  hold(stage.cabinet.isAlive(), 'the cabinet is alive, in the process that it was')
  hold(
    stage.workers.every((one) => one.isAlive()),
    'and so is the worker',
  )
  const isDone = async () => {
    const { rows } = await stage.db.query(
      `select count(*)::int4 as n from entries where kind = 'purchase'`,
    )
    return (rows[0] as { n: number }).n === paid
  }
  await stage.until('every genuine payment is credited, and no other', isDone, 60_000)
  for (const { id } of victims) {
    hold((await stage.stateOf(id)) === 'pending', 'an order that nobody paid is not credited')
  }
  const sum = await stage.db.query(`select sum(available)::int8 as sum from books`)
  const expected = pack.credits * BigInt(paid)
  hold((sum.rows[0] as { sum: bigint }).sum === expected, 'the balances are what was paid for')
  const notices = await stage.countNotices()
  hold(notices <= paid * 2 + victims.length * 100, `few notices are kept (${notices})`)
  const findings = await stage.ledger.audit('all')
  hold(findings.length === 0, `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`)
  return { paid, noticesKept: notices, findings: findings.length }
}

function p99Of(told: readonly Told[]): number {
  return Math.round(
    percentile(
      told.map(({ ms }) => ms),
      0.99,
    ),
  )
}

/** Of the turns' own figures: a neighbour's burst in one of them is not ours. */
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
    toldToComeAgain: flooded.filter(({ status }) => status !== 200).length,
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
  const isTaken = [...statuses].every((status) => status === 200 || status === 503)
  hold(isTaken, `a genuine notice is taken, or told to come again (${[...statuses]})`)
  const { genuineFlooded, toldToComeAgain } = figures
  hold(toldToComeAgain <= genuineFlooded / 50, `few are told to come again (${toldToComeAgain})`)
  const wrong = Object.keys(answers).filter((name) => !EXPECTED.test(name))
  hold(wrong.length === 0, `each forgery gets its answer (${wrong})`)
  hold(figures.growthMiB <= GROWTH_MIB_MAX, `memory does not grow (${figures.residentMiB} MiB)`)
}

function judgeTimes(figures: ReturnType<typeof figuresOf>): void {
  const { calmP99MsOfTurns: calm, floodP99MsOfTurns: flood } = figures
  // On a machine where even a calm day is slow, twice of that will do.
  const isFast = flood < ANSWER_MS_MAX || isWithin(flood, calm, 2)
  hold(isFast, `p99 under the flood is below 50 ms (${flood}, calm ${calm})`)
}

/** Whoever sends too many strange ones is told so; in a crowd all are told to come again. */
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
