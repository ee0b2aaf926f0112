// The rules of payments as an accountant would write them: plain objects and sums, no SQL. A
// program tells it what people did, and gives it what the bank and the database show after each
// step; it throws PromiseBroken with the rule that they break.
import { ensure } from './drill.ts'
import type { BankPayment, Facts, OrderFact, RefundFact } from './payment-facts.ts'

export type Terms = { readonly price: bigint; readonly credits: bigint }
export type Mandate = Terms & { readonly threshold: bigint; readonly ceiling: bigint }

type ModelBook = {
  spent: bigint
  promo: bigint
  /** Its owner, or an operator, has begun to close it. */
  isClosing: boolean
  /** The owner chose to forfeit, or a person dismissed a refund. */
  hasAgreedToLose: boolean
  mandate: Mandate | undefined
  /** Cards that the owner had us delete. */
  readonly forgotten: Set<string>
}

/** The step cannot say what the balance or the mandate was when the bank was called. */
export type StepKind = 'single' | 'concurrent'

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, one) => total + one, 0n)
const least = (a: bigint, b: bigint) => (a < b ? a : b)
const isLiving = (refund: RefundFact) => refund.state !== 'canceled'

type Sold = Terms & { readonly book: string }
type State = {
  readonly books: Map<string, ModelBook>
  /** The orders that owners and mandates made, with their terms. */
  readonly sold: Map<string, Sold>
  /** The facts before the current step. */
  before: Facts | undefined
}

/** A top-up is registered when it is first seen, with the terms that its owner agreed to. */
function registerTopUps({ books, sold }: State, facts: Facts): void {
  for (const { id, book, isTopUp } of facts.orders) {
    if (sold.has(id)) continue
    ensure(isTopUp, `every order that is not a top-up was bought by its owner (${id})`)
    const mandate = books.get(book)?.mandate
    ensure(mandate !== undefined, `a top-up is created under a living mandate (${id})`)
    sold.set(id, { book, price: mandate.price, credits: mandate.credits })
  }
}

function checkOrders(state: State, facts: Facts): void {
  const postings = byRef(facts.postings.filter(({ kind }) => kind === 'purchase'))
  const lots = byRef(facts.lots)
  for (const order of facts.orders) {
    const terms = state.sold.get(order.id) as Sold
    ensure(
      terms.book === order.book && terms.price === order.price && terms.credits === order.credits,
      `an order keeps what was sold: ${text(order)}, sold ${text(terms)}`,
    )
    const payments = facts.payments.filter((one) => one.order === order.id)
    ensure(payments.length <= 1, `an order has one payment at the bank: ${text(payments)}`)
    const paid = payments.find(({ status }) => status === 'succeeded')
    const posting = postings.get(order.id)
    ensure(
      order.isCredited === (posting !== undefined),
      `an order is credited with its posting: ${text(order)}, ${text(posting)}`,
    )
    if (!order.isCredited) continue
    ensure(
      paid !== undefined && paid.amount === order.price,
      `only money that the bank has taken is credited: ${text(order)}, ${text(payments)}`,
    )
    ensure(
      posting?.amount === order.credits && posting.book === order.book,
      `the posting has the credits that were sold: ${text(order)}, ${text(posting)}`,
    )
    ensure(
      lots.get(order.id)?.credited === order.credits,
      `the lot has the credits that were sold: ${text(order)}, ${text(lots.get(order.id))}`,
    )
    checkReturned(state, order, paid, facts)
  }
  ensure(
    postings.size === facts.orders.filter(({ isCredited }) => isCredited).length,
    'each purchase posting belongs to a credited order',
  )
}

/** The refunds of one credited order: money, and the credits that were taken for it. */
function checkReturned(state: State, order: OrderFact, paid: BankPayment, facts: Facts): void {
  const refunds = facts.refunds.filter((one) => one.order === order.id)
  const disputes = facts.disputes.filter((one) => one.order === order.id)
  const done = refunds.filter(({ state }) => state === 'succeeded')
  const refunded = sum(done.map(({ amount }) => amount))
  ensure(
    order.refunded === refunded && refunded <= paid.refunded && refunded <= order.price,
    `no more is refunded than the bank has returned: ${text(order)}, ${text(paid)}`,
  )
  for (const { refundId, amount } of done) {
    const there = facts.bankRefunds.find(({ id }) => id === refundId)
    ensure(
      there?.status === 'succeeded' && there.amount === amount && there.payment === paid.id,
      `a refund of ours is one of the bank's: ${refundId} ${amount}, ${text(there)}`,
    )
  }
  const { gone, taken } = returned(facts, order)
  const living = refunds.filter(isLiving)
  // Each canceled refund may leave the rounding of one kopeck; the first kopeck is the usual one.
  const slack = BigInt(1 + refunds.length - living.length + disputes.length)
  const worth = (money: bigint) => (order.credits * money) / order.price
  const what = `${text(order)}, taken ${taken}, gone ${gone}, ${text(refunds)}, ${text(disputes)}`
  ensure(taken >= 0n && taken <= order.credits, `at most the pack is taken back: ${what}`)
  ensure(taken >= worth(gone - slack), `credits are taken for the money that went back: ${what}`)
  // An open dispute has reserved more, and so has the refund of a closed account.
  const isReserved = disputes.some(({ state }) => state === 'opened')
  if (isReserved || state.books.get(order.book)?.isClosing) return
  ensure(taken <= worth(gone + slack) + 1n, `no more credits are taken than money: ${what}`)
}

function checkBooks(state: State, facts: Facts): void {
  for (const fact of facts.books) {
    const book = state.books.get(fact.book) as ModelBook
    const own = facts.postings.filter((one) => one.book === fact.book)
    const total = (kind: string) => sum(own.filter((one) => one.kind === kind).map(amountOf))
    const balance = fact.available + fact.held - fact.debt
    const what = `book ${text(fact)}, ${text(own)}`
    ensure(
      balance === sum(own.map(amountOf)) - book.spent,
      `a balance is what was posted less what was spent (${book.spent}): ${what}`,
    )
    ensure(total('promo') === book.promo, `promo credits are added once: ${what}`)
    ensure(
      facts.lots.every((lot) => lot.kind !== 'promo' || lot.takenBack === 0n),
      'promo credits are never refunded',
    )
    ensure(total('adjust') === 0n || book.isClosing, `only closing forfeits credits: ${what}`)
    ensure(
      fact.debt === 0n || total('forced_debit') < 0n,
      `a debt comes only from money that was taken back: ${what}`,
    )
    if (!book.isClosing) continue
    ensure(fact.card === null, `a closing account has no saved card: ${what}`)
    ensure(!fact.isMandateOn, `a closing account has no mandate: ${what}`)
    ensure(fact.step !== null, `a closing goes on until it has ended: ${what}`)
    if (fact.step === 'closed')
      ensure(fact.available + fact.held === 0n, `nothing is left in a closed book: ${what}`)
  }
}

/** Every charge of a saved card, when it reached the bank. */
function checkCharges(state: State, facts: Facts, kind: StepKind): void {
  for (const { order: id, card, amount } of facts.charges) {
    const order = facts.orders.find((one) => one.id === id)
    ensure(order?.isTopUp === true, `a saved card is charged only for a top-up (${id})`)
    const { mandate, forgotten } = state.books.get(order.book) as ModelBook
    const what = `${text(order)}, mandate ${text(mandate)}`
    ensure(mandate !== undefined, `no card is charged without a living mandate: ${what}`)
    ensure(!forgotten.has(card), `a deleted card is not charged: ${what}`)
    ensure(
      amount === mandate.price && order.credits === mandate.credits,
      `a card is charged the agreed price for the agreed credits: ${amount}, ${what}`,
    )
    const isCounted = (one: OrderFact) =>
      one.isTopUp && one.book === order.book && one.month === order.month
    const ids = new Set(facts.orders.filter(isCounted).map((one) => one.id))
    const taken = facts.payments.filter((one) => ids.has(one.order) && one.status !== 'canceled')
    const month = sum(taken.map((one) => one.amount))
    ensure(month <= mandate.ceiling, `a month stays below its ceiling: ${month}, ${what}`)
    const had = state.before?.books.find((one) => one.book === order.book)
    if (kind === 'concurrent' || had === undefined) continue
    ensure(
      had.available + had.held < mandate.threshold && had.debt === 0n,
      `a card is charged only below the threshold: ${text(had)}, ${what}`,
    )
  }
}

/** What ends a mandate without its owner: a refund or a dispute of a top-up, or a decline. */
function endMandates(state: State, facts: Facts): void {
  const gone = (one: Facts | undefined, id: string) =>
    (one?.refunds.filter(({ order }) => order === id).length ?? 0) +
    (one?.disputes.filter(({ order }) => order === id).length ?? 0)
  for (const { id, book, isTopUp, state: now, cancelReason } of facts.orders) {
    if (!isTopUp) continue
    const was = state.before?.orders.find((one) => one.id === id)?.state
    const isDeclined =
      now !== was && (now === 'failed' || (now === 'canceled' && !isOurEnd(cancelReason)))
    if (isDeclined || gone(facts, id) > gone(state.before, id))
      (state.books.get(book) as ModelBook).mandate = undefined
  }
}

function checkRest(facts: Facts, entries: ReadonlyMap<string, bigint>): void {
  for (const { book, available, held, debt } of facts.books) {
    const [balance, written] = [available + held - debt, entries.get(book) ?? 0n]
    ensure(balance === written, `a balance of ${balance} is the sum of its entries: ${written}`)
  }
  for (const payment of facts.payments) {
    const order = facts.orders.find((one) => one.id === payment.order)
    ensure(order !== undefined, `every payment is for an order of ours: ${text(payment)}`)
    const what = `${text(order)}, ${text(payment)}`
    if (payment.status === 'canceled')
      ensure(['canceled', 'failed'].includes(order.state), `a canceled payment ends: ${what}`)
    if (payment.status !== 'succeeded') continue
    ensure(order.isCredited, `every payment is credited: ${what}`)
    ensure(order.refunded === payment.refunded, `what went back is recorded: ${what}`)
  }
  for (const order of facts.orders) {
    const isOpen = ['created', 'refund_pending', 'review'].includes(order.state)
    ensure(!isOpen, `no order waits for an answer for ever: ${text(order)}`)
  }
  const taken = sum(facts.payments.filter(isPaid).map((one) => one.amount - one.refunded))
  const ours = facts.orders.filter(({ isCredited }) => isCredited)
  const recorded = sum(ours.map((one) => one.price - one.refunded))
  ensure(taken === recorded, `the bank has taken ${taken}, our orders show ${recorded}`)
}

/** Every account has closed: what became of each book's credits, and of its money. */
function checkClosed({ books }: State, facts: Facts): void {
  for (const fact of facts.books) {
    const book = books.get(fact.book) as ModelBook
    const own = facts.postings.filter((one) => one.book === fact.book)
    const what = `book ${text(fact)}, ${text(own)}`
    ensure(fact.step === 'closed', `every closing comes to its end: ${what}`)
    ensure(fact.held === 0n, `every hold has ended: ${what}`)
    ensure(fact.available === 0n, `nothing is left in a closed book: ${what}`)
    const orders = facts.orders.filter((one) => one.book === fact.book && one.isCredited)
    const ids = new Set(orders.map(({ id }) => id))
    const refunds = facts.refunds.filter((one) => ids.has(one.order))
    const open = refunds.filter(({ state }) => state === 'created' || state === 'pending')
    ensure(open.length === 0, `every refund has ended: ${text(open)}, ${what}`)
    const forfeited = -sum(own.filter(({ kind }) => kind === 'adjust').map(amountOf))
    if (book.hasAgreedToLose) continue
    // Rounding: a kopeck of each order, and one more for each of its refunds.
    const dust = sum(
      orders.map((one) => {
        const count = refunds.filter(({ order }) => order === one.id).length
        return (one.credits * BigInt(2 + count)) / one.price + 1n
      }),
    )
    ensure(
      forfeited <= book.promo + dust,
      `nothing that was paid is forfeited unless it was agreed: ${forfeited}, ${what}`,
    )
  }
}

export function createPaymentModel() {
  const state: State = { books: new Map(), sold: new Map(), before: undefined }
  const { books, sold } = state
  const bookOf = (id: string) => books.get(id) as ModelBook

  return {
    addBook: (id: string): void =>
      void books.set(id, {
        ...{ spent: 0n, promo: 0n, isClosing: false, hasAgreedToLose: false },
        ...{ mandate: undefined, forgotten: new Set() },
      }),
    book: bookOf,
    isKnown: (order: string): boolean => sold.has(order),

    /** The owner bought a pack on these terms; a second click may return the same order. */
    sell(order: string, book: string, terms: Terms): void {
      const known = sold.get(order)
      ensure(
        known === undefined || (known.price === terms.price && known.credits === terms.credits),
        `an order is used again only for the same terms: ${order}`,
      )
      sold.set(order, { book, price: terms.price, credits: terms.credits })
    },

    /** What of an order's pack can be refunded: packs are spent oldest first. */
    unspent(facts: Facts, order: OrderFact): bigint {
      let spent = bookOf(order.book).spent
      for (const { book, ref, credited, takenBack } of facts.lots) {
        if (book !== order.book) continue
        const kept = credited - takenBack
        const available = facts.books.find((one) => one.book === book)?.available ?? 0n
        if (ref === order.id) return least(available, kept > spent ? kept - spent : 0n)
        spent -= least(spent, kept)
      }
      return 0n
    },

    /** Checks the rules that hold after every step. */
    check(facts: Facts, kind: StepKind): void {
      registerTopUps(state, facts)
      checkCharges(state, facts, kind)
      checkOrders(state, facts)
      checkBooks(state, facts)
      endMandates(state, facts)
      state.before = facts
    },

    /**
     * Checks that every account is closed, every hold has ended, and money in = credits used +
     * refunded + forfeited as agreed.
     */
    checkClosed: (facts: Facts): void => checkClosed(state, facts),

    /** Checks the rules that hold when all messages have arrived and all work is done. */
    checkRest: (facts: Facts, entries: ReadonlyMap<string, bigint>): void =>
      checkRest(facts, entries),
  }
}

/** The money that went or will go back of an order, and the credits that were taken for it. */
export function returned(facts: Facts, { id, price }: OrderFact) {
  const own = facts.postings.filter(({ order, kind }) => order === id && kind !== 'purchase')
  const living = facts.refunds.filter((one) => one.order === id && isLiving(one))
  const lost = facts.disputes.filter((one) => one.order === id && one.state === 'lost')
  return {
    taken: -sum(own.map(amountOf)),
    gone: least(sum([...living, ...lost].map(amountOf)), price),
  }
}

export type PaymentModel = ReturnType<typeof createPaymentModel>

const amountOf = ({ amount }: { readonly amount: bigint }) => amount
const isPaid = ({ status }: BankPayment) => status === 'succeeded'
/** Reasons of cancellations that are ours and therefore no declines. */
const isOurEnd = (reason: string | null) => reason === 'top_up_ended' || reason === 'dismissed'

function byRef<T extends { readonly ref: string }>(items: readonly T[]): Map<string, T> {
  const found = new Map<string, T>()
  for (const one of items) {
    ensure(!found.has(one.ref), `a posting is unique: ${text(one)}`)
    found.set(one.ref, one)
  }
  return found
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one)) ?? 'none'
}
