// How top-ups and mandates end. In the transaction that ends an order this saves the payer's card,
// e-mails the owner about a paid top-up, ends the mandate after a decline, and opens a review for a
// top-up that is neither paid nor canceled. It also ends a mandate for other reasons: a refund, a
// dispute, a deleted or replaced card, a changed pack, a closed account.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Credits } from '../../units/credits.ts'
import type { PaymentMetrics } from '../metrics.ts'
import type { Brand, Mailer } from '../order/emails.ts'
import type { Order } from '../order/order.ts'
import { reviewCloseOf, reviewOpen } from '../order/review-queries.ts'
import type { Locale, Snapshot } from '../port.ts'
import { type EmailedEndReason, topUpEmail } from './emails.ts'
import { topUpCancelUnsent } from './order-queries.ts'
import { type EndReason, mandateEnd, mandateFind, savedMethodUpsert } from './queries.ts'

/** The review's reason for a top-up that is neither paid nor canceled after more than a day. */
export const UNRESOLVED = 'top_up_unresolved'

export type Owner = {
  readonly email: string
  readonly language: Locale
  /** The zone in which e-mails state times; UTC without one. */
  readonly zone?: string | null
  readonly createdAt: Date
}

export type TopUpEndingOptions = {
  readonly ledger: Pick<Ledger, 'balance'>
  readonly mail: Mailer
  readonly brand: Brand
  readonly log: Log
  readonly metrics: Pick<PaymentMetrics, 'countReview'>
  /** The owner, for receipt and e-mails; undefined for a closed account. */
  ownerOf(book: BookId, tx?: Tx): Promise<Owner | undefined>
}

export function createTopUpEndings(options: TopUpEndingOptions) {
  const { ledger, mail, brand, log, metrics } = options

  /** Closes the review of an unresolved top-up; true if there was one. */
  function resolve(tx: Tx, order: Order, decision: 'credit' | 'dismiss'): Promise<boolean> {
    const { provider, paymentId } = order
    if (paymentId === null) return Promise.resolve(false)
    const how = { decision, by: 'the provider', note: 'the provider reported the final status' }
    return reviewCloseOf(tx, { provider, paymentId, reason: UNRESOLVED, ...how })
  }

  /** Ends the living mandate, if there is one, and returns its id. Cancels unsent orders. */
  async function end(tx: Tx, book: BookId, why: EndReason): Promise<bigint | undefined> {
    const ended = await mandateEnd(tx, book, why)
    await topUpCancelUnsent(tx, book)
    return ended
  }

  /**
   * Ends the living mandate for a reason that the owner may not expect, with an e-mail. Runs in the
   * caller's transaction, after the order's lock and before the ledger's.
   */
  async function endWithEmail(tx: Tx, book: BookId, why: EmailedEndReason): Promise<void> {
    const ended = await end(tx, book, why)
    if (ended === undefined) return
    log.info({ book, mandate: String(ended), why }, 'a mandate ended')
    const owner = await options.ownerOf(book, tx)
    if (owner === undefined) return
    const content = { kind: 'top-up-stopped', facts: { why } } as const
    await mail.post(tx, topUpEmail(content, addressOf(owner), brand, `mandate ${ended}`))
  }

  /**
   * The first decline ends the mandate of the order, so that the card is not charged in vain
   * repeatedly. A mandate that the owner gave since is another consent, maybe for another card.
   */
  async function onDeclined(tx: Tx, order: Order): Promise<void> {
    const ended = await mandateEnd(tx, order.book, 'declined', order.mandate)
    log.info({ order: order.id }, 'a top-up was declined')
    if (ended === undefined) return
    const content = { kind: 'top-up-declined', facts: { price: order.price } } as const
    await mail.post(tx, topUpEmail(content, order, brand, order.id))
  }

  return {
    /**
     * The payer agreed and the provider saved the method. A mandate for the previous card ends. For
     * a closed account nothing is saved: closing has deleted its card. Call it only with the credit
     * of the order: a repeat would end a mandate that was given since.
     */
    async onMethodSaved(tx: Tx, order: Order, { savedMethod, provider }: Snapshot): Promise<void> {
      if (savedMethod === null) return
      const { book, method } = order
      if ((await options.ownerOf(book, tx)) === undefined) return
      const { id: methodId, title } = savedMethod
      await savedMethodUpsert(tx, { book, provider, method, methodId, title })
      await endWithEmail(tx, book, 'card_replaced')
    },

    /** Every charge has its e-mail, whichever trigger reported the payment. */
    async onCredited(tx: Tx, order: Order): Promise<void> {
      const { price, credits, book, mandate } = order
      await resolve(tx, order, 'credit')
      const { title = '' } = (mandate !== null && (await mandateFind(tx, mandate))) || {}
      const before = await ledger.balance(book, tx)
      // The ledger's entry follows in this transaction; its lock must be the last.
      const balance = ((before?.available ?? 0n) + (before?.held ?? 0n) + credits) as Credits
      const content = {
        kind: 'top-up-credited',
        facts: { price, credits, title, balance },
      } as const
      await mail.post(tx, topUpEmail(content, order, brand, order.id))
    },

    onDeclined,
    end,
    endWithEmail,

    /**
     * The provider canceled the payment. That is a decline, unless a review was open because the
     * payment was unresolved for more than a day: then the mandate lives on.
     */
    async onCanceled(tx: Tx, order: Order): Promise<void> {
      if (!(await resolve(tx, order, 'dismiss'))) return onDeclined(tx, order)
      log.info({ order: order.id }, 'an unresolved top-up was canceled; its mandate lives on')
    },

    /**
     * It is unknown whether the top-up is paid, so no other is bought and a review is opened. The
     * order stays open: a late payment is credited. May be repeated.
     */
    async onUnresolved(tx: Tx, order: Order): Promise<void> {
      const { id, provider, paymentId, price: amount } = order
      if (paymentId === null || !['pending', 'expired'].includes(order.state)) return
      const { isNew } = await reviewOpen(tx, {
        ...{ order: id, provider, paymentId, reason: UNRESOLVED, amount, hasMoney: false },
        detail: 'a top-up is neither paid nor canceled at the provider; the next one waits for it',
      })
      if (!isNew) return
      const content = { kind: 'top-up-unresolved', facts: { price: amount } } as const
      await mail.post(tx, topUpEmail(content, order, brand, id))
      metrics.countReview(UNRESOLVED)
      log.error({ order: id, payment: paymentId }, 'a top-up is unresolved: a person must decide')
    },
  }
}

export type TopUpEndings = ReturnType<typeof createTopUpEndings>

export function addressOf({ email, language, zone }: Owner) {
  return { email, locale: language, zone: zone ?? null }
}
