// The provider's data, in memory: payments with their state changes, refunds, receipts. Listeners
// (the notices) get every change of status with the object as it was. Above a limit the oldest
// settled payments are deleted, so that a long run does not grow.
import type { Clock } from './clock.ts'
import { confirmationWord, digits, objectId, sbpOperationId } from './ids.ts'
import { createKeptMethods, type KeptMethod } from './kept-methods.ts'
import { amountOf, incomeOf } from './money.ts'
import type {
  Cancellation,
  Confirmation,
  EventName,
  MethodType,
  PaidHow,
  Payment,
  PaymentMethod,
  PaymentObject,
  ReceiptOrder,
  Refund,
} from './objects.ts'
import { createReceipts } from './receipts.ts'
import { createRefunds } from './refunds.ts'
import { kopecksLimits, type Settings } from './settings.ts'

/** A payment as the shop orders it, already validated. */
export type PaymentOrder = {
  amountKopecks: bigint
  isCapture: boolean
  method: MethodType | null
  confirmation: { type: Confirmation['type']; returnUrl: string | null; enforce?: boolean } | null
  locale: 'ru' | 'en'
  description?: string
  metadata?: Record<string, string>
  merchantCustomerId?: string
  /** The payer saves the method for later charges. */
  isKept: boolean
  /** A saved method pays, at once and without its payer. */
  keptMethodId?: string
  receipt: ReceiptOrder | null
}

export type Announcement = { event: EventName; subject: Payment | Refund; payment: Payment }

// About 3 KiB each with its refunds: a load test of hours stays under 300 MiB.
const paymentsMax = 100_000

export function createStore({ clock, settings }: { clock: Clock; settings: Settings }) {
  const payments = new Map<string, Payment>()
  const ordered: Payment[] = []
  /**
   * Cancels a term that no longer matters, so that the clock does not keep the payment in memory.
   */
  const terms = new Map<string, () => void>()
  const listeners: ((announcement: Announcement) => void)[] = []
  let sequence = 0
  let forgetAbove = paymentsMax

  const next = () => {
    sequence += 1
    return sequence
  }
  const timeOf = (ms: number) => new Date(ms).toISOString()
  const receipts = createReceipts({ clock, settings, max: paymentsMax })
  const keptMethods = createKeptMethods()

  function announce(announcement: Announcement): void {
    for (const listen of listeners) listen(announcement)
  }

  function change(payment: Payment, event: EventName, members: Partial<PaymentObject>): void {
    terms.get(payment.id)?.()
    terms.delete(payment.id)
    payment.sim.before = JSON.stringify(shown(payment))
    Object.assign(payment, members)
    announce({ event, subject: payment, payment })
  }

  function shown<Thing extends Payment | Refund>(thing: Thing): Omit<Thing, 'sim'> {
    const { sim, ...object } = thing
    const isNovel = settings.noveltyEvery > 0 && sim.sequence % settings.noveltyEvery === 0
    const novelty = isNovel ? { novelty: { since: '2027', kinds: ['unheard', 'of'] } } : {}
    return { ...object, ...novelty, ...sim.shown }
  }

  function methodsFor(payment: Payment): MethodType[] {
    const { amountKopecks, isCapture, method } = payment.sim
    return settings.methods.filter(
      (type) =>
        (method === null || method === type) &&
        // SBP takes the money at once: it cannot be held.
        (type !== 'sbp' || isCapture) &&
        amountKopecks >= kopecksLimits[type].min &&
        amountKopecks <= kopecksLimits[type].max,
    )
  }

  // Deletes a tenth at a time, and again only after as many new ones: scanning the whole list for
  // every payment would be quadratic. An open payment is never deleted.
  function forgetOldest(): void {
    if (ordered.length <= forgetAbove) return
    const settled = ordered.filter(({ status }) => status === 'succeeded' || status === 'canceled')
    const forgotten = new Set(settled.slice(0, paymentsMax / 10).map(({ id }) => id))
    const kept = ordered.filter(({ id }) => !forgotten.has(id))
    ordered.length = 0
    for (const payment of kept) ordered.push(payment)
    for (const id of forgotten) payments.delete(id)
    refunds.forget(forgotten)
    forgetAbove = Math.max(paymentsMax, ordered.length + paymentsMax / 10)
  }

  function create(order: PaymentOrder): Payment {
    const createdMs = clock.now()
    const id = objectId('payment', createdMs)
    const sbpLink = sbpLinkOf(settings.publicUrl, id, order.amountKopecks)
    const { description, metadata, merchantCustomerId, method } = order
    const payment: Payment = {
      id,
      status: 'pending',
      amount: amountOf(order.amountKopecks),
      ...(description === undefined ? {} : { description }),
      recipient: { account_id: settings.shopId, gateway_id: settings.gatewayId },
      ...(method === null ? {} : { payment_method: inactive(method, id) }),
      created_at: timeOf(createdMs),
      ...confirmationOf(order, { id, sbpLink, publicUrl: settings.publicUrl }),
      test: settings.isTest,
      paid: false,
      refundable: false,
      ...(order.receipt === null ? {} : { receipt_registration: 'pending' }),
      metadata: metadata ?? {},
      ...(merchantCustomerId === undefined ? {} : { merchant_customer_id: merchantCustomerId }),
      sim: {
        sequence: next(),
        createdMs,
        capturedMs: null,
        amountKopecks: order.amountKopecks,
        refundedKopecks: 0n,
        refundingKopecks: 0n,
        isCapture: order.isCapture,
        method,
        isKept: order.isKept,
        returnUrl: order.confirmation?.returnUrl ?? null,
        locale: order.locale,
        attempts: [],
        sbpLink,
        receipt: order.receipt,
        isRefundPending: null,
        before: null,
        shown: {},
      },
    }
    payments.set(id, payment)
    ordered.push(payment)
    forgetOldest()
    endAt(id, createdMs + settings.payerTermMs, 'expired_on_confirmation')
    const kept = order.keptMethodId === undefined ? undefined : keptMethods.one(order.keptMethodId)
    if (kept !== undefined) charge(payment, kept)
    return payment
  }

  function charge({ id }: Payment, kept: KeptMethod): void {
    if (kept.isSlow) return
    if (kept.decline === null) succeed(id, kept.how, kept.id)
    else cancel(id, { party: 'payment_network', reason: kept.decline })
  }

  function endAt(id: string, dueMs: number, reason: string): void {
    terms.set(
      id,
      clock.at(dueMs, () => cancel(id, { party: 'yoo_money', reason })),
    )
  }

  function succeed(id: string, how: PaidHow, keptId?: string): boolean {
    const payment = payments.get(id)
    if (payment?.status !== 'pending' || !methodsFor(payment).includes(how.type)) return false
    delete payment.confirmation
    const { isKept } = payment.sim
    if (isKept) keptMethods.keep(id, how)
    const payment_method = paidMethod(keptId ?? id, how)
    if (isKept || keptId !== undefined) {
      Object.assign(payment_method, { saved: true, status: 'active' })
    }
    const paid = { paid: true, payment_method }
    const authorization_details = authorizationOf(how)
    if (payment.sim.isCapture) {
      settle(payment, { ...paid, authorization_details }, payment.sim.amountKopecks)
      return true
    }
    const expiresMs = clock.now() + settings.captureTermMs
    change(payment, 'payment.waiting_for_capture', {
      ...paid,
      authorization_details,
      status: 'waiting_for_capture',
      expires_at: timeOf(expiresMs),
    })
    endAt(id, expiresMs, 'expired_on_capture')
    return true
  }

  function settle(payment: Payment, members: Partial<PaymentObject>, kopecks: bigint): void {
    const type = members.payment_method?.type ?? payment.payment_method?.type ?? 'bank_card'
    payment.sim.capturedMs = clock.now()
    payment.sim.amountKopecks = kopecks
    delete payment.expires_at
    const receipt_registration = receipts.register(payment)
    change(payment, 'payment.succeeded', {
      ...members,
      ...(receipt_registration === null ? {} : { receipt_registration }),
      status: 'succeeded',
      amount: amountOf(kopecks),
      income_amount: amountOf(incomeOf(kopecks, type)),
      captured_at: timeOf(payment.sim.capturedMs),
      refundable: true,
    })
  }

  function capture(id: string, kopecks?: bigint): boolean {
    const payment = payments.get(id)
    if (payment?.status !== 'waiting_for_capture') return false
    settle(payment, {}, kopecks ?? payment.sim.amountKopecks)
    return true
  }

  function cancel(id: string, cancellation_details: Cancellation): boolean {
    const payment = payments.get(id)
    if (payment === undefined) return false
    if (payment.status === 'succeeded' || payment.status === 'canceled') return false
    delete payment.confirmation
    delete payment.expires_at
    change(payment, 'payment.canceled', {
      status: 'canceled',
      paid: false,
      refundable: false,
      cancellation_details,
      ...(payment.sim.receipt === null ? {} : { receipt_registration: 'canceled' }),
    })
    return true
  }

  const refunds = createRefunds({
    clock,
    settings,
    next,
    receipts,
    shown,
    announce,
  })

  return {
    now: clock.now,
    settings,
    receipts,
    refunds,
    keptMethods,
    create,
    /** Paid by the payer: succeeded, or held when the shop captures later. False: not possible. */
    succeed,
    capture,
    /** Final, from pending or held. False: it was final already. */
    cancel,
    shown,

    payment: (id: string): Payment | undefined => payments.get(id),
    /** Oldest first. */
    payments: (): readonly Payment[] => ordered,

    /** Records a failed attempt; the payer may try again while the payment is pending. */
    declineAttempt(id: string, reason: string): boolean {
      const payment = payments.get(id)
      if (payment?.status !== 'pending') return false
      payment.sim.attempts.push({ atMs: clock.now(), reason })
      return true
    },

    /** Until the payer's term ends; 0 afterwards and for an unknown payment. */
    remainingMs(id: string): number {
      const payment = payments.get(id)
      if (payment === undefined) return 0
      return Math.max(0, payment.sim.createdMs + settings.payerTermMs - clock.now())
    },

    /** The methods a payer may choose for this payment. */
    methodsFor: (id: string): MethodType[] => {
      const payment = payments.get(id)
      return payment === undefined ? [] : methodsFor(payment)
    },

    listen(listener: (announcement: Announcement) => void): void {
      listeners.push(listener)
    },

    clear(): void {
      payments.clear()
      ordered.length = 0
      terms.clear()
      refunds.clear()
      receipts.clear()
      keptMethods.clear()
    },
  }
}

export type Store = ReturnType<typeof createStore>

// The format of the national system's links, at our own address so that a phone can open it.
function sbpLinkOf(publicUrl: string, id: string, kopecks: bigint): string {
  const parameters = `type=02&bank=100000000111&sum=${kopecks}&cur=RUB&crc=AB75`
  return `${publicUrl}/sbp/${id}?${parameters}`
}

function confirmationOf(
  { confirmation }: PaymentOrder,
  { id, sbpLink, publicUrl }: { id: string; sbpLink: string; publicUrl: string },
): { confirmation?: Confirmation } {
  if (confirmation === null) return {}
  const { type, returnUrl, enforce } = confirmation
  if (type === 'embedded') return { confirmation: { type, confirmation_token: confirmationWord() } }
  const return_url = returnUrl ?? ''
  if (type === 'qr') {
    const back = returnUrl === null ? {} : { return_url }
    return { confirmation: { type, confirmation_data: sbpLink, ...back } }
  }
  const forced = enforce === undefined ? {} : { enforce }
  const confirmation_url = `${publicUrl}/pay/${id}`
  return { confirmation: { type, confirmation_url, return_url, ...forced } }
}

function inactive(type: MethodType, id: string): PaymentMethod {
  return { type, id, saved: false, status: 'inactive' }
}

function paidMethod(id: string, how: PaidHow): PaymentMethod {
  if (how.type === 'sbp') {
    return {
      ...inactive('sbp', id),
      sbp_operation_id: sbpOperationId(),
      payer_bank_details: { bank_id: '100000000111', bic: '044525225' },
    }
  }
  const issuer = { issuer_country: 'RU', issuer_name: 'Stand-in Bank' }
  return {
    ...inactive('bank_card', id),
    title: `Bank card *${how.card.last4}`,
    card: { ...issuer, ...how.card },
  }
}

function authorizationOf(how: PaidHow): NonNullable<PaymentObject['authorization_details']> {
  const rrn = digits(12)
  if (how.type === 'sbp') return { rrn, three_d_secure: { applied: false } }
  return { rrn, auth_code: digits(6), three_d_secure: { applied: how.threeDSecure } }
}
