// After the database was restored to an earlier moment: payments since then that it does not show.
// The payment itself says what was sold to which book, so an order that was lost is written again
// and credited like any other; an order that is there is checked at the provider. What cannot be
// told for certain becomes a review, which a person decides.
import type { Db } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Owner } from '../mandates/endings.ts'
import { isOrderOfCell } from '../order/decide.ts'
import type { Locale, Provider, Snapshot } from '../port.ts'
import { whyOf } from '../port.ts'
import type { Providers } from '../providers.ts'
import type { Mismatch } from '../watch/compare.ts'
import type { Reconciled } from '../watch/reconcile.ts'
import type { TieOptions } from '../watch/ties.ts'
import { orderInsertLost } from './queries.ts'
import type { Reread } from './reread.ts'

export type LostOrderOptions = {
  readonly db: Db
  readonly log: Log
  readonly cell: number
  readonly providers: Pick<Providers, 'values'>
  readonly reread: Reread
  readonly reconcile: (p: { readonly from: Date; readonly to: Date }) => Promise<Reconciled[]>
  ownerOf(book: BookId): Promise<Pick<Owner, 'email' | 'language' | 'createdAt'> | undefined>
} & Pick<TieOptions, 'packSold'>

/** A payment that is not credited here, or a refund that is not recorded. */
export type LostPayment = Mismatch & { readonly shop: string }

export type LostPayments = {
  readonly payments: readonly LostPayment[]
  /** Why a shop's list could not be read. */
  readonly unread: readonly string[]
}

export function createLostOrders(options: LostOrderOptions) {
  const { db, log, cell, reread } = options

  async function list(p: { readonly from: Date; readonly to: Date }): Promise<LostPayments> {
    const all = await options.reconcile(p)
    const payments = all.flatMap(({ shop, mismatches }) =>
      mismatches.filter(isLost).map((one) => ({ ...one, shop })),
    )
    const unread = all.flatMap(({ provider, shop, why }) =>
      why === null ? [] : [`${provider} ${shop}: ${why}`],
    )
    return { payments, unread }
  }

  /** Other sites may use the same shop; what an operator has as a review is known. */
  function isLost({ what, orderRef, isReviewed }: Mismatch): boolean {
    if (isReviewed) return false
    if (what === 'order_unknown') return isOrderOfCell(orderRef, cell)
    return what === 'not_credited' || what === 'refunded'
  }

  function shopOf({ provider, shop }: LostPayment): Provider | undefined {
    return options.providers.values().find((one) => one.name === provider && one.shopRef === shop)
  }

  /** Writes the order as it was sold, unless the payment does not say for certain what was sold. */
  async function writeAgain(snapshot: Snapshot, provider: Provider): Promise<string | null> {
    const { sale, orderRef, amount, paymentId } = snapshot
    if (sale === undefined || amount === null) return null
    const owner = await options.ownerOf(sale.book)
    const pack = await options.packSold(sale.catalogueVersion, sale.packId)
    if (pack === undefined) return `catalogue ${sale.catalogueVersion} or its pack is not there`
    if (owner === undefined || pack.priceKopecks !== amount) return null
    // The buyer's account is lost, and a later one got its number.
    if (owner.createdAt > snapshot.createdAt) return null
    await orderInsertLost(db, {
      ...{ id: orderRef as OrderId, book: sale.book, attempt: `restored ${paymentId}` },
      ...{ provider: provider.name, shop: provider.shopRef },
      method: snapshot.payer.card === null ? 'sbp' : 'card',
      ...{ packId: sale.packId, packTitle: pack.title ?? sale.packId, credits: pack.credits },
      ...{ price: amount, catalogueVersion: sale.catalogueVersion, email: owner.email },
      locale: owner.language as Locale,
      isTopUp: sale.isTopUp,
    })
    log.info({ order: orderRef, payment: paymentId }, 'an order that was lost is written again')
    return null
  }

  return {
    list,

    /** Repeatable. Returns why it was not possible; null when it was, or a person decides. */
    async restore(payment: LostPayment): Promise<string | null> {
      const provider = shopOf(payment)
      if (provider === undefined) return 'no such shop'
      const answer = await provider.fetchPayment(payment.paymentId)
      if (answer.kind !== 'ok') return whyOf(answer)
      if (payment.what === 'order_unknown') {
        const why = await writeAgain(answer.value, provider)
        if (why !== null) return why
      }
      // Without its order, the payment becomes a review.
      await reread.applyWithRefunds(provider, answer.value, 'operator')
      return null
    },
  }
}

export type LostOrders = ReturnType<typeof createLostOrders>
