// What the end of an order means for top-ups, in the transaction that ends it: a card that its
// payer left with us is kept, a top-up that was paid is told, one that was declined is the last.
// One that does not end is told as well, and a person sees to it. And what ends top-ups themselves:
// money that goes back, a dispute, a forgotten card, a pack that is not the one agreed to.
import type { Ledger } from '../../ledger/ledger.ts'
import { assert } from '../../platform/assert.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { PaymentMetrics } from '../metrics.ts'
import type { Brand, Mailer } from '../order/letters.ts'
import type { Order } from '../order/order.ts'
import { orderLock } from '../order/queries.ts'
import { reviewCloseOf, reviewOpen } from '../order/review-queries.ts'
import type { Locale, Snapshot } from '../port.ts'
import { type StopTold, topUpLetter } from './letters.ts'
import {
  methodKeep,
  type StandingWord,
  type StopReason,
  topUpCancelAbsent,
  topUpCancelUnsent,
  topUpLockOf,
  topUpMarkSent,
  topUpStop,
  topUpTakeAsSent,
} from './queries.ts'

/** The reason of a review: the provider has said for more than a day neither yes nor no. */
export const UNRESOLVED = 'top_up_unresolved'

/**
 * A post ends after 35 s, and a payment shows in the provider's list within the sweep's three
 * minutes. After an hour, one that is not there never was.
 */
const ABSENT_SECONDS = 3_600

export type TopUpEndingOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'balance'>
  readonly mail: Mailer
  readonly brand: Brand
  readonly log: Log
  readonly metrics: Pick<PaymentMetrics, 'reviewed'>
  /** Who is asked for the receipt and told; undefined for a closed account. */
  ownerOf(book: BookId, tx?: Tx): Promise<{ email: string; language: Locale } | undefined>
}

export function createTopUpEndings(options: TopUpEndingOptions) {
  const { db, ledger, mail, brand, log, metrics } = options

  /** True when it was unresolved until now; what a person would have decided is decided. */
  function resolve(tx: Tx, order: Order, decision: 'credit' | 'dismiss'): Promise<boolean> {
    const { provider, paymentId } = order
    if (paymentId === null) return Promise.resolve(false)
    const how = { decision, by: 'the provider', note: 'it was said in the end' }
    return reviewCloseOf(tx, { provider, paymentId, reason: UNRESOLVED, ...how })
  }

  /** Nothing is bought or sent from here on. When the agreement was given, if it was in force. */
  async function stop(tx: Tx, book: BookId, why: StopReason) {
    const stopped = await topUpStop(tx, book, why)
    await topUpCancelUnsent(tx, book)
    return stopped
  }

  /** Off at the first no of the bank: a card that is charged in vain again and again is worse. */
  async function declined(tx: Tx, order: Order): Promise<void> {
    await stop(tx, order.book, 'declined')
    const notice = { kind: 'top-up-declined', facts: { price: order.price } } as const
    await mail.post(tx, topUpLetter(notice, order, brand, order.id))
    log.info({ order: order.id }, 'a top-up was declined and is off')
  }

  return {
    /**
     * The payer agreed, and the provider keeps the method. A closed account keeps none:
     * closing has forgotten its card. May be repeated.
     */
    async saved(tx: Tx, order: Order, { savedMethod, provider }: Snapshot): Promise<void> {
      if (savedMethod === null) return
      const { book, method } = order
      if ((await options.ownerOf(book, tx)) === undefined) return
      const { id: methodId, title } = savedMethod
      await methodKeep(tx, { book, provider, method, methodId, title })
    },

    async credited(tx: Tx, order: Order): Promise<void> {
      const { price, credits } = order
      await resolve(tx, order, 'credit')
      const notice = { kind: 'top-up-credited', facts: { price, credits } } as const
      await mail.post(tx, topUpLetter(notice, order, brand, order.id))
    },

    declined,
    stop,

    /**
     * Ends it by something that its owner may not have had in mind, with a letter if it was on. In
     * the caller's transaction: before the ledger is asked, and after the order that is paid back.
     */
    async ended(tx: Tx, book: BookId, why: StopTold): Promise<void> {
      const stopped = await stop(tx, book, why)
      if (stopped === undefined) return
      log.info({ book, why }, 'a top-up has ended')
      const owner = await options.ownerOf(book, tx)
      if (owner === undefined) return
      const to = { email: owner.email, locale: owner.language }
      const once = `${book} ${stopped.givenAt.toISOString()}`
      await mail.post(tx, topUpLetter({ kind: 'top-up-stopped', facts: { why } }, to, brand, once))
    },

    /**
     * What may be done with an order whose turn to be sent has come: a purchase is sent always, a
     * top-up while the agreement that it was made by is in force and the balance wants it. Else one
     * that was never sent is canceled, and one that was is only looked for, because its card may
     * have been charged.
     */
    async maySend({ id, book, isTopUp }: Order): Promise<'send' | 'look' | 'over'> {
      if (!isTopUp) return 'send'
      return db.transaction(async (tx) => {
        if ((await orderLock(tx, id))?.state !== 'created') return 'over'
        const word = await topUpLockOf(tx, id)
        if (word !== undefined && isWanted(await ledger.balance(book, tx), word)) {
          await topUpMarkSent(tx, id)
          return 'send'
        }
        if (await topUpCancelUnsent(tx, book, id)) return 'over'
        await topUpTakeAsSent(tx, id)
        return 'look'
      })
    },

    /** Whether the agreement that a top-up was made by is in force. */
    isInForce: async ({ id }: Order): Promise<boolean> => (await topUpLockOf(db, id)) !== undefined,

    /** The provider does not have it. False while it may still turn up there. */
    absent: ({ id }: Order): Promise<boolean> => topUpCancelAbsent(db, id, ABSENT_SECONDS),

    /**
     * The provider says that it is over without money. Where that took more than a day it is the
     * end of a doubt and no decline: the next one may be bought.
     */
    async canceled(tx: Tx, order: Order): Promise<void> {
      if (!(await resolve(tx, order, 'dismiss'))) return declined(tx, order)
      log.info({ order: order.id }, 'an unresolved top-up is over; the next may come')
    },

    /**
     * Nobody knows whether it is paid, so nothing else is bought and a person is asked. The order
     * stays open: money that comes after all is credited. May be repeated.
     */
    async unresolved(tx: Tx, order: Order): Promise<void> {
      const { id, provider, paymentId, price: amount } = order
      if (paymentId === null || !['pending', 'expired'].includes(order.state)) return
      const { isNew } = await reviewOpen(tx, {
        ...{ order: id, provider, paymentId, reason: UNRESOLVED, amount, hasMoney: false },
        detail: 'a top-up is neither paid nor canceled at the provider; the next one waits for it',
      })
      if (!isNew) return
      const notice = { kind: 'top-up-unresolved', facts: { price: amount } } as const
      await mail.post(tx, topUpLetter(notice, order, brand, id))
      metrics.reviewed(UNRESOLVED)
      log.error({ order: id, payment: paymentId }, 'a top-up is unresolved: a person must decide')
    },
  }
}

export type TopUpEndings = ReturnType<typeof createTopUpEndings>

/** Below the threshold. Nobody wants credits for a stopped book, nor to pay a debt by surprise. */
export function isWanted(
  found: Awaited<ReturnType<Ledger['balance']>>,
  { threshold }: Pick<StandingWord, 'threshold'>,
): boolean {
  assert(found, 'a book of a top-up is there')
  return (
    found.available + found.held < threshold && found.blockedReason === null && found.debt <= 0n
  )
}
