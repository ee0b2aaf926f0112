// A month of receipts: purchases, partial use, refunds by owners and in the merchant portal, packs
// that are forfeited at the closing of an account, while the provider is slow, fails, answers
// nothing and cancels receipts, and several workers compete; in the full form workers are killed.
// Afterwards every receipt of the bank ties to the kopeck with orders, refunds and lots. Then
// mistakes are planted, and each is found.
import type { BookId, OrderId } from '../../../src/platform/ids.ts'
import { micro } from '../../../src/units/credits.ts'
import { kopecks } from '../../../src/units/kopecks.ts'
import { createTestPayments, pack } from '../../stages/payments.ts'
import { createPaymentStage } from '../../stages/served/payments.ts'
import { type Drill, ensure, random, sleep } from '../../support/drill.ts'
import { turnClock } from '../../support/harness.ts'
import { type Due, differences, dueNow, readFacts, type Stage } from './compare.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Odd in kopecks and microcredits: rounding shows. */
const ODD = { ...pack, id: 'odd', priceKopecks: kopecks(99_907), credits: micro(33_333_333_337n) }
/** 26 days: the next month must not end, because packs are compared with the end of this one. */
const ROUNDS_MAX = 48
const RULES = [
  { kind: 'reset', when: 'after', path: '/receipts', times: null, probability: 0.12 },
  { kind: 'error', when: 'before', path: '/receipts', times: null, probability: 0.12 },
  { kind: 'truncated', path: '/receipts', times: null, probability: 0.06 },
  { kind: 'too-many-requests', path: '/receipts', times: null, probability: 0.04 },
]
/** Every process waits so long after each such answer; the provider asks for 1,800 ms. */
const PAUSE_MS = 20

type World = {
  readonly stage: Stage
  readonly draw: () => number
  readonly isFull: boolean
  readonly clock: { ms: number }
  /** Receipts that workers bring to their end now. */
  run(): Promise<void>
}

export const drill: Drill = async ({ isFull, seed, say }) => {
  const draw = random(seed)
  const receipt = (completions: 'monthly' | 'at_end') => ({
    ...{ vatCode: 11, taxSystem: 0, subject: 'service', mode: 'full_prepayment' },
    ...{ measure: 'piece', completions },
  })
  const orders = isFull ? 120 : 14
  const sums = { orders: 0, prepaid: 0, completed: 0, returned: 0, atBank: 0, kills: 0, planted: 0 }
  for (const rhythm of ['monthly', 'at_end'] as const) {
    const yookassa = { receipt: receipt(rhythm) }
    const bank = { payerTermMs: 200 * DAY_MS }
    const served = isFull ? await createPaymentStage({ workers: 2, yookassa, bank }) : undefined
    const stage = served ?? (await createTestPayments({ yookassa, bank }))
    const others = served ? [] : [stage.payments, stage.open(), stage.open()]
    const run = async () => {
      await Promise.all(others.map((one) => one.jobs.receipts()))
      if (served === undefined) return
      const at = Math.floor(draw() * 2)
      await sleep(2_000 * draw())
      await served.workers[at]?.kill()
      served.workers[at] = await served.startWorker()
      sums.kills += 1
      await sleep(6_000)
    }
    const world = { stage, draw, isFull, clock: { ms: 0 }, run }
    try {
      const due = await month(world, orders)
      sums.orders += orders
      const left = await calm(world)
      ensure(left === 0, `every receipt is registered or waits for the accountant (${left} do not)`)
      const facts = await readFacts(stage)
      const found = differences(facts, rhythm, due)
      ensure(found.length === 0, `receipts tie with orders and the bank: ${found.join('; ')}`)
      for (const one of facts.bank) sums[one.kind] += 1
      sums.atBank += facts.bank.length
      say(`${rhythm}: ${orders} orders, ${facts.bank.length} receipts at the bank tie`)
      sums.planted += await planted(world, rhythm, due)
    } finally {
      await stage.end()
    }
  }
  return sums
}

/**
 * Purchases in the first days, then use, refunds and closings; then the month ends. Returns what
 * must be completed of it.
 */
async function month(world: World, count: number): Promise<Due> {
  const { stage, draw, isFull } = world
  await stage.sim('settings', { receiptDelayMs: 40 * 60_000, receiptCancelEvery: 5 })
  for (const rule of RULES) {
    const seed = Math.floor(draw() * 1e6)
    const retryAfterMs =
      rule.kind === 'too-many-requests' && !isFull ? { retryAfterMs: PAUSE_MS } : {}
    await stage.sim('faults', { ...rule, ...retryAfterMs, seed })
  }
  const bought: { book: BookId; id: OrderId; credits: bigint }[] = []
  for (let i = 0; i < count; i++) {
    const sold = draw() < 0.5 ? pack : ODD
    // Some accounts have two packs: their use is laid over both, the oldest first.
    const known = bought[Math.floor(draw() * bought.length)]
    const book = known && draw() < 0.3 ? known.book : await stage.newBook()
    const { id } = await stage.buy(book, { pack: sold })
    await stage.sim('pay', { orderId: id })
    await stage.payments.check(id)
    bought.push({ book, id, credits: sold.credits })
  }
  await world.run()
  for (const { book, id, credits } of bought) {
    await use(world, book, credits)
    await give(world, book, id)
  }
  await world.run()
  const due = dueNow(await readFacts(stage))
  await turnToNextMonth(world)
  await world.run()
  // After the month was completed, so that a portal refund may return what was.
  for (const { book, id, credits } of bought) {
    if (draw() < 0.4) await use(world, book, credits)
    if (draw() < 0.3) await portal(world, id)
  }
  return due
}

async function use({ stage, draw }: World, book: BookId, credits: bigint): Promise<void> {
  const available = (await stage.ledger.balance(book))?.available ?? 0n
  const share = draw() < 0.3 ? credits : (credits * BigInt(Math.floor(draw() * 1_000))) / 1_000n
  const most = share < available ? share : available
  if (most >= 1_000_000n) await stage.spend(book, most / 1_000_000n)
}

/** A refund, a forfeit at the closing, or nothing. */
async function give(world: World, book: BookId, id: OrderId): Promise<void> {
  const { stage, draw } = world
  const chance = draw()
  if (chance < 0.35) {
    const { amountKopecks: all } = await stage.payments.refundable(id)
    if (all === 0n) return
    const part = draw() < 0.5 ? all : kopecks((all * BigInt(1 + Math.floor(draw() * 99))) / 100n)
    const asked = { order: id, attempt: `refund ${id}`, by: 'a test', reason: '' }
    if (part > 0n) await stage.payments.requestRefund({ ...asked, amountKopecks: part })
  } else if (chance < 0.5) {
    const available = (await stage.ledger.balance(book))?.available ?? 0n
    if (available === 0n) return
    const entry = { book, ref: `closing ${id}`, amount: micro(-available), note: 'closed' }
    await stage.ledger.db.transaction((tx) =>
      stage.ledger.adjust(tx, { ...entry, contra: 'revenue' }),
    )
  } else if (chance < 0.6) await portal(world, id)
}

async function portal({ stage, draw }: World, id: OrderId): Promise<void> {
  const { payments } = (await stage.sim(`payments?orderId=${id}`, {}, 'GET')) as {
    payments: { id: string; refunded_amount?: { value: string }; amount: { value: string } }[]
  }
  const payment = payments[0]
  if (payment === undefined) return
  const left = Number(payment.amount.value) - Number(payment.refunded_amount?.value ?? 0)
  const value = (Math.floor(left * 100 * draw()) / 100).toFixed(2)
  if (Number(value) < 1) return
  await stage.sim('refund', { paymentId: payment.id, value })
  await stage.payments.check(id)
  await stage.payments.applyProvider(id)
}

async function turn({ stage, clock }: World, ms: number): Promise<void> {
  clock.ms += ms
  await turnClock(stage.db, `${clock.ms} milliseconds`)
  await stage.sim('advance', { ms })
  await stage.db.query(`select ledger_partitions_make((ledger_now() at time zone 'UTC')::date)`)
}

async function turnToNextMonth(world: World): Promise<void> {
  const { rows } = await world.stage.db.query(
    `select extract(epoch from (date_trunc('month', ledger_now() at time zone 'Europe/Moscow')
       + interval '1 month') at time zone 'Europe/Moscow' - ledger_now())::float8 as seconds`,
  )
  const [{ seconds } = { seconds: 0 }] = rows as { seconds: number }[]
  await turn(world, Math.ceil(seconds * 1_000) + 2 * HOUR_MS)
}

/** The faults end, and time passes until nothing waits; how many receipts still do. */
async function calm(world: World): Promise<number> {
  const { stage } = world
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (round === 3) {
      await stage.sim('faults', {}, 'DELETE')
      await stage.sim('settings', { receiptDelayMs: 0, receiptCancelEvery: 0 })
    }
    await world.run()
    await turn(world, round < 6 ? 2 * HOUR_MS : 13 * HOUR_MS)
    if (round > 6 && (await waiting(stage)) === 0) return 0
  }
  return waiting(stage)
}

async function waiting({ db }: Stage): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int4 as n from receipts
     where state in ('created', 'pending') or state = 'failed' and next_at is not null`,
  )
  return (rows as { n: number }[])[0]?.n ?? 0
}

/** Each mistake is found by the comparison, and undone. */
async function planted({ stage }: World, rhythm: 'monthly' | 'at_end', due: Due): Promise<number> {
  const facts = await readFacts(stage)
  const [first] = facts.ours.filter(({ kind }) => kind === 'completed')
  const at = facts.bank.findIndex(({ id }) => id === first?.receiptId)
  const known = facts.bank[at]
  ensure(first !== undefined && known !== undefined, 'something was completed')
  const order = facts.orders.find(({ id }) => id === first.order)
  const returned = facts.ours.find(({ kind, state }) => kind === 'returned' && state !== 'failed')
  ensure(order !== undefined && returned !== undefined, 'something was returned')
  const said = { state: 'failed', error: 'it returns 1 kopecks as completed instead of 2' }
  const mistakes = {
    'made twice': { ...facts, bank: [...facts.bank, { ...known, id: 'another' }] },
    'lost at the bank': { ...facts, bank: facts.bank.toSpliced(at, 1) },
    'a kopeck too much': {
      ...facts,
      bank: facts.bank.with(at, { ...known, amount: known.amount + 1n }),
    },
    'another number': { ...facts, bank: facts.bank.with(at, { ...known, document: '0' }) },
    'never made': { ...facts, ours: facts.ours.filter((one) => one !== first) },
    'of a pack in use, of which less was due': {
      ...facts,
      orders: facts.orders.with(facts.orders.indexOf(order), { ...order, isSettled: false }),
    },
    'corrected otherwise': {
      ...facts,
      ours: facts.ours.with(facts.ours.indexOf(returned), { ...returned, ...said }),
    },
    'of a refund that took a microcredit more': {
      ...facts,
      orders: facts.orders.with(facts.orders.indexOf(order), {
        ...order,
        refunded: order.refunded + 1n,
      }),
    },
  }
  const less = new Map([...due, [order.id, -1n]])
  for (const [name, wrong] of Object.entries(mistakes)) {
    ensure(
      differences(wrong, rhythm, less).length > 0,
      `the comparison finds a receipt that is ${name}`,
    )
  }
  // And in the database, past its triggers, as somebody with the owner's password could.
  await stage.db.query('alter table receipts disable trigger user')
  await stage.db.query('update receipts set amount_kopecks = amount_kopecks + 1 where id = $1', [
    first.id,
  ])
  const changed = differences(await readFacts(stage), rhythm, due)
  ensure(changed.length > 0, 'the comparison finds a row that was changed')
  return Object.keys(mistakes).length + 1
}
