// The control calls under /sim: acts of the payer, the bank and the provider's staff, the clock,
// faults and notice modes. Every act answers with what it changed.
import { quickCard } from './deeds.ts'
import { BankError } from './errors.ts'
import { readFaultRule } from './faults.ts'
import { type Input, wrong } from './input.ts'
import { disputeLetter } from './letters.ts'
import { amountOf, parseKopecks } from './money.ts'
import { readMode } from './notices.ts'
import type { MethodType, PaidHow, Payment, ReceiptOrder, Refund } from './objects.ts'
import type { Parts } from './parts.ts'
import { alter, changeSettings, forge, refresh } from './staff.ts'

type Act = (input: Input, parts: Parts) => object | Promise<object>

const methods: readonly MethodType[] = ['bank_card', 'sbp']
const registrations = ['pending', 'succeeded', 'canceled'] as const
const partyOfProvider = ['country_forbidden', 'fraud_suspected', 'expired_on_confirmation']

export const acts: Readonly<Record<string, Act>> = {
  async 'POST advance'(input, { clock, store }) {
    const ms =
      (input.whole('ms') ?? 0) +
      (input.whole('seconds') ?? 0) * 1000 +
      (input.whole('minutes') ?? 0) * 60_000 +
      (input.whole('hours') ?? 0) * 3_600_000
    await clock.advance(ms)
    return { now: new Date(store.now()).toISOString() }
  },

  /** Waits until every notice that is due has been answered. */
  async 'POST settle'(_input, { clock, store }) {
    await clock.settle()
    return { now: new Date(store.now()).toISOString() }
  },

  'POST pay'(input, parts) {
    const payment = paymentOf(input, parts)
    const isPaid = parts.store.succeed(payment.id, howOf(input, payment, parts))
    return told(payment, isPaid, parts)
  },

  'POST decline'(input, parts) {
    const payment = paymentOf(input, parts)
    const reason = input.text('reason') ?? 'general_decline'
    if (input.flag('isFinal') === false) {
      return told(payment, parts.store.declineAttempt(payment.id, reason), parts)
    }
    const ours = partyOfProvider.includes(reason) ? 'yoo_money' : 'payment_network'
    const party = input.text('party') ?? ours
    return told(payment, parts.store.cancel(payment.id, { party, reason }), parts)
  },

  'POST expire'(input, parts) {
    const payment = paymentOf(input, parts)
    const isHeld = payment.status === 'waiting_for_capture'
    const reason = isHeld ? 'expired_on_capture' : 'expired_on_confirmation'
    return told(payment, parts.store.cancel(payment.id, { party: 'yoo_money', reason }), parts)
  },

  'POST cancel'(input, parts) {
    const payment = paymentOf(input, parts)
    const party = input.text('party') ?? 'merchant'
    const reason = input.text('reason') ?? 'canceled_by_merchant'
    return told(payment, parts.store.cancel(payment.id, { party, reason }), parts)
  },

  /** Sets what the bank does with later charges of a saved method, which its payment's id names. */
  'POST method'(input, parts) {
    const { id } = paymentOf(input, parts)
    const method = parts.store.keptMethods.one(id)
    if (method === undefined) throw wrong('this payment left no method')
    if (input.flag('isForgotten') === true) parts.store.keptMethods.forget(id)
    method.decline = input.text('decline') ?? null
    method.isSlow = input.flag('isSlow') ?? false
    return { id, decline: method.decline, isSlow: method.isSlow }
  },

  /** A refund by the shop's staff in the provider's merchant portal, outside our API. */
  'POST refund'(input, { store, ...parts }) {
    const payment = paymentOf(input, { store, ...parts })
    const remainder = store.refunds.remainderOf(payment)
    const value = input.text('value') ?? amountOf(remainder).value
    const kopecks = parseKopecks(value) ?? 0n
    if (payment.status !== 'succeeded' || kopecks === 0n || kopecks > remainder) {
      throw new BankError(400, `stand-in: cannot refund ${value} of this payment`)
    }
    const isPending = input.flag('isPending') ?? false
    const receipt = input.flag('hasReceipt') === false ? null : portalReceipt(payment, kopecks)
    const refund = store.refunds.create({ payment, kopecks, receipt, isPending })
    return store.shown(refund)
  },

  /** The payer's bank opened a dispute: the provider writes an e-mail, and its API says nothing. */
  'POST dispute'(input, parts) {
    const payment = paymentOf(input, parts)
    return disputeLetter(payment, parts.store.now(), input.whole('days') ?? 7)
  },

  /** Refunds of one payment, or of all without one, wait for `complete-refund`. */
  'POST hold-refunds'(input, parts) {
    const isHeld = input.flag('isHeld') ?? true
    if (!input.has('paymentId') && !input.has('orderId')) {
      parts.store.settings.isRefundPending = isHeld
      return { isRefundPending: isHeld }
    }
    const payment = paymentOf(input, parts)
    payment.sim.isRefundPending = isHeld
    return told(payment, true, parts)
  },

  'POST complete-refund'(input, { store }) {
    const refund = refundOf(input, store.refunds)
    if (store.refunds.complete(refund.id)) return store.shown(refund)
    throw wrong(`the refund is ${refund.status}`)
  },

  'POST cancel-refund'(input, { store }) {
    const refund = refundOf(input, store.refunds)
    const reason = input.text('reason') ?? 'general_decline'
    if (store.refunds.cancel(refund.id, reason)) return store.shown(refund)
    throw wrong(`the refund is ${refund.status}`)
  },

  'POST receipt'(input, parts) {
    const decided = input.word('status', registrations) ?? 'succeeded'
    if (input.has('receiptId')) {
      const id = input.text('receiptId') ?? ''
      const receipt = parts.store.receipts.decideOne(id, decided)
      if (receipt === null) throw new BankError(404, `stand-in: no receipt ${id}`)
      return parts.store.receipts.shown(receipt)
    }
    const subject = subjectOf(input, parts)
    if (parts.store.receipts.decide(subject, decided)) return parts.store.shown(subject)
    throw wrong('there is no receipt')
  },

  'POST alter'(input, parts) {
    const subject = subjectOf(input, parts)
    alter(input, subject)
    return parts.store.shown(subject)
  },

  'POST forge'(input, parts) {
    const payment = namesPayment(input) ? paymentOf(input, parts) : null
    return forge(input, payment, parts)
  },

  'POST settings': (input, { store }) => changeSettings(input, store.settings),

  'POST faults'(input, { faults }) {
    const rules = rulesOf(input).map(readFaultRule)
    for (const rule of rules) faults.add(rule)
    return { faults: faults.list() }
  },
  'DELETE faults'(_input, { faults }) {
    faults.clear()
    return { faults: [] }
  },

  'POST modes'(input, { webhooks }) {
    const rules = rulesOf(input).map(readMode)
    for (const rule of rules) webhooks.modes.add(rule)
    return { modes: webhooks.modes.list() }
  },
  'DELETE modes'(_input, { webhooks }) {
    webhooks.modes.clear()
    return { modes: [] }
  },

  'POST reset': (_input, parts) => refresh(parts),
}

/** One rule, or a list of them. */
function rulesOf({ members }: Input): readonly unknown[] {
  return Array.isArray(members.list) ? members.list : [members]
}

const namesPayment = (input: Input) => input.has('paymentId') || input.has('orderId')

/** By its id, or the newest one of an order. */
function paymentOf(input: Input, { store }: Pick<Parts, 'store'>): Payment {
  const id = input.text('paymentId')
  const orderId = input.text('orderId')
  const found =
    id === undefined
      ? store.payments().findLast(({ metadata }) => metadata?.order_id === orderId)
      : store.payment(id)
  if (found !== undefined && (id !== undefined || orderId !== undefined)) return found
  throw new BankError(404, `stand-in: no payment ${id ?? orderId ?? ''}`)
}

function refundOf(input: Input, refunds: Parts['store']['refunds']): Refund {
  const id = input.text('refundId') ?? ''
  const refund = refunds.refund(id)
  if (refund !== undefined) return refund
  throw new BankError(404, `stand-in: no refund ${id}`)
}

function subjectOf(input: Input, parts: Parts): Payment | Refund {
  return input.has('refundId') ? refundOf(input, parts.store.refunds) : paymentOf(input, parts)
}

/** The merchant portal copies the payment's receipt, also where its credits were completed. */
function portalReceipt({ sim }: Payment, kopecks: bigint): ReceiptOrder | null {
  const [first] = sim.receipt?.items ?? []
  if (sim.receipt === null || first === undefined) return null
  return { ...sim.receipt, items: [{ ...first, quantity: 1, amount: amountOf(kopecks) }] }
}

function told(payment: Payment, isDone: boolean, { store }: Parts): object {
  if (isDone) return store.shown(payment)
  throw wrong(`not possible: the payment is ${payment.status}`)
}

function howOf(input: Input, payment: Payment, { store }: Parts): PaidHow {
  const type = input.word('method', methods) ?? store.methodsFor(payment.id)[0] ?? 'bank_card'
  if (type === 'sbp') return { type }
  const threeDSecure = input.flag('threeDSecure') ?? false
  // A card in the provider's format; missing fields are those of the usual test card.
  return { ...quickCard, card: { ...quickCard.card, ...input.object('card') }, threeDSecure }
}
