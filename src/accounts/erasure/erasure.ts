// Erasing the person of a closed account: by a daily job when the term is over, or earlier by an
// operator. Afterwards the account's id leads to nobody. While something still needs the person's
// data, such as a refund under way, nothing is erased, and the refusal names what it waits for.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId, BookId } from '../../platform/ids.ts'
import type { Dependencies } from '../dependencies.ts'
import { erasureRefusal } from '../refusals.ts'
import * as queries from './queries.ts'

/** Accounts per query of the daily job. */
const ERASE_MAX = 100

export type Owner = { readonly account: AccountId; readonly book: BookId }
/** The owner with every address that he has or had, in lower case. */
export type Addressed = Owner & { readonly addresses: readonly string[] }

/** What other modules do when a person is erased; from wiring. */
export type ErasureHooks = {
  /**
   * What still needs this person's data, a sentence for each: an empty list lets the erasure run.
   * The one place to add what must not lose its address.
   */
  needs(executor: Executor, owner: Addressed): Promise<readonly string[]>
  /** Erases, in transactions of its own, what is too much for one. May be repeated. */
  beforeErase(owner: Owner): Promise<void>
  /** Erases what other modules hold about the person, in our transaction. */
  onErase(tx: Tx, owner: Addressed): Promise<void>
}

export function createErasure({ db, log }: Dependencies, hooks: ErasureHooks) {
  async function needsOf(executor: Executor, owner: Owner): Promise<readonly string[]> {
    const addresses = await queries.accountAddresses(executor, owner.account)
    return hooks.needs(executor, { ...owner, addresses })
  }

  /** Refuses: account_not_closed, account_erased, erasure_waits. Locks the account's row. */
  async function eraseIn(tx: Tx, owner: Owner): Promise<void> {
    const answer = await queries.accountLockToErase(tx, owner.account)
    if (answer === 'erased') throw erasureRefusal('account_erased', 'It was erased before.')
    if (answer !== 'closed') {
      throw erasureRefusal('account_not_closed', 'Close the account first: op close.')
    }
    const needs = await needsOf(tx, owner)
    if (needs.length > 0) {
      throw erasureRefusal('erasure_waits', `Its data is still needed: ${needs.join('; ')}.`)
    }
    const addresses = await queries.accountAddresses(tx, owner.account)
    await hooks.onErase(tx, { ...owner, addresses })
    // Last: until here the other modules find the person by the account.
    await queries.accountErase(tx, owner.account)
  }

  async function eraseWhole(owner: Owner): Promise<true> {
    await hooks.beforeErase(owner)
    await db.transaction((tx) => eraseIn(tx, owner))
    log.info({ account: owner.account }, 'a closed account was erased')
    return true
  }

  return {
    /** What still needs the data of an owner, a sentence for each. */
    erasureNeeds: (owner: Owner): Promise<readonly string[]> => needsOf(db, owner),

    /** What goes first, in transactions of its own. May be repeated. */
    beforeErase: (owner: Owner): Promise<void> => hooks.beforeErase(owner),

    /**
     * Erases the person of a closed account, whatever its term. Refuses: account_not_closed,
     * account_erased, erasure_waits.
     */
    eraseNow: eraseIn,

    /** For the alarm: how many closed accounts are kept two days beyond their term. */
    erasuresOverdue: (): Promise<number> => queries.accountCountOverdue(db),

    /**
     * A daily job: erases accounts whose term is over; those whose data is still needed, and those
     * that could not be erased, stay until a later day. May be repeated.
     */
    async erase(): Promise<number> {
      let erased = 0
      let after: AccountId | null = null
      for (;;) {
        const due = await queries.accountListToErase(db, { after, max: ERASE_MAX })
        for (const { id: account, book } of due) {
          after = account
          const needs = await needsOf(db, { account, book })
          if (needs.length > 0) {
            log.warn({ account, needs }, 'an account is not erased yet: its data is still needed')
            continue
          }
          // One account must not keep the others: the next day begins with it again.
          const isErased = await eraseWhole({ account, book }).catch((error: unknown) => {
            log.error({ account, err: error }, 'a closed account could not be erased')
            return false
          })
          if (isErased) erased += 1
        }
        if (due.length < ERASE_MAX) return erased
      }
    },
  }
}
