// Accounts of the payment model: the real accounts module with the real hooks of the other modules.
// Only registration is left out: an account is a row of its table, and its owner a session that has
// proven everything.
import { type Accounts, createAccounts, type Session } from '../../../src/accounts/accounts.ts'
import { type ClosingHookOptions, createClosingHooks } from '../../../src/cabinet/closing-hooks.ts'
import type { Payments } from '../../../src/payments/payments.ts'
import type { Clock } from '../../../src/platform/clock.ts'
import type { Db, Executor, Tx } from '../../../src/platform/db/db.ts'
import { type AccountId, type BookId, newAccountId } from '../../../src/platform/ids.ts'
import type { Log } from '../../../src/platform/log.ts'
import type { Mail } from '../../../src/platform/mail/mail.ts'
import { accountSettings, CABINET } from '../../stages/accounts.ts'
import { createTestKeys, type TestLedger } from '../../support/harness.ts'

export type Unspent = 'refund' | 'forfeit'

export type TestAccountOptions = {
  readonly db: Db
  readonly ledger: TestLedger
  readonly clock: Clock
  readonly log: Log
  readonly mail: Mail
}

export function createTestAccounts({ db, ledger, clock, log, mail }: TestAccountOptions) {
  const keys = createTestKeys(db, ledger)
  const ids = new Map<BookId, AccountId>()

  /** By the payments of their process: a sequence asks hundreds of times. */
  const opened = new WeakMap<Payments, Accounts>()

  /** The accounts module of the process that has these payments. */
  function open(payments: Payments): Accounts {
    const known = opened.get(payments)
    if (known !== undefined) return known
    const made = openNew(payments)
    opened.set(payments, made)
    return made
  }

  function openNew(payments: Payments): Accounts {
    // The others are for the copy of an owner's data.
    const used = { keys, ledger, payments } as unknown as ClosingHookOptions
    return createAccounts({
      ...{ db, clock, log, mail, settings: accountSettings },
      brand: { name: 'Gate', supportEmail: 'help@example.org', cabinetUrl: CABINET },
      openBook: () => Promise.reject(new Error('the model opens books itself')),
      documents: () => [],
      closingHooks: createClosingHooks(used),
    })
  }

  const reading = openNew(undefined as unknown as Payments)
  const sessionOf = (book: BookId): Session => {
    const missing = { signed_in: [], password: [], second_factor: [] }
    return { account: ids.get(book), book, missing } as unknown as Session
  }

  return {
    async add(book: BookId): Promise<void> {
      const id = newAccountId()
      await db.query(`insert into accounts (id, email, book_id) values ($1, $2, $3)`, [
        ...[id, `${book}@example.org`, book],
      ])
      ids.set(book, id)
    },

    ownerOf: (book: BookId, tx?: Tx) => reading.ownerOf(book, tx),
    endingOf: (book: BookId, executor?: Executor) => reading.endingOf(book, executor),
    open,

    /** What the owner's last click does. Refuses as the product does. */
    begin: (payments: Payments, book: BookId, unspent: Unspent): Promise<void> =>
      open(payments).closings.begin(sessionOf(book), unspent),

    /** The owner changes their mind. Refuses as the product does. */
    stop: (payments: Payments, book: BookId): Promise<void> =>
      open(payments).closings.stop(sessionOf(book)),

    /** A worker takes every step of closings that can be taken now. */
    async advance(payments: Payments): Promise<void> {
      await db.query('update account_closings set next_at = ledger_now() where ended_at is null')
      await open(payments).closings.run()
    },
  }
}

export type TestAccounts = ReturnType<typeof createTestAccounts>
