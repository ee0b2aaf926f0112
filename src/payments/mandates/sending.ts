// The one place that decides whether a top-up is sent to the provider. It is asked right before
// each post, also of an order that was made hours ago, and answers under the locks of the order and
// of its mandate.
import type { Ledger } from '../../ledger/ledger.ts'
import { assert } from '../../platform/assert.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BuyInput, Order } from '../order/order.ts'
import { orderLock } from '../order/queries.ts'
import type { TopUpEndings } from './endings.ts'
import {
  topUpAssumeSent,
  topUpCancelAbsent,
  topUpCancelUnsent,
  topUpMarkSent,
  topUpSum,
} from './order-queries.ts'
import { type Mandate, mandateLockForOrder, savedMethodFind } from './queries.ts'

/**
 * A post takes at most 35 s, and a payment appears in the provider's list within three minutes
 * (`OVERLAP_MS` in sweep.ts). A payment that is not there after an hour was never created.
 */
const ABSENT_SECONDS = 3_600

export type SendingOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'balance'>
  readonly topUpEndings: Pick<TopUpEndings, 'endWithEmail'>
  /** Top-ups are charged only if both are true: top-ups are offered, and sales are open. */
  readonly hasTopUps: boolean
  readonly isOpen: boolean
  /** The pack as it is sold now; undefined when it is not sold. */
  packOf(id: string): BuyInput['pack'] | undefined
}

export function createTopUpSending(options: SendingOptions) {
  const { db, ledger, topUpEndings } = options

  /** Whether the mandate that the order names lives and allows this charge now. */
  async function isAllowed(
    tx: Tx,
    { id, book, price }: Order,
    card: string | null,
  ): Promise<boolean> {
    const mandate = await mandateLockForOrder(tx, id)
    if (mandate === undefined || !options.hasTopUps || !options.isOpen) return false
    if (!isSoldFor(options.packOf(mandate.packId), mandate)) {
      await topUpEndings.endWithEmail(tx, book, 'pack_changed')
      return false
    }
    const { daySpent, monthSpent } = await topUpSum(tx, book, id)
    return (
      mandate.hasCard &&
      (await savedMethodFind(tx, book))?.methodId === card &&
      daySpent + price <= mandate.dayCeiling &&
      monthSpent + price <= mandate.monthCeiling &&
      needsTopUp(await ledger.balance(book, tx), mandate)
    )
  }

  return {
    /**
     * Decides about an order that is due to be sent. A purchase is always sent; a top-up only while
     * its mandate lives, its card and pack are unchanged, the ceilings leave room and the balance
     * needs it. Otherwise a top-up that was never sent is canceled (`skip`), and one that was sent
     * is looked up at the provider (`find`), because the card may have been charged. `card`: what
     * the order's request charges, which must be the card of the mandate.
     */
    async maySend(
      { id, book, isTopUp }: Order,
      card: string | null,
    ): Promise<'send' | 'find' | 'skip'> {
      if (!isTopUp) return 'send'
      return db.transaction(async (tx) => {
        const order = await orderLock(tx, id)
        if (order?.state !== 'created') return 'skip'
        if (await isAllowed(tx, order, card)) {
          await topUpMarkSent(tx, id)
          return 'send'
        }
        if (await topUpCancelUnsent(tx, book, id)) return 'skip'
        if (order.mandate === null) await topUpAssumeSent(tx, id)
        return (await orderLock(tx, id))?.state === 'created' ? 'find' : 'skip'
      })
    },

    /** Cancels a top-up that the provider does not have; false while it may still appear there. */
    cancelIfAbsent: ({ id }: Order): Promise<boolean> => topUpCancelAbsent(db, id, ABSENT_SECONDS),
  }
}

export type TopUpSending = ReturnType<typeof createTopUpSending>

/** True if the pack is sold for the price and credits that the owner agreed to. */
export function isSoldFor(
  pack: BuyInput['pack'] | undefined,
  { price, credits }: Pick<Mandate, 'price' | 'credits'>,
): pack is BuyInput['pack'] {
  return pack?.priceKopecks === price && pack.credits === credits
}

/**
 * True if the balance is below the threshold and the book is neither stopped nor in debt: a top-up
 * must not pay a debt unasked.
 */
export function needsTopUp(
  found: Awaited<ReturnType<Ledger['balance']>>,
  { threshold }: Pick<Mandate, 'threshold'>,
): boolean {
  assert(found, 'the book of a top-up exists')
  return (
    found.available + found.held < threshold && found.blockedReason === null && found.debt <= 0n
  )
}
