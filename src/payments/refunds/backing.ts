// Whether a refund may be posted: its credits were taken in the ledger, and its stored bytes return
// what its row says. A thief of a program's database password can insert a refund, but cannot post
// to the ledger without taking credits. The provider pays at once, so this is asked right before
// each post; watch/refund-ties.ts finds what was changed afterwards.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Order } from '../order/order.ts'
import { orderFind, orderFindByPayment } from '../order/queries.ts'
import type { Provider } from '../port.ts'
import { ROUNDING_KOPECKS } from '../watch/refund-ties.ts'
import type { Refund } from './queries.ts'

export type BackingOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'postings'>
}

/** Why the refund must not be posted; null if it may. Reads without a lock. */
export async function unbackedWhy(
  refund: Refund,
  provider: Provider,
  options: BackingOptions,
): Promise<string | null> {
  const { paymentId, amount, requestBody } = refund
  if (requestBody === null || !provider.isRefundDraftOf(requestBody, { paymentId, amount }))
    return 'its request is not for the amount and payment of its row'
  const paid = { provider: refund.provider, paymentId, orderRef: null }
  const credited = await orderFindByPayment(options.db, paid)
  if (credited === undefined || credited.creditedAt === null) {
    const order = await orderFind(options.db, refund.order)
    // A review's refund returns money that was never credited.
    return order !== undefined && refund.review !== null ? null : 'nothing was sold for its payment'
  }
  if (credited.id !== refund.order) return `its payment paid for ${credited.id}`
  if (refund.review !== null) return 'its payment was credited'
  return unpostedWhy(refund, credited, options)
}

async function unpostedWhy(
  { id, credits, amount }: Refund,
  order: Order,
  { ledger: { postings } }: BackingOptions,
): Promise<string | null> {
  const [posted] = await postings.find('refund', [id])
  const reversed = await postings.find('refund_reversal', [id])
  const isTaken = posted?.book === order.book && posted.amount === -credits && credits > 0n
  if (!isTaken || reversed.length > 0) return 'the ledger has not taken its credits'
  const isWorth = (amount - ROUNDING_KOPECKS) * order.credits <= order.price * credits
  return isWorth ? null : 'its credits are worth less'
}
