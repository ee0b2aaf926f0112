// The steps of a random sequence: what owners, payers, the bank, its staff, operators and workers
// do. A step that the product refuses is a step that changes nothing. Numbers choose among what
// exists when the step runs, so that a shorter sequence is still a sequence.
import type { OrderId } from '../../../src/platform/ids.ts'
import { micro } from '../../../src/units/credits.ts'
import { kopecks } from '../../../src/units/kopecks.ts'
import { ensure } from '../../support/drill.ts'
import type { OrderFact } from '../../support/payment-facts.ts'
import { returned, type StepKind } from '../../support/payment-model.ts'
import { agree, endMandate, forgetCard } from './mandates.ts'
import { isRefused, type Pack, refusalOr, type Sequence, sweepRefunds } from './world.ts'

/** A small whole number that a step uses to choose; fast-check makes it smaller. */
export type Choice = number
type Step = (at: Sequence, a: Choice, b: Choice) => Promise<StepKind | undefined>

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const JUMPS = [2 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 24 * HOUR_MS, 25.5 * HOUR_MS]
/** What the bank's next call answers; `after`: it has done what it was asked. */
const FAULTS = [
  { kind: 'error', when: 'before', method: 'POST' },
  { kind: 'error', when: 'after', method: 'POST' },
  { kind: 'reset', when: 'after', method: 'POST' },
  { kind: 'html', when: 'before', method: 'POST', times: 3 },
  { kind: 'truncated', when: 'after', method: 'POST', path: '/refunds' },
  { kind: 'error', when: 'before', method: 'POST', path: '/refunds', times: 4 },
  { kind: 'error', when: 'before', method: 'GET', times: 2 },
  { kind: 'reset', when: 'before', method: 'GET', path: '/refunds', times: 2 },
] as const

function pick<T>(items: readonly T[], choice: Choice): T | undefined {
  return items[choice % Math.max(1, items.length)]
}
const bookAt = ({ books }: Sequence, choice: Choice) => pick(books, choice) as bigint as never
const packAt = ({ packs }: Sequence, choice: Choice) => pick([...packs.values()], choice) as Pack

/** An order that satisfies the check, newest first. */
function orderAt(at: Sequence, choice: Choice, isWanted: (order: OrderFact) => boolean) {
  return pick(at.facts().orders.filter(isWanted).toReversed(), choice)
}

/** Something that the bank may refuse, because the payment has ended. */
async function atBank(at: Sequence, act: string, body: object): Promise<void> {
  await at.sim(act, body).catch(() => undefined)
  await at.sim('settle')
}

async function buy(at: Sequence, a: Choice, b: Choice): Promise<OrderId | undefined> {
  const book = bookAt(at, a)
  const pack = packAt(at, b)
  // An owner of a closing account buys nothing.
  if (at.model.book(String(book)).isClosing) return undefined
  const order = await refusalOr(
    at.payments().buy({
      ...{ book, pack, email: 'owner@example.org', locale: 'ru', method: 'card' },
      attempt: at.newAttempt(),
      returnUrl: 'https://cabinet.example.org/orders/{order}',
      savesMethod: b % 2 === 0,
    }),
  )
  if (isRefused(order)) return undefined
  at.model.sell(order.id, String(book), { price: pack.priceKopecks, credits: pack.credits })
  return order.id
}

async function refund(at: Sequence, a: Choice, b: Choice): Promise<void> {
  const order = orderAt(at, a, (one) => one.isCredited)
  if (order === undefined) return
  const isOwner = b % 3 > 0
  const part = kopecks(order.price / BigInt(2 + (b % 3)))
  const had = at.model.unspent(at.facts(), order)
  const result = await refusalOr(
    at.payments().requestRefund({
      order: order.id as OrderId,
      ...(isOwner && { book: BigInt(order.book) as never }),
      attempt: at.newAttempt(),
      ...(b % 2 === 0 && { amountKopecks: part }),
      by: 'owner',
      reason: 'asked',
    }),
  )
  if (isRefused(result)) return
  // In totals, as the kopecks of several parts add up to the price.
  const { gone, taken } = returned(at.facts(), order)
  const worth = (order.price * (had + taken)) / order.credits - gone
  ensure(result.amount <= worth, `a refund is for what is unspent: ${result.amount} of ${worth}`)
}

async function dispute(at: Sequence, a: Choice, b: Choice): Promise<void> {
  const open = new Set(
    at.facts().disputes.flatMap((one) => (one.state === 'opened' ? [one.order] : [])),
  )
  const isClosing = b % 2 === 1
  const order = orderAt(at, a, (one) => one.isCredited && open.has(one.id) === isClosing)
  if (order === undefined) return
  const what = { order: order.id as OrderId, by: 'operator', note: '' }
  const act = isClosing
    ? ({ act: b % 4 === 1 ? 'won' : 'lost' } as const)
    : ({ act: 'open', ...(b % 4 === 2 && { amountKopecks: kopecks(order.price / 3n) }) } as const)
  await refusalOr(at.payments().dispute({ ...what, ...act }))
}

async function topUpOn(at: Sequence, a: Choice, b: Choice): Promise<void> {
  const book = bookAt(at, a)
  const pack = packAt(at, b)
  const mandate = {
    price: pack.priceKopecks as bigint,
    credits: pack.credits as bigint,
    threshold: (pack.credits as bigint) - 1n,
    ceiling: (pack.priceKopecks as bigint) * BigInt(1 + (b % 3)),
  }
  if (at.model.book(String(book)).isClosing) return
  const result = await refusalOr(agree(at.payments(), book, pack.id, mandate))
  if (!isRefused(result)) at.model.book(String(book)).mandate = mandate
}

/** Leaves a part of what is available; a half, a tenth or nothing. */
async function spend(at: Sequence, a: Choice, b: Choice): Promise<void> {
  const book = bookAt(at, a)
  const { available } = at.facts().books.find((one) => one.book === String(book)) ?? {}
  const whole = (available ?? 0n) / 1_000_000n
  const left = [whole / 2n, whole / 10n, 0n][b % 3] as bigint
  const amount = whole - left
  if (amount === 0n) return
  const result = await refusalOr(at.stage.spend(book, amount))
  if (!isRefused(result)) at.model.book(String(book)).spent += micro(amount * 1_000_000n)
}

async function close(at: Sequence, a: Choice, b: Choice): Promise<void> {
  const book = bookAt(at, a)
  const owner = at.model.book(String(book))
  if (owner.isClosing) return
  const choice = b % 3 === 0 ? 'forfeit' : 'refund'
  const result = await refusalOr(at.accounts.begin(at.payments(), book, choice))
  if (isRefused(result)) return
  owner.isClosing = true
  owner.hasAgreedToLose ||= choice === 'forfeit'
  owner.mandate = undefined
  await at.accounts.advance(at.payments())
}

/** A request begins and holds a part of what is available; a later step ends it. */
async function beginRequest(at: Sequence, a: Choice, b: Choice): Promise<void> {
  const book = bookAt(at, a)
  const { available } = at.facts().books.find((one) => one.book === String(book)) ?? {}
  const held = (available ?? 0n) / 1_000_000n / BigInt(1 + (b % 3))
  if (held === 0n) return
  const request = await refusalOr(at.stage.beginRequest(book, held))
  if (!isRefused(request)) at.requests.push({ book: String(book), held, settle: request.settle })
}

/** A person decides about the oldest refund that a closing has held back. */
async function decide(at: Sequence, b: Choice): Promise<void> {
  await at.decideOne(b % 3 === 0 ? 'dismiss' : 'refund')
}

async function stopClosing(at: Sequence, a: Choice): Promise<void> {
  const book = bookAt(at, a)
  const fact = at.facts().books.find((one) => one.book === String(book))
  if (fact?.step !== 'closing') return
  const result = await refusalOr(at.accounts.stop(at.payments(), book))
  if (!isRefused(result)) at.model.book(String(book)).isClosing = false
}

async function askAgain(at: Sequence, a: Choice): Promise<void> {
  const book = bookAt(at, a)
  const all = await at.payments().closings.list({ book, begunAt: new Date(0) })
  const waits = all.find(({ state }) => state === 'again')
  if (waits !== undefined) await at.payments().closings.askAgain(book, waits.id)
}

async function forget(at: Sequence, a: Choice): Promise<void> {
  const book = bookAt(at, a)
  const owner = at.model.book(String(book))
  const { card } = at.facts().books.find((one) => one.book === String(book)) ?? {}
  await forgetCard(at.db, at.payments(), book)
  owner.mandate = undefined
  if (card) owner.forgotten.add(card)
}

async function redeem(at: Sequence, a: Choice, b: Choice): Promise<void> {
  const book = bookAt(at, a)
  if (at.model.book(String(book)).isClosing) return
  const code = `MODEL-${at.books[0]}-${b % 2}`
  const amount = micro(BigInt(1 + b) * 777_000_001n)
  const day = 24 * HOUR_MS
  const now = Date.now()
  await refusalOr(
    at.payments().createPromo({
      ...{ code, credits: amount, redemptionsMax: 2, by: 'operator', note: '' },
      startsAt: new Date(now - day),
      endsAt: new Date(now + 900 * day),
    }),
  )
  const tries = [at.payments().redeem(book, code), at.newWorker().redeem(book, code)]
  for (const result of await Promise.all(tries.map(refusalOr))) {
    if (!isRefused(result)) at.model.book(String(book)).promo += result.credits
  }
}

function reprice({ packs }: Sequence, a: Choice, b: Choice): void {
  const pack = pick([...packs.values()], a) as Pack
  const factor = BigInt(90 + b)
  const next = {
    ...pack,
    catalogueVersion: pack.catalogueVersion + 1,
    ...(b % 3 !== 1 && { priceKopecks: kopecks((pack.priceKopecks * factor) / 100n + 1n) }),
    ...(b % 3 !== 2 && { credits: micro((pack.credits * factor) / 100n + 1n) }),
  }
  packs.set(pack.id, next)
}

/** Two workers do the same work at the same time, while a notice arrives and the payer returns. */
async function race(at: Sequence, a: Choice, b: Choice): Promise<StepKind> {
  const [one, other] = [at.payments(), at.newWorker()]
  const order = orderAt(at, a, () => true)
  const both = (work: (worker: typeof one) => Promise<unknown>) => [work(one), work(other)]
  const works = [
    () => both((worker) => worker.jobs.topUp()),
    () => [...both((worker) => worker.jobs.sweep()), ...both((worker) => worker.jobs.poll())],
    () => [...both((worker) => worker.jobs.recover()), ...both((worker) => worker.jobs.topUp())],
    () => [...both((worker) => worker.jobs.pollRefunds()), ...both(sweepRefunds)],
    () => [
      ...both((worker) => worker.jobs.applyNotification()),
      ...both((worker) => worker.jobs.sweep()),
      ...(order === undefined ? [] : both((worker) => worker.check(order.id as OrderId))),
    ],
  ]
  await Promise.all((works[b % works.length] as () => Promise<unknown>[])())
  return 'concurrent'
}

const done = (work: Promise<unknown>) => work.then(() => undefined)

export const steps = {
  buy: (at, a, b) => done(buy(at, a, b)),
  async 'buy and pay'(at, a, b) {
    const order = await buy(at, a, b)
    if (order === undefined) return undefined
    await atBank(at, 'pay', { orderId: order })
    await at.payments().check(order)
    return undefined
  },
  async pay(at, a) {
    const order = orderAt(at, a, (one) => !one.isCredited)
    if (order !== undefined) await atBank(at, 'pay', { orderId: order.id })
    return undefined
  },
  async 'bank cancels'(at, a) {
    const order = orderAt(at, a, (one) => !one.isCredited)
    if (order !== undefined) await atBank(at, 'expire', { orderId: order.id })
    return undefined
  },
  async 'payer returns'(at, a) {
    const order = orderAt(at, a, (one) => !one.isCredited)
    if (order !== undefined) await at.payments().check(order.id as OrderId)
    return undefined
  },
  async notices(at, a) {
    await at.sim('modes', {}, 'DELETE')
    const mode = ['normal', 'drop', 'duplicate', 'reorder'][a % 4]
    if (mode !== 'normal') await at.sim('modes', { mode })
    return undefined
  },
  async work(at, a) {
    const { jobs } = at.payments()
    const all = [jobs.applyNotification, jobs.sweep, jobs.recover, jobs.poll, jobs.pollRefunds]
    const refunds = () => sweepRefunds(at.payments())
    await (pick([...all, refunds, jobs.expire], a) as () => Promise<unknown>)()
    return undefined
  },
  race,
  'top-ups on': (at, a, b) => done(topUpOn(at, a, b)),
  async 'top-ups off'(at, a) {
    await endMandate(at.payments(), bookAt(at, a))
    at.model.book(String(bookAt(at, a))).mandate = undefined
    return undefined
  },
  'top-up run': (at) => done(at.payments().jobs.topUp()),
  async 'saved card'(at, a, b) {
    const card = at.facts().books.find(({ book }) => book === String(bookAt(at, a)))?.card
    const behaviour = [{ decline: 'insufficient_funds' }, { isSlow: true }, {}][b % 3] as object
    if (card) await atBank(at, 'method', { paymentId: card, ...behaviour })
    return undefined
  },
  spend: (at, a, b) => done(spend(at, a, b)),
  refund: (at, a, b) => done(refund(at, a, b)),
  async 'portal refund'(at, a, b) {
    const order = orderAt(at, a, (one) => one.price > 3n)
    if (order === undefined) return undefined
    const part = order.price / BigInt(2 + (b % 3))
    const value = `${part / 100n}.${String(part % 100n).padStart(2, '0')}`
    const given = { ...(b % 2 === 0 && { value }), isPending: b % 5 === 1 }
    await atBank(at, 'refund', { orderId: order.id, ...given })
    return undefined
  },
  async 'refunds wait'(at, a) {
    await at.sim('hold-refunds', { isHeld: a % 2 === 0 })
    return undefined
  },
  async 'end refund'(at, a, b) {
    const pending = at.facts().bankRefunds.filter(({ status }) => status === 'pending')
    const refundId = pick(pending, a)?.id
    const act = b % 2 === 0 ? 'complete-refund' : 'cancel-refund'
    if (refundId !== undefined) await atBank(at, act, { refundId })
    return undefined
  },
  dispute: (at, a, b) => done(dispute(at, a, b)),
  'forget card': (at, a) => done(forget(at, a)),
  close: (at, a, b) => done(close(at, a, b)),
  'request begins': (at, a, b) => done(beginRequest(at, a, b)),
  'request ends': (at, _, b) => done(at.endRequest(b)),
  decide: (at, _, b) => done(decide(at, b)),
  'stop closing': (at, a) => done(stopClosing(at, a)),
  'ask again': (at, a) => done(askAgain(at, a)),
  closings: (at) => done(at.accounts.advance(at.payments())),
  promo: (at, a, b) => done(redeem(at, a, b)),
  async reprice(at, a, b) {
    reprice(at, a, b)
    return undefined
  },
  jump: (at, a) => done(at.jump(pick(JUMPS, a) as number)),
  fault: (at, a) => done(at.sim('faults', pick(FAULTS, a) as object)),
  async restart(at) {
    at.restart()
    return undefined
  },
} satisfies Record<string, Step>

export type StepName = keyof typeof steps

/** How often a step is drawn. Steps that others build on are drawn more often. */
export const weights: Record<StepName, number> = {
  ...{ buy: 3, 'buy and pay': 6, pay: 4, 'bank cancels': 1, 'payer returns': 1, notices: 1 },
  ...{ work: 4, race: 4, 'top-ups on': 3, 'top-ups off': 1, 'top-up run': 3, 'saved card': 1 },
  ...{ spend: 5, refund: 4, 'portal refund': 3, 'refunds wait': 1, 'end refund': 2, dispute: 3 },
  ...{
    'forget card': 1,
    close: 2,
    closings: 2,
    'request begins': 2,
    'request ends': 2,
    decide: 1,
    'stop closing': 1,
    'ask again': 1,
    promo: 1,
    reprice: 1,
    jump: 4,
    fault: 3,
    restart: 1,
  },
}
