// The end of an account, and what a person may ask of us: a copy of everything. Closing takes every
// way in away at once; what the law makes us keep is kept without being usable, and the person is
// erased when the term is over. The ledger's rows stay: they name a book and nobody.
import type { Tx } from '../../platform/db/db.ts'
import type { AccountId, BookId } from '../../platform/ids.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Parts } from '../parts.ts'
import * as queries from '../queries.ts'
import { requireFresh, type Session } from '../sessions.ts'
import * as ends from './queries.ts'

/** A round; the next one takes the rest. */
const SWEEP_MAX = 10_000
const ERASE_MAX = 100
/** As long as the cookie that names a browser. */
const DEVICE_DAYS = 400

export type Owner = { readonly account: AccountId; readonly book: BookId }

/** What other rooms do at the end of an account, each in our transaction. Wiring gives them. */
export type Endings = {
  /** Stops the key, blocks the book, and asks for the refund or books the forfeit. May refuse. */
  closing(tx: Tx, owner: Owner & { readonly unspent: ends.Unspent }): Promise<void>
  /** Erases what other rooms hold about the person. */
  erasing(tx: Tx, owner: Owner): Promise<void>
  /** What other rooms hold about the person, by its name in the copy. */
  readonly exports: Readonly<Record<string, (owner: Owner) => Promise<unknown>>>
}

export function createClosing(parts: Parts, endings: Endings) {
  const { db, letters, settings, log } = parts

  return {
    /**
     * Closes the account. What becomes of the unspent part is the owner's word and final. Refuses:
     * session_missing, session_not_fresh, and whatever the other rooms refuse.
     */
    async close(session: Session | undefined, unspent: ends.Unspent): Promise<void> {
      const { account } = requireFresh(session)
      await db.transaction(async (tx) => {
        const row = await queries.accountLock(tx, account)
        if (row === undefined) throw new Refusal('session_missing', 'Sign in first.')
        const { closedAt, eraseAt } = await ends.accountClose(tx, {
          account,
          unspent,
          days: settings.eraseAfterDays,
        })
        await letters.post(tx, row, {
          kind: 'account-closed',
          facts: { atMs: closedAt.getTime(), eraseAtMs: eraseAt.getTime(), unspent },
        })
        // Last, because the ledger's lock is: whoever waits for a book holds nothing of ours.
        await endings.closing(tx, { account, book: row.book, unspent })
      })
    },

    /** Everything we hold about the owner, to be given as JSON. Refuses as `close` does. */
    async copy(session: Session | undefined): Promise<Record<string, unknown>> {
      const { account, book } = requireFresh(session)
      const own = (await ends.accountExport(db, account)) as Record<string, unknown>
      const others = await Promise.all(
        Object.entries(endings.exports).map(
          async ([name, read]) => [name, await read({ account, book })] as const,
        ),
      )
      return { ...own, ...Object.fromEntries(others) }
    },

    /** Every few minutes: sessions, codes and counts that have run out. May be repeated. */
    async sweep(): Promise<number> {
      return ends.expiredDelete(db, { max: SWEEP_MAX, deviceDays: DEVICE_DAYS })
    },

    /** Daily: people whose accounts were closed so long ago. May be repeated. */
    async erase(): Promise<number> {
      const due = await ends.accountListToErase(db, ERASE_MAX)
      for (const { id: account, book } of due) {
        await db.transaction(async (tx) => {
          if (!(await ends.accountErase(tx, account))) return
          await endings.erasing(tx, { account, book })
        })
        log.info({ account }, 'a closed account was erased')
      }
      return due.length
    },
  }
}
