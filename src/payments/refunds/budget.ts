// The budget of refunds that owners may request themselves. Each refund costs us the provider's
// commission of the sale, so above the budget a person decides. A purchase that opened a promo code
// is left to a person too: otherwise the code would be free.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Digests } from '../digests.ts'
import type { Order } from '../order/order.ts'
import { orderOpenedPromo, refundBudgetLock, refundCountRequested } from './budget-queries.ts'

export const BUDGET_DAYS = 30

export type RefundBudgetOptions = {
  /** How many refunds an owner may request within thirty days. */
  readonly refundsPerMonth: number
  readonly digests: Pick<Digests, 'address'>
}

/** Why an owner's refund needs a person; null when it does not. */
export type NeedsSupport = 'budget' | 'promo' | null

export function createRefundBudget({ refundsPerMonth, digests }: RefundBudgetOptions) {
  async function left(db: Executor, owner: { book: BookId; email: string }): Promise<number> {
    const { book, email } = owner
    const used = await refundCountRequested(
      db,
      { book, digest: digests.address(email) },
      BUDGET_DAYS,
    )
    return Math.max(0, refundsPerMonth - used)
  }

  return {
    refundsPerMonth,
    left,
    digestOf: ({ email }: Pick<Order, 'email'>): Buffer => digests.address(email),

    /** In a transaction that will insert the refund, after `lock` and the order's lock. */
    async needsSupport(db: Executor, order: Order): Promise<NeedsSupport> {
      if (await orderOpenedPromo(db, order.id)) return 'promo'
      return (await left(db, order)) === 0 ? 'budget' : null
    },

    lock: (tx: Tx, { book, email }: Order): Promise<void> =>
      refundBudgetLock(tx, { book, digest: digests.address(email) }),
  }
}
