// Computes what can be refunded of an order: the unspent part of its pack, if the policy allows.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { type Purchase, returnedTotals } from './purchase.ts'
import { refundableAmount } from './sums.ts'

export type RefundPolicy = 'prorata' | 'full' | 'none'

export type Refundable = {
  readonly amountKopecks: Kopecks
  readonly credits: Credits
  /**
   * Why nothing can be refunded; null when something can. `refunded`: a part was refunded, and
   * nothing of the rest is left. `budget` and `promo`: the owner cannot request it, but a person
   * may decide to refund it.
   */
  readonly why:
    | 'not_credited'
    | 'disputed'
    | 'policy'
    | 'spent'
    | 'refunded'
    | 'budget'
    | 'promo'
    | null
}

export type RefundableOptions = {
  readonly ledger: Pick<Ledger, 'lots' | 'balance'>
  readonly policy: RefundPolicy
}

const nothing = (why: Refundable['why']): Refundable => ({
  amountKopecks: 0n as Kopecks,
  credits: 0n as Credits,
  why,
})

/** What can be refunded now. The policy does not apply to operators. */
export async function countRefundable(
  purchase: Purchase,
  isOwner: boolean,
  options: RefundableOptions,
): Promise<Refundable> {
  const isDisputed = purchase.disputes.some((one) => one.state !== 'won')
  if (isDisputed && purchase.order.creditedAt !== null) return nothing('disputed')
  return countUndisputed(purchase, isOwner, options)
}

/** The same beside disputes: what an open one may still take counts as returned. */
export async function countUndisputed(
  purchase: Purchase,
  isOwner: boolean,
  { ledger, policy }: RefundableOptions,
): Promise<Refundable> {
  const { order, disputes } = purchase
  if (order.creditedAt === null) return nothing('not_credited')
  if (isOwner && policy === 'none') return nothing('policy')
  const [lots, book] = [await ledger.lots(order.book), await ledger.balance(order.book)]
  const lot = lots.find(({ seq }) => seq === order.lot)
  const unspent = smaller(lot?.unspent ?? 0n, book?.available ?? 0n)
  // Policy `full`: a pack is refunded only if none of its credits were spent.
  const { taken, promised } = returnedTotals(purchase)
  const open = disputes.filter((one) => one.state === 'opened')
  const atBank = open.reduce((sum, { amount }) => sum + amount, 0n)
  const returned = { taken, promised: (promised + atBank) as Kopecks }
  if (isOwner && policy === 'full' && returned.promised < order.price && unspent < order.credits) {
    return nothing('policy')
  }
  const amountKopecks = refundableAmount(order, unspent, returned)
  if (amountKopecks === 0n) return nothing(returned.promised > 0n ? 'refunded' : 'spent')
  return { amountKopecks, credits: unspent, why: null }
}

function smaller(a: bigint, b: bigint): Credits {
  return (a < b ? a : b) as Credits
}
