// Hundreds of purchases at once while everything fails: a third of the calls to the provider fail,
// its notifications are lost, late, doubled, reordered, broken and forged, workers are killed, and
// the database is killed and restarted. Every payment is credited once, to the microcredit. Before
// the storm (in an empty shop that was swept already) and after it, every notification is lost: the
// sweep alone credits 99 of 100 payments within 30 seconds.
import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BookId, OrderId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import { kopecks } from '../../src/units/kopecks.ts'
import { type Postgres, startPostgres } from '../../tools/postgres.ts'
import { pack } from '../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../stages/served/payments.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, percentile, random, sleep } from '../support/drill.ts'

type Size = {
  readonly orders: number
  readonly kills: number
  readonly restarts: number
  /** Purchases start at random moments within this time. */
  readonly spreadMs: number
  /** Orders without a notification: the first of the shop, and those after the storm. */
  readonly firstOrders: number
  readonly lateOrders: number
  readonly sweepSeconds: number
  readonly settleMs: number
}

const FULL: Size = {
  orders: 500,
  kills: 20,
  restarts: 2,
  spreadMs: 60_000,
  firstOrders: 50,
  lateOrders: 200,
  // The default of payments.sweepSeconds.
  sweepSeconds: 15,
  settleMs: 300_000,
}
const SHORT: Size = {
  orders: 40,
  kills: 3,
  restarts: 1,
  spreadMs: 5_000,
  firstOrders: 5,
  lateOrders: 20,
  sweepSeconds: 5,
  settleMs: 120_000,
}
const DELAY_SECONDS_MAX = 30

/** Together a third of all calls. */
const API_FAULTS = [
  { kind: 'error', when: 'after', probability: 0.06 },
  { kind: 'error', when: 'before', probability: 0.05 },
  { kind: 'reset', when: 'after', probability: 0.05 },
  { kind: 'reset', when: 'before', probability: 0.03 },
  { kind: 'too-many-requests', retryAfterMs: 300, probability: 0.03 },
  { kind: 'processing', probability: 0.02 },
  { kind: 'html', probability: 0.03 },
  { kind: 'truncated', probability: 0.03 },
  { kind: 'slow', delayMs: 700, probability: 0.04 },
  { kind: 'hang', probability: 0.01 },
]

const NOTICE_MODES = [
  { mode: 'normal' },
  { mode: 'drop' },
  { mode: 'delay', delayMs: 3_000 },
  { mode: 'duplicate', copies: 8 },
  { mode: 'reorder', extra: 'canceled', place: 'before' },
  { mode: 'reorder', extra: 'canceled', place: 'after' },
  { mode: 'stale' },
  { mode: 'corrupt' },
  { mode: 'unknown-event' },
  { mode: 'other-shop' },
]

export const drill: Drill = async ({ isFull, seed, say }) => {
  const size = isFull ? FULL : SHORT
  const dataDirectory = join(tmpdir(), `tollgate-storm-${process.pid}`)
  mkdirSync(dataDirectory, { recursive: true })
  const version = 'system'
  const database: { postgres: Postgres } = {
    postgres: await startPostgres({ version, dataDirectory }),
  }
  const { port, url } = database.postgres
  const stage = await createPaymentStage({
    workers: 2,
    serverUrl: url,
    yookassa: { postTimeoutMs: 2_000, getTimeoutMs: 2_000 },
    env: {
      PAYMENTS_SWEEP_SECONDS: String(size.sweepSeconds),
      YOOKASSA_CALLS_PER_SECOND: '5',
      // Short, so that a call that hangs does not make the storm longer.
      YOOKASSA_POST_TIMEOUT_MS: '2000',
      YOOKASSA_GET_TIMEOUT_MS: '2000',
    },
  })
  try {
    const restart = async () => {
      database.postgres.kill('SIGKILL')
      await database.postgres.stop()
      database.postgres = await startPostgres({ version, dataDirectory, port })
    }
    await untilSwept(stage, size, say)
    const first = await withoutNotices(stage, size.firstOrders, 0, say)
    await stage.sim('modes', {}, 'DELETE')
    const stormed = await storm(stage, size, seed, first.orders, restart, say)
    // Spread over two sweep intervals, so that payments fall at every moment between two sweeps.
    const late = await withoutNotices(stage, size.lateOrders, size.sweepSeconds * 2_000, say)
    return {
      firstWithoutNotices: first.orders.length,
      firstDelaySecondsMax: first.delaySecondsMax,
      ...stormed,
      withoutNotices: late.orders.length,
      sweepSeconds: size.sweepSeconds,
      delaySecondsMedian: late.delaySecondsMedian,
      delaySecondsP99: late.delaySecondsP99,
      delaySecondsMax: late.delaySecondsMax,
    }
  } finally {
    await stage.end()
    await database.postgres.stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
}

/** Waits until a sweep has read an empty list of payments, as in a new shop. */
async function untilSwept(stage: PaymentStage, size: Size, say: (text: string) => void) {
  const isSwept = async () => {
    const { rows } = await stage.db.query('select from payment_sweeps where swept_at is not null')
    return rows.length > 0
  }
  await stage.until('the empty shop is swept', isSwept, size.sweepSeconds * 1_000 + 30_000)
  say('the empty shop was swept')
}

async function storm(
  stage: PaymentStage,
  size: Size,
  seed: number,
  before: readonly OrderId[],
  restart: () => Promise<void>,
  say: (text: string) => void,
) {
  const startedMs = performance.now()
  const draw = random(seed)
  const books: BookId[] = []
  for (let i = 0; i < size.orders; i++) books.push(await stage.newBook())
  await stage.sim('faults', {
    list: API_FAULTS.map((rule, i) => ({ ...rule, seed: seed + i, times: null })),
  })
  const customers = books.map((book, i) =>
    customer(stage, { book, number: i, draw: random(seed + 1_000 + i), spreadMs: size.spreadMs }),
  )
  const kills = killWorkers(stage, size, draw, restart)
  const bought = await Promise.all(customers)
  await kills
  say(`${size.orders} customers have paid, ${size.kills} workers were killed`)
  const settled = async () => {
    const open = await countOrders(stage, `state <> 'credited'`)
    return open === 0
  }
  await stage.until('every order is credited', settled, size.settleMs)
  const seconds = Math.round((performance.now() - startedMs) / 1_000)
  const calls = await callsOf(stage)
  await stage.sim('faults', {}, 'DELETE')
  const figures = await checkBooks(stage, [...before, ...bought])
  const delays = await delaysOf(stage, bought)
  return {
    orders: size.orders,
    kills: size.kills,
    databaseRestarts: size.restarts,
    stormSeconds: seconds,
    ...calls,
    ...figures,
    stormDelaySecondsMedian: tenths(percentile(delays, 0.5)),
    stormDelaySecondsMax: tenths(Math.max(...delays)),
  }
}

/** Buys, waits until the order can be paid, and pays. Retries buying and waiting. */
async function customer(
  stage: PaymentStage,
  who: {
    readonly book: BookId
    readonly number: number
    readonly draw: () => number
    readonly spreadMs: number
  },
): Promise<OrderId> {
  const { book, draw } = who
  await sleep(draw() * who.spreadMs)
  const ask = { attempt: `storm ${who.number}`, email: `payer-${who.number}@example.org` }
  const { id } = await retry('buys', () => stage.buy(book, ask))
  await retry('sees where to pay', async () => {
    const { state } = await stage.payments.order(id, book)
    ensure(state === 'pending' || state === 'created', `an unpaid order is open (${state})`)
    if (state === 'created') throw new Error('the provider has not answered yet')
  })
  const mode = NOTICE_MODES[Math.floor(draw() * NOTICE_MODES.length)]
  await stage.sim('modes', { ...mode, orderId: id, times: 1 })
  if (draw() < 0.1) await stage.sim('forge', { orderId: id, source: '203.0.113.7' })
  if (draw() < 0.1) await stage.sim('decline', { orderId: id, isFinal: false })
  await sleep(draw() * 2_000)
  await stage.sim('pay', { orderId: id })
  // Three in ten return to the shop once; the others close the window, which must be safe.
  if (draw() < 0.3) await stage.payments.check(id).catch(() => undefined)
  return id
}

/** Retries every 300 ms, for at most three minutes. */
async function retry<T>(what: string, act: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 180_000
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (performance.now() > deadline)
        throw new Error(`a customer never ${what}`, { cause: error })
      await sleep(300)
    }
  }
}

/** Kills one worker after the other while it works, and restarts the database in between. */
async function killWorkers(
  stage: PaymentStage,
  size: Size,
  draw: () => number,
  restart: () => Promise<void>,
): Promise<void> {
  const restartAfter = Array.from({ length: size.restarts }, (_, i) =>
    Math.ceil(((i + 1) * size.kills) / (size.restarts + 1)),
  )
  for (let kill = 1; kill <= size.kills; kill++) {
    await sleep(300 + draw() * 1_000)
    const one = Math.floor(draw() * stage.workers.length)
    ensure(
      stage.workers.every((worker) => worker.isAlive()),
      'no worker exits by itself',
    )
    await stage.workers[one]?.kill()
    stage.workers[one] = await stage.startWorker()
    if (restartAfter.includes(kill)) await restart()
  }
}

async function countOrders(stage: PaymentStage, where: string): Promise<number> {
  const { rows } = await stage.db.query(`select count(*)::int4 as n from orders where ${where}`)
  return (rows[0] as { n: number }).n
}

async function callsOf(stage: PaymentStage) {
  const { calls } = await stage.sim('calls?last=50000', {}, 'GET')
  const all = calls as { fault: string | null }[]
  const { deliveries } = await stage.sim('deliveries?last=100000', {}, 'GET')
  const sent = deliveries as { outcome: string }[]
  return {
    apiCalls: all.length,
    apiFaults: all.filter(({ fault }) => fault !== null).length,
    notices: sent.length,
    noticesLost: sent.filter(({ outcome }) => outcome !== 'accepted').length,
  }
}

/** Each order has exactly one entry, with the credits of its pack; no book has anything else. */
async function checkBooks(stage: PaymentStage, orders: readonly OrderId[]) {
  const { rows } = await stage.db.query(
    `select count(*)::int4 as entries, count(distinct ref)::int4 as orders,
       sum(amount)::int8 as sum, min(amount) as least, max(amount) as most
     from entries where kind = 'purchase'`,
  )
  const seen = rows[0] as Record<'entries' | 'orders', number> &
    Record<'sum' | 'least' | 'most', bigint>
  const expected = credits(35_000_000) * BigInt(orders.length)
  ensure(
    seen.entries === orders.length,
    `there are ${orders.length} purchase entries (${seen.entries})`,
  )
  ensure(seen.orders === orders.length, `each order has one entry (${seen.orders})`)
  ensure(seen.sum === expected, `the sum of the entries is right to the microcredit (${seen.sum})`)
  ensure(
    seen.least === pack.credits && seen.most === pack.credits,
    'each entry has the credits of the pack',
  )
  const books = await stage.db.query(
    `select sum(available)::int8 as available, sum(held + debt)::int8 as rest from books`,
  )
  const { available, rest } = books.rows[0] as { available: bigint; rest: bigint }
  ensure(
    available === expected && rest === 0n,
    `the balances equal the sum of the entries (${available})`,
  )
  const { payments } = await stage.sim('payments?last=100000', {}, 'GET')
  const paid = (payments as { status: string; metadata: { order_id: string } }[]).map(
    ({ metadata }) => metadata.order_id,
  )
  ensure(paid.length === orders.length, `no order was paid twice (${paid.length} payments)`)
  const letters = await stage.letters()
  const credited = letters.filter((kind) => kind === 'payment-credited').length
  ensure(credited === orders.length, `each order has one e-mail (${credited})`)
  const reviews = await stage.payments.reviewQueue()
  ensure(reviews.length === 0, `no payment waits for review (${reviews[0]?.detail})`)
  const findings = await stage.ledger.audit('all')
  ensure(findings.length === 0, `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`)
  const triggers = await stage.db.query(
    'select credited_by as by, count(*)::int4 as n from orders group by 1 order by 1',
  )
  return {
    entries: seen.entries,
    sumMicrocredits: seen.sum,
    findings: findings.length,
    creditedBy: (triggers.rows as { by: string; n: number }[])
      .map(({ by, n }) => `${by} ${n}`)
      .join(', '),
  }
}

async function delaysOf(stage: PaymentStage, orders: readonly OrderId[]): Promise<number[]> {
  const { rows } = await stage.db.query(
    `select extract(epoch from credited_at - captured_at)::float8 as seconds
     from orders where id = any($1)`,
    [orders],
  )
  return (rows as { seconds: number }[]).map(({ seconds }) => seconds)
}

/** Drops every notification, so that only the sweep credits; measures how long it takes. */
async function withoutNotices(
  stage: PaymentStage,
  count: number,
  spreadMs: number,
  say: (text: string) => void,
) {
  await stage.sim('modes', {}, 'DELETE')
  await stage.sim('modes', { mode: 'drop' })
  const orders: OrderId[] = []
  const price = { ...pack, priceKopecks: kopecks(99_900) }
  for (let i = 0; i < count; i++) {
    const { id } = await stage.bought({ pack: price })
    await stage.sim('pay', { orderId: id })
    orders.push(id)
    await sleep(spreadMs / count)
  }
  const isDone = async () => (await countOrders(stage, `state <> 'credited'`)) === 0
  await stage.until('every order is credited by the sweep', isDone, 60_000)
  const delays = await delaysOf(stage, orders)
  const p99 = percentile(delays, 0.99)
  say(`without notifications: p99 from capture to entry ${tenths(p99)} s`)
  ensure(p99 <= DELAY_SECONDS_MAX, `p99 is at most ${DELAY_SECONDS_MAX} s (${tenths(p99)})`)
  const findings = await stage.ledger.audit('all')
  ensure(findings.length === 0, `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`)
  const others = await countOrders(stage, `credited_by <> 'sweep' and price_kopecks = 99900`)
  ensure(others === 0, `the sweep credited all of them (${others} were credited otherwise)`)
  return {
    orders,
    delaySecondsMedian: tenths(percentile(delays, 0.5)),
    delaySecondsP99: tenths(p99),
    delaySecondsMax: tenths(Math.max(...delays)),
  }
}

function tenths(seconds: number): number {
  return Math.round(seconds * 10) / 10
}
