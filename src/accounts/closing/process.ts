// Closing an account, step by step: closing (requests under way end, open orders run out), drained
// (refunds are requested and end), refunded, closed. Each step is one transaction that a worker
// repeats until it succeeds, so a process may die anywhere; decision 0061 has the reasons. What
// the book, its orders and refunds are is known to the hooks of other modules.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId } from '../../platform/ids.ts'
import { createIntervalLoops } from '../../platform/worker/interval-loops.ts'
import type { Dependencies } from '../dependencies.ts'
import * as accountQueries from '../queries.ts'
import { recoveryIsRecent } from '../recovery/queries.ts'
import { closingRefusal, sessionRefusal } from '../refusals.ts'
import * as changeQueries from '../registration/queries.ts'
import { requireProofs, type Session } from '../sessions.ts'
import type { ClosingHooks } from './hooks.ts'
import * as queries from './process-queries.ts'
import { accountClose, type Unspent } from './queries.ts'

/** How often a worker looks for due closings: an owner who has nothing to wait for sees the end. */
const LOOK_MS = 2_000
/** Closings per run of the loop; the next run takes the rest. */
const RUN_MAX = 100
/** An alarm names closings that wait longer: a refund takes the bank three days at most. */
const OLD_DAYS = 7

/** Rolls a step back that cannot be taken yet. */
class NotYet extends Error {}

export function createClosingProcess(dependencies: Dependencies, hooks: ClosingHooks) {
  const { db, emails, settings, log } = dependencies

  /**
   * A thief could change the address, or complete a recovery, and then close the account: nobody
   * could take that back.
   */
  async function refusalWhileUndoable(executor: Executor, account: AccountId) {
    const change = await changeQueries.emailChangeFind(executor, account)
    if (change !== undefined) {
      return closingRefusal('email_change_recent', 'The change of address can still be undone.')
    }
    if (!(await recoveryIsRecent(executor, account))) return undefined
    return closingRefusal('recovery_recent', 'A stop can still take the recovery back.')
  }

  /** In the transaction of the caller; false when the account is closing or closed already. */
  async function begin(
    tx: Tx,
    p: {
      readonly owner: accountQueries.AccountRow
      readonly unspent: Unspent
      readonly begunBy: 'owner' | 'operator'
    },
  ): Promise<boolean> {
    const { owner, unspent, begunBy } = p
    const { id: account, book } = owner
    const wasStopped = await hooks.isStopped(tx, book)
    const begunAt = await queries.closingInsert(tx, { account, unspent, begunBy, wasStopped })
    if (begunAt === undefined) return false
    const atMs = begunAt.getTime()
    await emails.post(tx, owner, { kind: 'account-closing', facts: { atMs, unspent, begunBy } })
    // Last, because it locks the book: while it waits for that lock it must delay nobody else.
    await hooks.onBegin(tx, { account, book })
    log.info({ account, unspent, begunBy }, 'an account is closing')
    return true
  }

  /** Takes the next step; false when it must wait, or there is none. */
  async function takeStep(account: AccountId): Promise<boolean> {
    const seen = await queries.closingFind(db, account)
    if (seen === undefined) return false
    // The bank is called in it, so it has transactions of its own; what it did is kept.
    // Also when all was refunded: while it waits to close, a dispute may be won or a rule changed.
    if (seen.step !== 'closing') await hooks.requestRefunds(seen)
    try {
      return await db.transaction((tx) => step(tx, account))
    } catch (error) {
      if (error instanceof NotYet) return false
      throw error
    }
  }

  async function step(tx: Tx, account: AccountId): Promise<boolean> {
    const owner = await accountQueries.accountLock(tx, account)
    const closing = await queries.closingLock(tx, account)
    if (closing === undefined) return false
    if (owner === undefined) return endOvertaken(tx, closing)
    switch (closing.step) {
      case 'closing':
        // Before the hook locks the book: money that comes after that lock sees the step.
        await queries.closingSetStep(tx, account, 'drained')
        if (!(await hooks.isDrained(tx, closing))) throw new NotYet()
        return true
      case 'drained':
        await queries.closingSetStep(tx, account, 'refunded')
        if (!(await hooks.isRefunded(tx, closing))) throw new NotYet()
        return true
      case 'refunded':
        if ((await refusalWhileUndoable(tx, account)) !== undefined) return false
        await close(tx, closing, owner)
        return true
      default:
        return false
    }
  }

  /** The one place where an account becomes closed. */
  async function close(tx: Tx, closing: queries.Closing, owner: accountQueries.AccountRow) {
    const { account, unspent } = closing
    await queries.closingSetStep(tx, account, 'closed')
    const days = settings.eraseAfterDays
    const { closedAt, eraseAt } = await accountClose(tx, { account, unspent, days })
    const facts = { atMs: closedAt.getTime(), eraseAtMs: eraseAt.getTime(), unspent }
    await emails.post(tx, owner, { kind: 'account-closed', facts })
    // Last, because it locks the book.
    if (!(await hooks.onClose(tx, closing))) throw new NotYet()
    log.info({ account }, 'an account is closed')
  }

  /** An older version has closed the account meanwhile. */
  async function endOvertaken(tx: Tx, { account, step: at }: queries.Closing): Promise<false> {
    const rest = { closing: 0, drained: 1, refunded: 2, closed: 3, stopped: 3 }[at]
    for (const one of (['drained', 'refunded', 'closed'] as const).slice(rest)) {
      await queries.closingSetStep(tx, account, one)
    }
    return false
  }

  async function advance(account: AccountId): Promise<void> {
    while (await takeStep(account));
  }

  /** A job: takes every step of the closings that are due. May run in several processes at once. */
  async function run(): Promise<void> {
    for (let i = 0; i < RUN_MAX; i++) {
      const account = await queries.closingClaimDue(db)
      if (account === undefined) return
      // One account must not keep the others waiting.
      await advance(account).catch((error: unknown) =>
        log.error({ account, err: error }, 'a closing could not go on'),
      )
    }
  }

  const loops = createIntervalLoops(
    [{ name: 'closings', everyMs: LOOK_MS, isImmediate: true, run }],
    log,
    dependencies.blockedWork,
  )

  return {
    /**
     * Begins to close the account; a repeat finds the closing under way. The owner decides about
     * the unspent part, finally. Refuses: session_missing, step_up_needed, email_change_recent,
     * recovery_recent, and what the other modules refuse.
     */
    async begin(session: Session | undefined, unspent: Unspent): Promise<void> {
      const { account } = requireProofs(session, 'account.close')
      await db.transaction(async (tx) => {
        const owner = await accountQueries.accountLock(tx, account)
        if (owner === undefined) throw sessionRefusal('session_missing', 'Sign in first.')
        const refusal = await refusalWhileUndoable(tx, account)
        if (refusal !== undefined) throw refusal
        await begin(tx, { owner, unspent, begunBy: 'owner' })
      })
    },

    /** Whether a change of address, or a recovery, can still be undone: the end waits for it. */
    isUndoable: async (account: AccountId): Promise<boolean> =>
      (await refusalWhileUndoable(db, account)) !== undefined,

    /** An operator begins to close an account; false when it is closing or closed already. */
    async beginFor(tx: Tx, account: AccountId, unspent: Unspent): Promise<boolean> {
      const owner = await accountQueries.accountLock(tx, account)
      return owner !== undefined && begin(tx, { owner, unspent, begunBy: 'operator' })
    },

    /**
     * The owner stops the closing, as long as nothing is being refunded: the book goes on, and a
     * new key can be made. A repeat changes nothing. Refuses: closing_final.
     */
    stop: ({ account }: Pick<Session, 'account'>): Promise<void> =>
      db.transaction(async (tx) => {
        const owner = await accountQueries.accountLock(tx, account)
        const closing = await queries.closingLock(tx, account)
        if (owner === undefined || closing === undefined) return
        if (closing.step !== 'closing' || closing.begunBy !== 'owner') {
          throw closingRefusal('closing_final', 'This closing cannot be stopped any more.')
        }
        await queries.closingSetStep(tx, account, 'stopped')
        await emails.post(tx, owner, { kind: 'account-closing-stopped', facts: {} })
        await hooks.onStop(tx, closing)
      }),

    /** The closing under way; undefined: none. */
    find: (account: AccountId) => queries.closingFind(db, account),

    /** The worker looks at the closing as soon as it can. */
    setDue: (account: AccountId) => queries.closingSetDue(db, account),

    /** For operators: closings under way, oldest first. */
    list: (limit: number) => queries.closingList(db, limit),

    /** For the alarm: how many wait longer than `days`. */
    health: async () => ({ days: OLD_DAYS, old: await queries.closingCountOld(db, OLD_DAYS) }),

    run,
    /** The worker's loop. */
    loops,
  }
}

export type ClosingProcess = ReturnType<typeof createClosingProcess>
