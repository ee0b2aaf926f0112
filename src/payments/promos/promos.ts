// Promo codes: bonus credits, by a ledger entry of their own kind, never refundable. A wrong,
// ended, exhausted or already used code gets the same refusal, and tries are limited per account,
// so that codes cannot be guessed.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Db, Executor } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import { paymentDeskRefusal, paymentRefusal } from '../refusals.ts'
import * as queries from './queries.ts'

export function createPromos(options: {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'credit'>
  readonly triesPerHour: number
}) {
  const { db, ledger } = options

  return {
    /** Creates a code, for an operator. Refuses: field_invalid. */
    async create(
      promo: queries.Promo,
      executor: Executor = db,
    ): Promise<{ readonly code: string }> {
      const code = normalizeCode(promo.code)
      if (code === undefined) {
        throw paymentDeskRefusal('field_invalid', 'A code has 4 to 40 of A-Z, 0-9 and dashes.')
      }
      if (promo.credits <= 0n || promo.redemptionsMax <= 0 || promo.endsAt <= promo.startsAt) {
        throw paymentDeskRefusal(
          'field_invalid',
          'A code gives something, to someone, for some time.',
        )
      }
      if (await queries.promoInsert(executor, { ...promo, code })) return { code }
      throw paymentDeskRefusal('field_invalid', 'There is a code of that name.')
    },

    list: () => queries.promoList(db),

    /** Ends a code now. Refuses: field_invalid when there is none, or it has ended already. */
    async end(given: string, executor: Executor = db): Promise<void> {
      const code = normalizeCode(given)
      if (code !== undefined && (await queries.promoEnd(executor, code))) return
      throw paymentDeskRefusal('field_invalid', 'No code of that name is in force or to come.')
    },

    /** Adds a code's credits, once per account. Refuses: promo_refused, promo_attempts_exceeded. */
    async redeem(book: BookId, given: string): Promise<{ readonly credits: Credits }> {
      // Outside the transaction below, so that a refused try is counted too.
      if ((await queries.attemptCount(db, book)) > options.triesPerHour) {
        const sentence = 'Too many codes were tried; try in an hour.'
        throw paymentRefusal('promo_attempts_exceeded', sentence)
      }
      const code = normalizeCode(given)
      return db.transaction(async (tx) => {
        const taken = code === undefined ? undefined : await queries.promoTake(tx, code)
        if (code === undefined || taken === undefined) throw refused()
        if (!(await queries.redemptionInsert(tx, code, book))) throw refused()
        const { credits } = taken
        const ref = `${code} ${book}`
        const entry = { book, kind: 'promo', ref, amount: credits, contra: 'promo' } as const
        await ledger.credit(tx, { ...entry, note: code })
        return { credits }
      })
    },
  }
}

export type Promos = ReturnType<typeof createPromos>

/** Accepts any case and spaces around the code. */
function normalizeCode(code: string): string | undefined {
  const normal = code.trim().toUpperCase()
  return /^[A-Z0-9][A-Z0-9-]{3,39}$/.test(normal) ? normal : undefined
}

function refused(): Refusal {
  return paymentRefusal('promo_refused', 'This code cannot be used.')
}
