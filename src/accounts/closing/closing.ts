// Closing an account, erasing it later, and the copy of all data that an owner may ask for. Closing
// ends every way to sign in at once. Data that the law requires stays until the term is over; then
// the personal data is erased. The ledger's rows stay: they name a book and no person.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId, BookId } from '../../platform/ids.ts'
import type { Dependencies } from '../dependencies.ts'
import * as queries from '../queries.ts'
import { closingRefusal, sessionRefusal } from '../refusals.ts'
import * as changeQueries from '../registration/queries.ts'
import { requireProofs, type Session } from '../sessions.ts'
import * as closingQueries from './queries.ts'

/** Rows per run of the job; the next run takes the rest. */
const SWEEP_MAX = 10_000
const ERASE_MAX = 100
/** The life of the cookie that names a browser. */
const DEVICE_DAYS = 400

export type Owner = { readonly account: AccountId; readonly book: BookId }

/** What other modules do when an account is closed or erased, in our transaction; from wiring. */
export type ClosingHooks = {
  /** Revokes the key, blocks the book, and requests the refund or books the forfeit. May refuse. */
  onClose(tx: Tx, owner: Owner & { readonly unspent: closingQueries.Unspent }): Promise<void>
  /** Erases what other modules hold about the person. */
  onErase(tx: Tx, owner: Owner): Promise<void>
  /** Reads what other modules hold about the person; the key is its name in the copy. */
  readonly exports: Readonly<Record<string, (owner: Owner) => Promise<unknown>>>
}

export function createClosing(dependencies: Dependencies, hooks: ClosingHooks) {
  const { db, emails, settings, log } = dependencies

  /** A thief could change the address and then close the account: nobody could undo the change. */
  async function requireClosable(
    executor: Executor,
    { account }: Pick<Session, 'account'>,
  ): Promise<void> {
    if ((await changeQueries.emailChangeFind(executor, account)) === undefined) return
    throw closingRefusal('email_change_recent', 'The change of address can still be undone.')
  }

  return {
    /** Refuses: email_change_recent. For a caller that does other things before it closes. */
    requireClosable: (session: Session): Promise<void> => requireClosable(db, session),

    /**
     * Closes the account. The owner decides about the unspent part, finally. Refuses:
     * session_missing, step_up_needed, email_change_recent, and what the other modules refuse.
     */
    async close(session: Session | undefined, unspent: closingQueries.Unspent): Promise<void> {
      const { account } = requireProofs(session, 'account.close')
      await db.transaction(async (tx) => {
        const row = await queries.accountLock(tx, account)
        if (row === undefined) throw sessionRefusal('session_missing', 'Sign in first.')
        await requireClosable(tx, { account })
        const { closedAt, eraseAt } = await closingQueries.accountClose(tx, {
          account,
          unspent,
          days: settings.eraseAfterDays,
        })
        await emails.post(tx, row, {
          kind: 'account-closed',
          facts: { atMs: closedAt.getTime(), eraseAtMs: eraseAt.getTime(), unspent },
        })
        // Last, because it locks the book: while it waits for that lock it must delay nobody else.
        await hooks.onClose(tx, { account, book: row.book, unspent })
      })
    },

    /** Everything we hold about the owner, for a JSON file. Refuses as `close` does. */
    async copy(session: Session | undefined): Promise<Record<string, unknown>> {
      const { account, book } = requireProofs(session, 'account.export')
      const own = (await closingQueries.accountExport(db, account)) as Record<string, unknown>
      const others = await Promise.all(
        Object.entries(hooks.exports).map(
          async ([name, read]) => [name, await read({ account, book })] as const,
        ),
      )
      return { ...own, ...Object.fromEntries(others) }
    },

    /** A job of every few minutes: deletes expired sessions, codes and counts. May be repeated. */
    async sweep(): Promise<number> {
      return closingQueries.expiredDelete(db, { max: SWEEP_MAX, deviceDays: DEVICE_DAYS })
    },

    /** A daily job: erases accounts whose term is over. May be repeated. */
    async erase(): Promise<number> {
      const due = await closingQueries.accountListToErase(db, ERASE_MAX)
      for (const { id: account, book } of due) {
        await db.transaction(async (tx) => {
          if (!(await closingQueries.accountErase(tx, account))) return
          await hooks.onErase(tx, { account, book })
        })
        log.info({ account }, 'a closed account was erased')
      }
      return due.length
    },
  }
}
