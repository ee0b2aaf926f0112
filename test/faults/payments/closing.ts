// Accounts of the payment model: the real route that closes an account, with the real hooks of the
// other modules. Only registration and session are left out: an account is a row of its table.
import type { ClosingHooks } from '../../../src/accounts/accounts.ts'
import { accountClose } from '../../../src/accounts/closing/queries.ts'
import { accountFindByBook, accountIsClosed } from '../../../src/accounts/queries.ts'
import { createClosingRoutes } from '../../../src/cabinet/api/closing.ts'
import { type ClosingHookOptions, createClosingHooks } from '../../../src/cabinet/closing-hooks.ts'
import type { Payments } from '../../../src/payments/payments.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import type { Db, Tx } from '../../../src/platform/db/db.ts'
import { type AccountId, type BookId, newAccountId } from '../../../src/platform/ids.ts'
import { createTestKeys, type TestLedger } from '../../support/harness.ts'

export type Unspent = 'refund' | 'forfeit'

export function createTestAccounts(db: Db, ledger: TestLedger, clock: Clock) {
  const keys = createTestKeys(db, ledger)
  const ids = new Map<BookId, AccountId>()

  return {
    async add(book: BookId): Promise<void> {
      const id = newAccountId()
      await db.query(`insert into accounts (id, email, book_id) values ($1, $2, $3)`, [
        ...[id, `${book}@example.org`, book],
      ])
      ids.set(book, id)
    },

    ownerOf: (book: BookId, tx?: Tx) => accountFindByBook(tx ?? db, book),
    isClosed: (book: BookId, tx: Tx) => accountIsClosed(tx, book),

    /** What the owner's last click does. Refuses as the product does. */
    async close(payments: Payments, book: BookId, unspent: Unspent): Promise<void> {
      const account = ids.get(book) as AccountId
      // The others are for the copy of an owner's data.
      const used = { keys, ledger, payments } as unknown as ClosingHookOptions
      const hooks: ClosingHooks = createClosingHooks(used)
      const close = () =>
        db.transaction(async (tx) => {
          await accountClose(tx, { account, unspent, days: 30 })
          await hooks.onClose(tx, { account, book, unspent })
        })
      const accounts = { close, requireClosable: async () => undefined }
      const { routes } = createClosingRoutes({ clock, accounts, ledger, payments })
      const request = { session: { book, account }, body: { unspent } }
      await routes['POST /api/closing'].run(request as never)
    },
  }
}
