// The state machine of orders as a pure function: from an order and a snapshot of its payment to
// what must be done. Two rules come first: a payment that differs from its order is never credited,
// and no payment status takes a credit back.
import { cellOfOrder, isOrderId } from '../../platform/ids.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { Snapshot } from '../port.ts'
import type { Order } from './order.ts'

export type Rules = {
  readonly shopRef: string
  /** Whether this deployment takes a test shop's money instead of real money. */
  readonly acceptsTestPayments: boolean
}

export type Difference = { readonly reason: DifferenceReason; readonly detail: string }

export const differenceReasons = [
  'provider',
  'payment_id',
  'order_reference',
  'shop',
  'amount_text',
  'amount',
  'currency',
  'test_flag',
  'paid_in_review',
] as const
export type DifferenceReason = (typeof differenceReasons)[number]

export type Decision =
  | { readonly act: 'nothing'; readonly why: string }
  /** The provider has the payment: store its id and confirmation. */
  | { readonly act: 'open' }
  | { readonly act: 'credit' }
  | { readonly act: 'cancel' }
  /** An operator decides. The state of an order that is credited already does not change. */
  | { readonly act: 'review'; readonly difference: Difference }

/** With one of these differences the payment may be another order's: it is ignored until paid. */
const IDENTITY: ReadonlySet<DifferenceReason> = new Set([
  'provider',
  'payment_id',
  'order_reference',
])

type DecidableOrder = Pick<
  Order,
  'id' | 'provider' | 'paymentId' | 'price' | 'state' | 'creditedAt' | 'confirmation'
>

export function decide(order: DecidableOrder, snapshot: Snapshot, rules: Rules): Decision {
  const difference = differenceOf(order, snapshot, rules)
  if (difference !== undefined) return decideDifferent(order, snapshot, difference)
  if (order.creditedAt !== null) {
    const why = snapshot.status === 'succeeded' ? 'credited already' : 'credits are not taken back'
    return { act: 'nothing', why }
  }
  if (['review', 'refund_pending', 'refunded'].includes(order.state))
    return decideInReview(snapshot)
  switch (snapshot.status) {
    case 'succeeded':
      // Also after our own expiry, a cancellation or a refused creation: the money has arrived.
      return { act: 'credit' }
    case 'canceled':
      return order.state === 'canceled'
        ? { act: 'nothing', why: 'canceled already' }
        : { act: 'cancel' }
    case 'pending':
    case 'authorized':
      return decideOpen(order)
  }
}

/**
 * An operator already has the order, because of another payment or of an earlier difference. This
 * payment matches, but the operator decides whether it is credited.
 */
function decideInReview({ status, paymentId }: Snapshot): Decision {
  if (status !== 'succeeded') return { act: 'nothing', why: 'a person decides' }
  const detail = `${paymentId} was paid while the order was in review`
  return { act: 'review', difference: { reason: 'paid_in_review', detail } }
}

function decideOpen(order: DecidableOrder): Decision {
  if (order.state === 'created' || order.state === 'failed') return { act: 'open' }
  // A notification arrived before the answer of `createPayment`: we have the id but no
  // confirmation.
  if (order.state === 'pending' && order.confirmation === null) return { act: 'open' }
  return { act: 'nothing', why: 'waiting for the payer' }
}

function decideDifferent(
  order: DecidableOrder,
  snapshot: Snapshot,
  difference: Difference,
): Decision {
  const { status } = snapshot
  if (status === 'canceled') {
    // No money arrived, so there is nothing to review. If it is another payment, its cancellation
    // must not cancel this order.
    const isOpen = ['created', 'pending', 'expired'].includes(order.state)
    if (isOpen && !IDENTITY.has(difference.reason)) return { act: 'cancel' }
    return { act: 'nothing', why: `canceled, and its ${difference.reason} differs` }
  }
  if (status !== 'succeeded' && (IDENTITY.has(difference.reason) || order.creditedAt !== null)) {
    return { act: 'nothing', why: `not paid, and its ${difference.reason} differs` }
  }
  return { act: 'review', difference }
}

/** The first fact that differs; the facts that identify the payment are compared first. */
export function differenceOf(
  order: Pick<Order, 'id' | 'provider' | 'paymentId' | 'price'>,
  snapshot: Snapshot,
  rules: Rules,
): Difference | undefined {
  const price = rublesText(order.price)
  const checks: [DifferenceReason, boolean, string, string][] = [
    ['provider', snapshot.provider === order.provider, order.provider, snapshot.provider],
    [
      'payment_id',
      order.paymentId === null || snapshot.paymentId === order.paymentId,
      order.paymentId ?? '',
      snapshot.paymentId,
    ],
    ['order_reference', snapshot.orderRef === order.id, order.id, snapshot.orderRef ?? 'none'],
    ['shop', snapshot.shopRef === rules.shopRef, rules.shopRef, snapshot.shopRef],
    ['amount_text', snapshot.amount !== null, price, snapshot.amountText],
    ['amount', snapshot.amount === order.price, price, snapshot.amountText],
    ['currency', snapshot.currency === 'RUB', 'RUB', snapshot.currency],
    [
      'test_flag',
      snapshot.isTestMoney === rules.acceptsTestPayments,
      String(rules.acceptsTestPayments),
      String(snapshot.isTestMoney),
    ],
  ]
  const wrong = checks.find(([, isSame]) => !isSame)
  if (wrong === undefined) return undefined
  const [reason, , expected, found] = wrong
  return { reason, detail: `expected ${expected}, found ${found}` }
}

/**
 * Whether a reference is an order id of this cell. Payments of other cells and other sites are
 * ignored.
 */
export function isOrderOfCell(orderRef: string | null, cell: number): boolean {
  return orderRef !== null && isOrderId(orderRef) && cellOfOrder(orderRef) === cell
}
