// Every notification is lost from the first order of an empty shop on, so only the sweep credits.
// Calm: p99 is at most 30 s from the capture. A third of the provider's calls failing and workers
// killed: none is lost, none is doubled, p99 at most 90 s. The watermark forged ahead: an alarm,
// and the payment that it hides is credited, within two minutes. Only --full has time limits.
import type { OrderId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import { createPaymentStage, type PaymentStage } from '../stages/served/payments.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, percentile, random, sleep } from '../support/drill.ts'

type Size = {
  readonly orders: number
  readonly kills: number
  readonly workers: number
  /** Purchases start at random moments within this time. */
  readonly spreadMs: number
  readonly sweepSeconds: number
  readonly settleMs: number
}

// The sweep's interval is the default of payments.sweepSeconds.
const FULL: Size = {
  ...{ orders: 500, kills: 20, workers: 2, spreadMs: 120_000 },
  ...{ sweepSeconds: 15, settleMs: 300_000 },
}
// A killed worker keeps its lease for 25 s, which is too long for the short form.
const SHORT: Size = {
  ...{ orders: 20, kills: 0, workers: 1, spreadMs: 500 },
  ...{ sweepSeconds: 1, settleMs: 60_000 },
}
const CALM_SECONDS_MAX = 30
const STORM_SECONDS_MAX = 90
const ALARM_SECONDS_MAX = 120
/** Longer than the sweep's overlap of three minutes, shorter than the pause that makes it wide. */
const HIDDEN_SECONDS = 300

/** Together a third of all calls. */
const API_FAULTS = [
  { kind: 'error', when: 'after', probability: 0.07 },
  { kind: 'error', when: 'before', probability: 0.07 },
  { kind: 'reset', when: 'after', probability: 0.05 },
  { kind: 'reset', when: 'before', probability: 0.05 },
  { kind: 'html', probability: 0.04 },
  { kind: 'truncated', probability: 0.04 },
  { kind: 'hang', probability: 0.02 },
]

export const drill: Drill = async ({ isFull, seed, say }) => {
  const size = isFull ? FULL : SHORT
  const stage = await openStage(size)
  let calm: Awaited<ReturnType<typeof runCalm>>
  let forged: Awaited<ReturnType<typeof forge>>
  let storm: Awaited<ReturnType<typeof runStorm>> | undefined
  try {
    calm = await runCalm(stage, size, seed)
    say(`calm: ${calm.orders} credits, p99 ${calm.p99} s after the capture`)
    if (isFull) ensure(calm.p99 <= CALM_SECONDS_MAX, `p99 ≤ ${CALM_SECONDS_MAX} s (${calm.p99})`)
    if (!isFull) storm = await runStorm(stage, size, seed)
    forged = await forge(stage, isFull)
    say(`the forged watermark: alarm after ${forged.alarm} s, healed after ${forged.healed} s`)
  } finally {
    await stage.end()
  }
  if (storm === undefined) {
    const other = await openStage(size)
    storm = await runStorm(other, size, seed).finally(() => other.end())
  }
  say(`storm: ${storm.orders} credits, p99 ${storm.p99} s after the capture`)
  if (isFull) ensure(storm.p99 <= STORM_SECONDS_MAX, `p99 ≤ ${STORM_SECONDS_MAX} s (${storm.p99})`)
  return {
    orders: calm.orders,
    ...{ calmSecondsMedian: calm.median, calmSecondsP99: calm.p99, calmSecondsMax: calm.max },
    ...{ stormOrders: storm.orders, kills: size.kills, apiCalls: storm.calls },
    ...{ apiFaults: storm.faults, stormSecondsMedian: storm.median },
    ...{ stormSecondsP99: storm.p99, stormSecondsMax: storm.max },
    ...{ alarmSeconds: forged.alarm, healedSeconds: forged.healed },
  }
}

/** A shop that was swept while it was empty, and whose notifications are all lost. */
async function openStage(size: Size): Promise<PaymentStage> {
  const stage = await createPaymentStage({
    workers: size.workers,
    yookassa: { postTimeoutMs: 2_000, getTimeoutMs: 2_000 },
    env: {
      PAYMENTS_SWEEP_SECONDS: String(size.sweepSeconds),
      YOOKASSA_CALLS_PER_SECOND: '5',
      // Short, so that a call that hangs does not make the storm longer.
      YOOKASSA_POST_TIMEOUT_MS: '2000',
      YOOKASSA_GET_TIMEOUT_MS: '2000',
    },
  })
  await stage.sim('modes', { mode: 'drop' })
  const isSwept = () => rowsOf(stage, 'payment_sweeps where swept_at is not null')
  await stage.until('the empty shop is swept', async () => (await isSwept()) > 0, 60_000)
  return stage
}

async function runCalm(stage: PaymentStage, size: Size, seed: number) {
  const orders = await buyAll(stage, size, seed)
  await untilCredited(stage, size)
  await checkCredits(stage, orders)
  const others = await rowsOf(stage, `orders where credited_by <> 'sweep'`)
  ensure(others === 0, `the sweep credited all of them (${others} were credited otherwise)`)
  const events = await rowsOf(stage, 'payment_findings')
  ensure(events === 0, `the watch found nothing (${events})`)
  return { orders: orders.length, ...(await delaysOf(stage, orders)) }
}

async function runStorm(stage: PaymentStage, size: Size, seed: number) {
  const before = await ordersOf(stage)
  await stage.sim('faults', {
    list: API_FAULTS.map((rule, i) => ({ ...rule, seed: seed + i, times: null })),
  })
  const kills = killWorkers(stage, size, random(seed))
  const orders = await buyAll(stage, size, seed + 1)
  await kills
  await untilCredited(stage, size)
  const { calls } = await stage.sim('calls?last=100000', {}, 'GET')
  const all = calls as { fault: string | null }[]
  await stage.sim('faults', {}, 'DELETE')
  await checkCredits(stage, [...before, ...orders])
  return {
    orders: orders.length,
    calls: all.length,
    faults: all.filter(({ fault }) => fault !== null).length,
    ...(await delaysOf(stage, orders)),
  }
}

/** Each customer buys, waits until the order can be paid, pays, and never comes back. */
function buyAll(stage: PaymentStage, size: Size, seed: number): Promise<OrderId[]> {
  const buyOne = async (number: number): Promise<OrderId> => {
    const draw = random(seed * 1_000 + number)
    await sleep(draw() * size.spreadMs)
    const book = await stage.newBook()
    const { id } = await stage.buy(book, { attempt: `blind ${seed} ${number}` })
    const isOpen = async () => (await stage.stateOf(id)) === 'pending'
    await stage.until(`order ${id} can be paid`, isOpen, 180_000)
    await stage.sim('pay', { orderId: id })
    return id
  }
  return Promise.all(Array.from({ length: size.orders }, (_, i) => buyOne(i)))
}

/** Kills one worker after the other, at random moments of the time in which customers buy. */
async function killWorkers(stage: PaymentStage, size: Size, draw: () => number): Promise<void> {
  for (let kill = 1; kill <= size.kills; kill++) {
    await sleep((draw() * 2 * size.spreadMs) / (size.kills * 2))
    const one = Math.floor(draw() * stage.workers.length)
    await stage.workers[one]?.kill()
    stage.workers[one] = await stage.startWorker()
  }
}

/**
 * While no worker runs, a payment is made and the watermark moves past it, as by an UPDATE by hand.
 * The cabinet exports the age of the last sweep meanwhile.
 */
async function forge(stage: PaymentStage, isFull: boolean) {
  await Promise.all(stage.workers.map((worker) => worker.kill()))
  const { id } = await stage.bought()
  await stage.sim('pay', { orderId: id })
  await stage.turn({ oursSeconds: HIDDEN_SECONDS, theirsSeconds: HIDDEN_SECONDS })
  await stage.db.query('update payment_sweeps set watermark = ledger_now()')
  const sweepSeconds = await exported(stage, 'sweep_seconds')
  ensure(sweepSeconds >= HIDDEN_SECONDS, `the cabinet exports the sweep's age (${sweepSeconds})`)
  const startedMs = performance.now()
  const seconds = () => Math.round((performance.now() - startedMs) / 100) / 10
  for (const i of stage.workers.keys()) stage.workers[i] = await stage.startWorker()
  const isAlarmed = async () => (await exported(stage, 'blind_sweeps')) > 0
  await stage.until('the forged watermark is reported', isAlarmed, ALARM_SECONDS_MAX * 1_000)
  const alarm = seconds()
  await stage.until(
    'the hidden payment is credited',
    async () => (await stage.credit(id)).by === 'sweep',
  )
  const healed = seconds()
  if (isFull) ensure(healed <= ALARM_SECONDS_MAX, `it is healed within two minutes (${healed} s)`)
  // One SQL call that forges a purchase.
  const forged = `select ledger_credit($1, 'purchase', 'forged', 1, 'clearing', '')`
  await stage.db.query(forged, [await stage.newBook()])
  await stage.runJob('payments-tie')
  const rule = `payment_findings where rule = 'posting_without_order' and subject = 'forged'`
  await stage.until('the forged purchase is found', async () => (await rowsOf(stage, rule)) > 0)
  return { alarm, healed }
}

/** A number of the watch, as Prometheus reads it from the cabinet. */
async function exported(stage: PaymentStage, of: string): Promise<number> {
  const text = await (await fetch(stage.metricsUrl)).text()
  const found = new RegExp(`^payments_watch\\{of="${of}"\\} (\\S+)$`, 'm').exec(text)?.[1]
  ensure(found !== undefined, `the cabinet exports ${of}`)
  return Number(found)
}

async function untilCredited(stage: PaymentStage, size: Size): Promise<void> {
  const isDone = async () => (await rowsOf(stage, `orders where state <> 'credited'`)) === 0
  await stage.until('every order is credited', isDone, size.settleMs)
}

/** Each order has one entry with the credits of its pack, and nothing else was sold. */
async function checkCredits(stage: PaymentStage, orders: readonly OrderId[]): Promise<void> {
  const { rows } = await stage.db.query(
    `select count(*)::int4 as entries, count(distinct ref)::int4 as orders,
       coalesce(sum(amount), 0)::int8 as sum
     from entries where kind = 'purchase'`,
  )
  const seen = rows[0] as { entries: number; orders: number; sum: bigint }
  ensure(seen.entries === orders.length, `none is doubled or lost (${seen.entries} entries)`)
  ensure(seen.orders === orders.length, `each order has one entry (${seen.orders})`)
  ensure(seen.sum === credits(35_000_000) * BigInt(orders.length), `the sum is right (${seen.sum})`)
  const findings = [...(await stage.ledger.audit('all')), ...(await stage.payments.audit())]
  ensure(findings.length === 0, `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`)
}

async function ordersOf(stage: PaymentStage): Promise<OrderId[]> {
  const { rows } = await stage.db.query('select id from orders')
  return (rows as { id: OrderId }[]).map(({ id }) => id)
}

async function rowsOf(stage: PaymentStage, what: string): Promise<number> {
  const { rows } = await stage.db.query(`select count(*)::int4 as n from ${what}`)
  return (rows[0] as { n: number }).n
}

/** Seconds from capture to entry. */
async function delaysOf(stage: PaymentStage, orders: readonly OrderId[]) {
  const { rows } = await stage.db.query(
    `select extract(epoch from credited_at - captured_at)::float8 as seconds
     from orders where id = any($1)`,
    [orders],
  )
  const delays = (rows as { seconds: number }[]).map(({ seconds }) => seconds)
  const tenths = (seconds: number) => Math.round(seconds * 10) / 10
  return {
    median: tenths(percentile(delays, 0.5)),
    p99: tenths(percentile(delays, 0.99)),
    max: tenths(Math.max(...delays)),
  }
}
