// What a snapshot means for an order: the state machine, as a pure function. It answers what to do
// and never does it. Two rules stand above the rest: money whose facts differ from the order's is
// never credited, and a credited order is never un-credited by a status.
import { cellOfOrder, isOrderId } from '../../platform/ids.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { Snapshot } from '../port.ts'
import type { Order } from './order.ts'

export type Rules = {
  readonly shopRef: string
  /** What money this deployment takes: real money, or a test shop's. */
  readonly takesTest: boolean
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
  /** The provider has it: keep its id and the way to pay it. */
  | { readonly act: 'open' }
  | { readonly act: 'credit' }
  | { readonly act: 'cancel' }
  /** A person decides. The order itself changes only while it is not credited. */
  | { readonly act: 'review'; readonly difference: Difference }

/** Whose money a succeeded payment is cannot be told from these alone: they need a person. */
const IDENTITY: ReadonlySet<DifferenceReason> = new Set([
  'provider',
  'payment_id',
  'order_reference',
])

type Known = Pick<
  Order,
  'id' | 'provider' | 'paymentId' | 'price' | 'state' | 'creditedAt' | 'confirmation'
>

export function decide(order: Known, snapshot: Snapshot, rules: Rules): Decision {
  const difference = differenceOf(order, snapshot, rules)
  if (difference !== undefined) return decideDifferent(order, snapshot, difference)
  if (order.creditedAt !== null) {
    const why = snapshot.status === 'succeeded' ? 'credited already' : 'never un-credited'
    return { act: 'nothing', why }
  }
  if (['review', 'refund_pending', 'refunded'].includes(order.state)) return decideHeld(snapshot)
  switch (snapshot.status) {
    case 'succeeded':
      // Also after our own expiry, a cancellation or a refused creation: the money is here.
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
 * A person has the order, for other money or for facts that differed a moment ago. This money is
 * in order, but whether it is owed is no longer ours to say.
 */
function decideHeld({ status, paymentId }: Snapshot): Decision {
  if (status !== 'succeeded') return { act: 'nothing', why: 'a person decides' }
  const detail = `${paymentId} was paid while the order was in review`
  return { act: 'review', difference: { reason: 'paid_in_review', detail } }
}

function decideOpen(order: Known): Decision {
  if (order.state === 'created' || order.state === 'failed') return { act: 'open' }
  // A notice that overtook the answer brought the id but not the way to pay.
  if (order.state === 'pending' && order.confirmation === null) return { act: 'open' }
  return { act: 'nothing', why: 'waiting for the payer' }
}

function decideDifferent(order: Known, snapshot: Snapshot, difference: Difference): Decision {
  const { status } = snapshot
  if (status === 'canceled') {
    // No money, so nothing to decide; but another payment's end is not this order's.
    const isOpen = ['created', 'pending', 'expired'].includes(order.state)
    if (isOpen && !IDENTITY.has(difference.reason)) return { act: 'cancel' }
    return { act: 'nothing', why: `canceled, and its ${difference.reason} differs` }
  }
  if (status !== 'succeeded' && (IDENTITY.has(difference.reason) || order.creditedAt !== null)) {
    return { act: 'nothing', why: `not paid, and its ${difference.reason} differs` }
  }
  return { act: 'review', difference }
}

/** The first fact that differs, in the order of how much it says. */
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
      snapshot.isTestMoney === rules.takesTest,
      String(rules.takesTest),
      String(snapshot.isTestMoney),
    ],
  ]
  const wrong = checks.find(([, isSame]) => !isSame)
  if (wrong === undefined) return undefined
  const [reason, , expected, found] = wrong
  return { reason, detail: `expected ${expected}, found ${found}` }
}

/** Whether a reference is an order of this cell: payments of others are none of our business. */
export function isOfCell(orderRef: string | null, cell: number): boolean {
  return orderRef !== null && isOrderId(orderRef) && cellOfOrder(orderRef) === cell
}
