// Refunds of one payment never exceed its sum: a pending refund already takes its share of the
// remainder. The provider sends a notice only for a success, none for a canceled refund.
import type { Clock } from './clock.ts'
import { digits, objectId, sbpOperationId } from './ids.ts'
import { amountOf } from './money.ts'
import type { Payment, ReceiptOrder, Refund } from './objects.ts'
import type { Receipts } from './receipts.ts'
import type { Settings } from './settings.ts'

export type RefundOrder = {
  payment: Payment
  kopecks: bigint
  description?: string
  metadata?: Record<string, string>
  receipt: ReceiptOrder | null
  /** Overrides what the payment or the shop's setting would decide. */
  isPending?: boolean
}

type Options = {
  clock: Clock
  settings: Settings
  receipts: Receipts
  next: () => number
  shown: (refund: Refund) => object
  announce: (news: { event: 'refund.succeeded'; subject: Refund; payment: Payment }) => void
}

export function createRefunds({ clock, settings, receipts, next, shown, announce }: Options) {
  const refunds = new Map<string, Refund>()
  const ordered: Refund[] = []
  const payments = new Map<string, Payment>()

  function settle(refund: Refund, payment: Payment): void {
    refund.sim.before = JSON.stringify(shown(refund))
    const { amountKopecks } = refund.sim
    payment.sim.refundingKopecks -= amountKopecks
    payment.sim.refundedKopecks += amountKopecks
    payment.refunded_amount = amountOf(payment.sim.refundedKopecks)
    payment.refundable = payment.sim.refundedKopecks < payment.sim.amountKopecks
    const registration = receipts.register(refund)
    if (registration !== null) refund.receipt_registration = registration
    refund.status = 'succeeded'
    if (payment.payment_method?.type === 'sbp') {
      refund.refund_method = { type: 'sbp', sbp_operation_id: sbpOperationId() }
    } else {
      refund.refund_method = { type: 'bank_card' }
      refund.refund_authorization_details = { rrn: digits(12) }
    }
    announce({ event: 'refund.succeeded', subject: refund, payment })
  }

  function open(id: string): { refund: Refund; payment: Payment } | null {
    const refund = refunds.get(id)
    const payment = payments.get(refund?.payment_id ?? '')
    if (refund?.status !== 'pending' || payment === undefined) return null
    return { refund, payment }
  }

  return {
    /** What may still be returned to the payer. */
    remainderOf: ({ sim }: Payment): bigint =>
      sim.amountKopecks - sim.refundedKopecks - sim.refundingKopecks,

    /** The caller has checked the remainder. */
    create({ payment, kopecks, description, metadata, receipt, isPending }: RefundOrder): Refund {
      const createdMs = clock.now()
      const refund: Refund = {
        id: objectId('refund', createdMs),
        payment_id: payment.id,
        status: 'pending',
        created_at: new Date(createdMs).toISOString(),
        amount: amountOf(kopecks),
        ...(description === undefined ? {} : { description }),
        ...(metadata === undefined ? {} : { metadata }),
        ...(receipt === null ? {} : { receipt_registration: 'pending' }),
        sim: {
          sequence: next(),
          createdMs,
          amountKopecks: kopecks,
          receipt,
          before: null,
          shown: {},
        },
      }
      refunds.set(refund.id, refund)
      ordered.push(refund)
      payments.set(payment.id, payment)
      payment.sim.refundingKopecks += kopecks
      const isHeld = isPending ?? payment.sim.isRefundPending ?? settings.isRefundPending
      if (!isHeld) settle(refund, payment)
      return refund
    },

    /** The money was sent; false when the refund is not pending. */
    complete(id: string): boolean {
      const found = open(id)
      if (found !== null) settle(found.refund, found.payment)
      return found !== null
    },

    /** The bank refused it; false when the refund is not pending. */
    cancel(id: string, reason: string): boolean {
      const found = open(id)
      if (found === null) return false
      const { refund, payment } = found
      payment.sim.refundingKopecks -= refund.sim.amountKopecks
      refund.status = 'canceled'
      refund.cancellation_details = { party: 'yoo_money', reason }
      if (refund.sim.receipt !== null) refund.receipt_registration = 'canceled'
      return true
    },

    refund: (id: string): Refund | undefined => refunds.get(id),
    /** Oldest first. */
    all: (): readonly Refund[] => ordered,

    /** Deletes the refunds of a payment that is itself deleted. */
    forget(paymentIds: ReadonlySet<string>): void {
      const kept = ordered.filter((refund) => !paymentIds.has(refund.payment_id))
      if (kept.length === ordered.length) return
      for (const refund of ordered) {
        if (paymentIds.has(refund.payment_id)) refunds.delete(refund.id)
      }
      for (const id of paymentIds) payments.delete(id)
      ordered.length = 0
      for (const refund of kept) ordered.push(refund)
    },

    clear(): void {
      refunds.clear()
      payments.clear()
      ordered.length = 0
    },
  }
}

export type Refunds = ReturnType<typeof createRefunds>
