// How the states of an order are shown, and which actions they allow.
import type { Order, OrderState, OrderWithUnspent } from '../../../src/cabinet/contract/contract.ts'
import type { BadgeTone } from '../../ui/parts.tsx'

type OrderStateView = {
  readonly tone: BadgeTone
  /** 1 ordered, 2 being paid, 3 credited; 0 ended without a purchase. */
  readonly stage: 0 | 1 | 2 | 3
  /** The state may change at any moment. */
  readonly isOpen?: true
  /** Nothing was bought; the owner can try again. */
  readonly isOver?: true
  /** A refund may be possible. */
  readonly isRefundable?: true
}

export const orderStates: Readonly<Record<OrderState, OrderStateView>> = {
  created: { tone: 'note', stage: 1, isOpen: true },
  pending: { tone: 'warn', stage: 2, isOpen: true },
  failed: { tone: 'bad', stage: 0, isOver: true },
  canceled: { tone: 'bad', stage: 0, isOver: true },
  expired: { tone: 'note', stage: 0, isOver: true },
  review: { tone: 'warn', stage: 2 },
  credited: { tone: 'good', stage: 3, isRefundable: true },
  refund_pending: { tone: 'note', stage: 3 },
  partially_refunded: { tone: 'note', stage: 3, isRefundable: true },
  refunded: { tone: 'note', stage: 3 },
  disputed: { tone: 'warn', stage: 3 },
  dispute_won: { tone: 'good', stage: 3, isRefundable: true },
  dispute_lost: { tone: 'bad', stage: 3 },
}

/** Whether a check with the provider can bring a change. */
export function canCheck({ state }: Order): boolean {
  return orderStates[state].isOpen === true || state === 'expired'
}

/** A credited order of which nothing is left; `unspent` is null only until it is read again. */
export function isUsedUp({ unspent }: OrderWithUnspent): boolean {
  return unspent !== null && !/[1-9]/.test(unspent.exact)
}

/** Whether to offer a refund; the server decides how much. */
export function canRefund(order: OrderWithUnspent): boolean {
  return orderStates[order.state].isRefundable === true && !isUsedUp(order)
}

/** The words for the state: a purchase whose credits are spent is not called credited. */
export function stateWords(order: OrderWithUnspent): OrderState | 'spent' {
  const isOnBalance = order.state === 'credited' || order.state === 'dispute_won'
  return isOnBalance && isUsedUp(order) ? 'spent' : order.state
}
