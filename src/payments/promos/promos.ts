// Promo codes: bonus credits by an entry of their own kind, never refundable. Wrong, over, used up
// or used before: the answer is one and the same, and tries are counted per account, so that codes
// cannot be guessed or probed.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Db, Executor } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import * as queries from './queries.ts'

export function createPromos(options: {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'credit'>
  readonly triesPerHour: number
}) {
  const { db, ledger } = options

  return {
    /** A new code, by an operator. Refuses: field_invalid. */
    async create(
      promo: queries.Promo,
      executor: Executor = db,
    ): Promise<{ readonly code: string }> {
      const code = spelt(promo.code)
      if (code === undefined) {
        throw new Refusal('field_invalid', 'A code has 4 to 40 of A-Z, 0-9 and dashes.')
      }
      if (promo.credits <= 0n || promo.redemptionsMax <= 0 || promo.endsAt <= promo.startsAt) {
        throw new Refusal('field_invalid', 'A code gives something, to someone, for some time.')
      }
      if (await queries.promoInsert(executor, { ...promo, code })) return { code }
      throw new Refusal('field_invalid', 'There is a code of that name.')
    },

    list: () => queries.promoList(db),

    /** Ends a code now. Refuses: field_invalid when none of that name is in force or to come. */
    async end(given: string, executor: Executor = db): Promise<void> {
      const code = spelt(given)
      if (code !== undefined && (await queries.promoEnd(executor, code))) return
      throw new Refusal('field_invalid', 'No code of that name is in force or to come.')
    },

    /** Adds a code's credits, once per account. Refuses: promo_refused, promo_attempts_exceeded. */
    async redeem(book: BookId, given: string): Promise<{ readonly credits: Credits }> {
      // On its own, so that a refused try is counted too.
      if ((await queries.attemptCount(db, book)) > options.triesPerHour) {
        throw new Refusal('promo_attempts_exceeded', 'Too many codes were tried; try in an hour.')
      }
      const code = spelt(given)
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

/** As people type it: any case, spaces around. */
function spelt(code: string): string | undefined {
  const plain = code.trim().toUpperCase()
  return /^[A-Z0-9][A-Z0-9-]{3,39}$/.test(plain) ? plain : undefined
}

function refused(): Refusal {
  return new Refusal('promo_refused', 'This code cannot be used.')
}
