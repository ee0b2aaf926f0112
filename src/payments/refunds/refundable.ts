// What can be given back of an order: the unspent part of its pack, as the refund policy allows.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { backOf, type Locked } from './apply.ts'
import { worthOf } from './sums.ts'

export type RefundPolicy = 'prorata' | 'full' | 'none'

export type Refundable = {
  readonly amountKopecks: Kopecks
  readonly credits: Credits
  /** Why nothing can be given back; null when something can. */
  readonly why: 'not_credited' | 'disputed' | 'policy' | 'spent' | null
}

export type RefundableOptions = {
  readonly ledger: Pick<Ledger, 'lots' | 'balance'>
  readonly policy: RefundPolicy
}

/** What can be given back now. An operator is not bound by the policy. */
export async function countRefundable(
  whole: Locked,
  isOwner: boolean,
  { ledger, policy }: RefundableOptions,
): Promise<Refundable> {
  const nothing = (why: Refundable['why']): Refundable => ({
    amountKopecks: 0n as Kopecks,
    credits: 0n as Credits,
    why,
  })
  const { order, disputes } = whole
  if (order.creditedAt === null) return nothing('not_credited')
  if (disputes.some((one) => one.state !== 'won')) return nothing('disputed')
  if (isOwner && policy === 'none') return nothing('policy')
  const [lots, book] = [await ledger.lots(order.book), await ledger.balance(order.book)]
  const lot = lots.find(({ seq }) => seq === order.lot)
  const unspent = smaller(lot?.unspent ?? 0n, book?.available ?? 0n)
  // The whole pack or nothing: a pack that was opened is not taken back.
  if (isOwner && policy === 'full' && unspent < order.credits) return nothing('policy')
  const amountKopecks = worthOf(order, unspent, backOf(whole))
  return amountKopecks === 0n ? nothing('spent') : { amountKopecks, credits: unspent, why: null }
}

function smaller(a: bigint, b: bigint): Credits {
  return (a < b ? a : b) as Credits
}
