// Promo codes: bonus credits, by a ledger entry of their own kind, never refundable. An address
// uses a code once ever. A code may need purchases of which nothing was refunded. Every code that
// cannot be used gets the same refusal, and tries are limited, so that codes cannot be guessed.
import type { Db, Executor, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import type { Digests } from '../digests.ts'
import { bookOrdersLock } from '../order/queries.ts'
import type { ClosingRefunds } from '../refunds/closing.ts'
import { paymentDeskRefusal, paymentRefusal } from '../refusals.ts'
import * as queries from './queries.ts'

export function createPromos(options: {
  readonly db: Db
  readonly triesPerHour: number
  readonly digests: Pick<Digests, 'address'>
  readonly closingRefunds: Pick<ClosingRefunds, 'isLeaving'>
  /** Undefined for a closed account. */
  ownerOf(book: BookId, tx?: Tx): Promise<{ readonly email: string } | undefined>
}) {
  const { db } = options

  /** The credits; undefined when this owner cannot use the code. */
  async function take(tx: Tx, book: BookId, code: string): Promise<Credits | undefined> {
    const owner = await options.ownerOf(book, tx)
    const needed = await queries.promoPurchasesMin(tx, code)
    if (owner === undefined || needed === undefined) return undefined
    // PostgreSQL reads the purchases of other codes before it waits for an order's lock; this lock
    // makes it read them after another redemption of the account has ended.
    if (needed > 0) await bookOrdersLock(tx, book)
    const orders = needed === 0 ? [] : await queries.purchasesLock(tx, book, needed)
    if (orders.length < needed) return undefined
    const taken = await queries.promoTake(tx, code)
    if (taken === undefined) return undefined
    const addressDigest = options.digests.address(owner.email)
    if (!(await queries.redemptionInsert(tx, { code, book, addressDigest }))) return undefined
    if (orders.length > 0) await queries.purchasesInsert(tx, { code, book, orders })
    return taken.credits
  }

  return {
    /** Creates a code, for an operator. Refuses: field_invalid. */
    async create(
      promo: queries.PromoInput,
      executor: Executor = db,
    ): Promise<{ readonly code: string }> {
      const code = normalizeCode(promo.code)
      const { purchasesMin = 0 } = promo
      if (code === undefined) {
        throw paymentDeskRefusal('field_invalid', 'A code has 4 to 40 of A-Z, 0-9 and dashes.')
      }
      const hasLimits = promo.redemptionsMax > 0 && promo.endsAt > promo.startsAt
      if (promo.credits <= 0n || !hasLimits || !isPurchaseCount(purchasesMin)) {
        throw paymentDeskRefusal(
          'field_invalid',
          'A code gives something, to someone, for some time.',
        )
      }
      if (await queries.promoInsert(executor, { ...promo, code, purchasesMin })) return { code }
      throw paymentDeskRefusal('field_invalid', 'There is a code of that name.')
    },

    list: () => queries.promoList(db),

    /** Ends a code now. Refuses: field_invalid when there is none, or it has ended already. */
    async end(given: string, executor: Executor = db): Promise<void> {
      const code = normalizeCode(given)
      if (code !== undefined && (await queries.promoEnd(executor, code))) return
      throw paymentDeskRefusal('field_invalid', 'No code of that name is in force or to come.')
    },

    /**
     * Adds a code's credits, once per account and address. Refuses: promo_refused,
     * promo_attempts_exceeded.
     */
    async redeem(book: BookId, given: string): Promise<{ readonly credits: Credits }> {
      // Outside the transaction below, so that a refused try is counted too.
      if ((await queries.attemptCount(db, book)) > options.triesPerHour) {
        const sentence = 'Too many codes were tried; try in an hour.'
        throw paymentRefusal('promo_attempts_exceeded', sentence)
      }
      const code = normalizeCode(given)
      return db.transaction(async (tx) => {
        const credits = code === undefined ? undefined : await take(tx, book, code)
        // Rolls back what was taken.
        if (code === undefined || credits === undefined) throw refused()
        await queries.promoCredit(tx, code, book)
        // After the ledger's lock: the account may be closing since `take` read its owner.
        if (await options.closingRefunds.isLeaving(tx, book)) throw refused()
        return { credits }
      })
    },
  }
}

export type Promos = ReturnType<typeof createPromos>

/** Against typing errors; the table has the same limit. */
const PURCHASES_MAX = 100

function isPurchaseCount(count: number): boolean {
  return Number.isInteger(count) && count >= 0 && count <= PURCHASES_MAX
}

/** Accepts any case and spaces around the code. */
function normalizeCode(code: string): string | undefined {
  const normal = code.trim().toUpperCase()
  return /^[A-Z0-9][A-Z0-9-]{3,39}$/.test(normal) ? normal : undefined
}

function refused(): Refusal {
  return paymentRefusal('promo_refused', 'This code cannot be used.')
}
