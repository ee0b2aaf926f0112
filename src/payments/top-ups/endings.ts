// How top-ups end. In the transaction that ends an order this saves the payer's card, e-mails the
// owner about a paid top-up, stops top-ups after a decline, and opens a review for a top-up that is
// neither paid nor canceled. It also stops top-ups for other reasons: a refund, a dispute, a
// deleted card, a changed pack. And it decides whether a top-up that is due may still be sent.
import type { Ledger } from '../../ledger/ledger.ts'
import { assert } from '../../platform/assert.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { PaymentMetrics } from '../metrics.ts'
import type { Brand, Mailer } from '../order/emails.ts'
import type { Order } from '../order/order.ts'
import { orderLock } from '../order/queries.ts'
import { reviewCloseOf, reviewOpen } from '../order/review-queries.ts'
import type { Locale, Snapshot } from '../port.ts'
import { type EmailedStopReason, topUpEmail } from './emails.ts'
import {
  type StopReason,
  savedMethodUpsert,
  type TopUpAgreement,
  topUpAssumeSent,
  topUpCancelAbsent,
  topUpCancelUnsent,
  topUpLockForOrder,
  topUpMarkSent,
  topUpStop,
} from './queries.ts'

/** The review's reason for a top-up that is neither paid nor canceled after more than a day. */
export const UNRESOLVED = 'top_up_unresolved'

/**
 * A post takes at most 35 s, and a payment appears in the provider's list within three minutes
 * (`OVERLAP_MS` in sweep.ts). A payment that is not there after an hour was never created.
 */
const ABSENT_SECONDS = 3_600

export type TopUpEndingOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'balance'>
  readonly mail: Mailer
  readonly brand: Brand
  readonly log: Log
  readonly metrics: Pick<PaymentMetrics, 'countReview'>
  /** The owner, for receipt and e-mails; undefined for a closed account. */
  ownerOf(book: BookId, tx?: Tx): Promise<{ email: string; language: Locale } | undefined>
}

export function createTopUpEndings(options: TopUpEndingOptions) {
  const { db, ledger, mail, brand, log, metrics } = options

  /** Closes the review of an unresolved top-up; true if there was one. */
  function resolve(tx: Tx, order: Order, decision: 'credit' | 'dismiss'): Promise<boolean> {
    const { provider, paymentId } = order
    if (paymentId === null) return Promise.resolve(false)
    const how = { decision, by: 'the provider', note: 'the provider reported the final status' }
    return reviewCloseOf(tx, { provider, paymentId, reason: UNRESOLVED, ...how })
  }

  /**
   * Ends the agreement, if one is in force, and returns when it was given. Cancels unsent orders.
   */
  async function stop(tx: Tx, book: BookId, why: StopReason) {
    const stopped = await topUpStop(tx, book, why)
    await topUpCancelUnsent(tx, book)
    return stopped
  }

  /** The first decline switches top-ups off, so that the card is not charged in vain repeatedly. */
  async function onDeclined(tx: Tx, order: Order): Promise<void> {
    await stop(tx, order.book, 'declined')
    const content = { kind: 'top-up-declined', facts: { price: order.price } } as const
    await mail.post(tx, topUpEmail(content, order, brand, order.id))
    log.info({ order: order.id }, 'a top-up was declined; top-ups are now off')
  }

  return {
    /**
     * The payer agreed and the provider saved the method. For a closed account nothing is saved:
     * closing has deleted its card. May be repeated.
     */
    async onMethodSaved(tx: Tx, order: Order, { savedMethod, provider }: Snapshot): Promise<void> {
      if (savedMethod === null) return
      const { book, method } = order
      if ((await options.ownerOf(book, tx)) === undefined) return
      const { id: methodId, title } = savedMethod
      await savedMethodUpsert(tx, { book, provider, method, methodId, title })
    },

    async onCredited(tx: Tx, order: Order): Promise<void> {
      const { price, credits } = order
      await resolve(tx, order, 'credit')
      const content = { kind: 'top-up-credited', facts: { price, credits } } as const
      await mail.post(tx, topUpEmail(content, order, brand, order.id))
    },

    onDeclined,
    stop,

    /**
     * Stops top-ups for a reason that the owner may not expect, with an e-mail if they were on.
     * Runs in the caller's transaction, after the order's lock and before the ledger's.
     */
    async stopWithEmail(tx: Tx, book: BookId, why: EmailedStopReason): Promise<void> {
      const stopped = await stop(tx, book, why)
      if (stopped === undefined) return
      log.info({ book, why }, 'top-ups were stopped')
      const owner = await options.ownerOf(book, tx)
      if (owner === undefined) return
      const to = { email: owner.email, locale: owner.language }
      const once = `${book} ${stopped.givenAt.toISOString()}`
      await mail.post(tx, topUpEmail({ kind: 'top-up-stopped', facts: { why } }, to, brand, once))
    },

    /**
     * Decides about an order that is due to be sent. A purchase is always sent; a top-up only while
     * its agreement is in force and the balance needs it. Otherwise a top-up that was never sent is
     * canceled (`skip`), and one that was sent is looked up at the provider (`find`), because the
     * card may have been charged.
     */
    async maySend({ id, book, isTopUp }: Order): Promise<'send' | 'find' | 'skip'> {
      if (!isTopUp) return 'send'
      return db.transaction(async (tx) => {
        if ((await orderLock(tx, id))?.state !== 'created') return 'skip'
        const agreement = await topUpLockForOrder(tx, id)
        if (agreement !== undefined && needsTopUp(await ledger.balance(book, tx), agreement)) {
          await topUpMarkSent(tx, id)
          return 'send'
        }
        if (await topUpCancelUnsent(tx, book, id)) return 'skip'
        await topUpAssumeSent(tx, id)
        return 'find'
      })
    },

    /** Whether the agreement that a top-up was created under is in force. */
    isInForce: async ({ id }: Order): Promise<boolean> =>
      (await topUpLockForOrder(db, id)) !== undefined,

    /** Cancels a top-up that the provider does not have; false while it may still appear there. */
    cancelIfAbsent: ({ id }: Order): Promise<boolean> => topUpCancelAbsent(db, id, ABSENT_SECONDS),

    /**
     * The provider canceled the payment. That is a decline, unless a review was open because the
     * payment was unresolved for more than a day: then top-ups stay on.
     */
    async onCanceled(tx: Tx, order: Order): Promise<void> {
      if (!(await resolve(tx, order, 'dismiss'))) return onDeclined(tx, order)
      log.info({ order: order.id }, 'an unresolved top-up was canceled; top-ups stay on')
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

/**
 * True if the balance is below the threshold and the book is neither stopped nor in debt: a top-up
 * must not pay a debt unasked.
 */
export function needsTopUp(
  found: Awaited<ReturnType<Ledger['balance']>>,
  { threshold }: Pick<TopUpAgreement, 'threshold'>,
): boolean {
  assert(found, 'the book of a top-up exists')
  return (
    found.available + found.held < threshold && found.blockedReason === null && found.debt <= 0n
  )
}
