// The states of an order sorted by what they mean to its owner.
import type { Order, OrderState } from '../../../src/cabinet/contract/contract.ts'
import type { BadgeTone } from '../../ui/parts.tsx'

type Meaning = {
  readonly tone: BadgeTone
  /** How far it came: 1 ordered, 2 payment under way, 3 credited. 0: it came to nothing. */
  readonly stage: 0 | 1 | 2 | 3
  /** News may come at any moment. */
  readonly isOpen?: true
  /** Nothing was bought: the same can be tried again. */
  readonly isOver?: true
  /** Some of it may be asked back. */
  readonly isRefundable?: true
}

export const meanings: Readonly<Record<OrderState, Meaning>> = {
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

/** Whether asking the provider can tell anything new. */
export function canCheck({ state }: Order): boolean {
  return meanings[state].isOpen === true || state === 'expired'
}
