// The arithmetic of refunds, in whole kopecks and microcredits. Rounding never refunds more money
// than the credits are worth, and the refunds of one order add up to exactly its price.
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { OrderState } from '../order/order.ts'

type Sale = { readonly price: Kopecks; readonly credits: Credits }

/** The money promised back of a sale, and the credits taken or reserved for it. */
type ReturnedTotals = { readonly promised: Kopecks; readonly taken: Credits }

/**
 * What can be refunded: the price of everything that was not spent, rounded down to a kopeck, less
 * what was promised before. Computed from the total, because parts that are each rounded down would
 * leave the last kopecks with us.
 */
export function refundableAmount(
  sale: Sale,
  unspent: Credits,
  { promised, taken }: ReturnedTotals,
): Kopecks {
  const worth = (sale.price * (unspent + taken)) / sale.credits - promised
  const rest = sale.price - promised
  const least = worth < rest ? worth : rest
  return (least > 0n ? least : 0n) as Kopecks
}

/**
 * The credits that a partial refund reserves. The total is rounded up, so that no credit is
 * refunded twice, and all parts together take exactly the pack.
 */
export function creditsForAmount(
  sale: Sale,
  amount: Kopecks,
  { promised, taken }: ReturnedTotals,
): Credits {
  const total = (sale.credits * (promised + amount) + sale.price - 1n) / sale.price
  return (total > taken ? total - taken : 0n) as Credits
}

/**
 * The credits to take for refunds that were made in the provider's merchant portal: what all the
 * returned money bought, less what was taken before. Computed from the total, so that thirds add up
 * to the whole.
 */
export function creditsToTake(sale: Sale, goneTotal: Kopecks, taken: Credits): Credits {
  const gone = goneTotal < sale.price ? goneTotal : sale.price
  const due = (sale.credits * gone) / sale.price - taken
  return (due > 0n ? due : 0n) as Credits
}

/** The state of a credited order, from its refunds and disputes. */
export function stateAfter(order: {
  readonly price: Kopecks
  readonly refunded: Kopecks
  readonly hasRefundUnderWay: boolean
  readonly dispute: 'opened' | 'won' | 'lost' | null
}): OrderState {
  if (order.dispute === 'opened') return 'disputed'
  if (order.dispute === 'lost') return 'dispute_lost'
  if (order.hasRefundUnderWay) return 'refund_pending'
  if (order.refunded >= order.price) return 'refunded'
  if (order.refunded > 0n) return 'partially_refunded'
  return order.dispute === 'won' ? 'dispute_won' : 'credited'
}
