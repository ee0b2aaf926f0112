// The parts of a recovery that no browser asks for: what operators compare, begin, see and stop,
// the e-mails of a job, and the end by a complete sign-in. The browser's part is in
// sign-in/lost-authenticator.ts, registration/lost-mailbox.ts and registration/stop-recovery.ts.
import type { Db, Executor, Tx } from '../../platform/db/db.ts'
import { type AccountId, randomText } from '../../platform/ids.ts'
import { codeDigest } from '../codes.ts'
import type { Dependencies } from '../dependencies.ts'
import type { EventContext, RecoveryKind } from '../emails/email-kinds.ts'
import * as accountQueries from '../queries.ts'
import { recoveryRefusal } from '../refusals.ts'
import * as proofQueries from './proof-queries.ts'
import * as queries from './queries.ts'
import { reportStop, warnOwner } from './warnings.ts'

/** Somebody who may guess often is right in the end; an owner makes a mistake or two. */
const WRONG_STEPS_PER_DAY = 5
/** One thing may have been seen on a screen or in a letter. */
const STEPS_NEEDED = 2
/** Mailboxes are read daily. The database ends the code after it too. */
const CONFIRM_HOURS = 24
/** Recoveries are rare; more wait for the next run. */
const DUE_MAX = 200
/** A job and an operator have no browser that an e-mail could name. */
const NO_BROWSER = { address: '', device: '' }

export function createRecovery(dependencies: Dependencies) {
  const { db, clock, emails, log, settings } = dependencies
  const now = (): EventContext => ({ ...NO_BROWSER, atMs: clock.nowMs() })

  /** Refuses: account_unknown. */
  async function requireAccount(tx: Tx, id: AccountId): Promise<accountQueries.AccountRow> {
    const account = await accountQueries.accountLock(tx, id)
    if (account !== undefined) return account
    throw recoveryRefusal('account_unknown', 'There is no open account of this id.')
  }

  /** Refuses: identity_checks_exceeded. */
  async function requireTries(executor: Executor, account: AccountId): Promise<void> {
    const { wrong } = await proofQueries.identityChecks(executor, account)
    if (wrong < WRONG_STEPS_PER_DAY) return
    throw recoveryRefusal(
      'identity_checks_exceeded',
      `${wrong} answers about this account were wrong within a day; try again tomorrow.`,
    )
  }

  async function remind(recovery: queries.Recovery & { due: 'ready' | 'half' | 'day' }) {
    await db.transaction(async (tx) => {
      const account = await accountQueries.accountLock(tx, recovery.account)
      const living = await queries.recoveryLockLiving(tx, recovery.account)
      if (account === undefined || living?.id !== recovery.id) return
      const { due } = recovery
      if (due !== 'ready') {
        await warnOwner(tx, { emails, recovery: living, stage: due, to: account, context: now() })
        return
      }
      const code = living.newEmail === null ? undefined : randomText(24)
      const readyHash = code === undefined ? null : codeDigest(code)
      if (!(await queries.recoveryReady(tx, { id: living.id, readyHash }))) return
      const link =
        code === undefined ? emails.link('sign-in') : emails.link('finish-recovery', code)
      const facts = { link, lost: living.kind, untilMs: living.endsAt.getTime() }
      const to = { ...account, email: living.newEmail ?? account.email, account: account.id }
      await emails.post(tx, to, { kind: 'recovery-ready', facts })
    })
  }

  return {
    /** Whether an operator may compare another answer. Refuses: identity_checks_exceeded. */
    requireTries: (account: AccountId): Promise<void> => requireTries(db, account),

    /** Records which answers matched what we know. Refuses: identity_checks_exceeded. */
    async recordIdentity(
      tx: Tx,
      account: AccountId,
      checks: readonly { readonly step: proofQueries.IdentityStep; readonly isMatched: boolean }[],
    ): Promise<void> {
      await requireAccount(tx, account)
      await requireTries(tx, account)
      for (const check of checks) await proofQueries.identityCheckInsert(tx, { account, ...check })
    },

    /** The steps that matched within a day. */
    identity: (account: AccountId) => proofQueries.identityChecks(db, account),

    /**
     * Begins a recovery for a person who proved two identity steps. The wait begins when the
     * mailbox is confirmed. Refuses: account_unknown, identity_unproven, recovery_underway,
     * recovery_email_taken, recovery_email_change_recent.
     */
    async begin(
      tx: Tx,
      p: {
        readonly account: AccountId
        readonly kind: RecoveryKind
        readonly newEmail: string | null
      },
    ): Promise<queries.Recovery> {
      const account = await requireAccount(tx, p.account)
      await requireBeginnable(tx, p)
      const { matched } = await proofQueries.identityChecks(tx, p.account)
      const code = randomText(24)
      const recovery = await queries.recoveryInsert(tx, {
        ...{ ...p, id: `rcv_${randomText(12)}`, begunBy: 'operator', steps: matched },
        ...{ confirmHash: codeDigest(code), hours: settings.recoveryHours },
      })
      const facts = {
        link: emails.link('confirm-recovery', code),
        ...{ lost: p.kind, hours: CONFIRM_HOURS, waitHours: settings.recoveryHours },
      }
      const to = { ...account, email: p.newEmail ?? account.email, account: account.id }
      await emails.post(tx, to, { kind: 'recovery-confirm', facts })
      return recovery
    },

    /** What `begin` refuses, before anybody confirms it. */
    requireBeginnable: (p: Parameters<typeof requireBeginnable>[1]) => requireBeginnable(db, p),

    /** Newest first, with the warnings of each. */
    async list(account: AccountId) {
      const found = await queries.recoveryList(db, account)
      return Promise.all(
        found.map(async (one) => ({ ...one, warnings: await queries.warningList(db, one.id) })),
      )
    },

    /** The one that waits or can be completed. */
    living: (account: AccountId) => queries.recoveryLiving(db, account),

    /** Stops what lives, and tells the owner; false when nothing did. */
    async stop(tx: Tx, account: AccountId): Promise<boolean> {
      const owner = await requireAccount(tx, account)
      const recovery = await queries.recoveryStop(tx, { account, by: 'operator' })
      if (recovery === undefined) return false
      await reportStop(tx, { emails, recovery, to: owner, context: now() })
      return true
    },

    /** Why the owner may be kept out. */
    locks: (account: AccountId) => proofQueries.lockFind(db, account),

    /** Forgets counts of wrong passwords and codes; gives nobody access. */
    async unlock(tx: Tx, account: AccountId): Promise<void> {
      await requireAccount(tx, account)
      await proofQueries.lockRelease(tx, account)
    },

    /** A job of every five minutes: reminders, the end of the wait, and what lapsed. */
    async run(): Promise<number> {
      const due = await queries.recoveriesDue(db, DUE_MAX)
      for (const recovery of due) {
        // One recovery must not keep the others waiting.
        await remind(recovery).catch((error: unknown) =>
          log.error({ recovery: recovery.id, err: error }, 'a recovery could not be warned of'),
        )
      }
      return due.length + (await queries.recoveriesEnd(db))
    },
  }

  async function requireBeginnable(
    executor: Executor,
    p: { readonly account: AccountId; readonly newEmail: string | null },
  ): Promise<void> {
    const { matched } = await proofQueries.identityChecks(executor, p.account)
    if (matched.length < STEPS_NEEDED) {
      throw recoveryRefusal(
        'identity_unproven',
        `${matched.length} of ${STEPS_NEEDED} identity steps matched within a day.`,
      )
    }
    if ((await queries.recoveryLiving(executor, p.account)) !== undefined) {
      throw recoveryRefusal('recovery_underway', 'A recovery of this account waits already.')
    }
    if (p.newEmail === null) return
    if (await proofQueries.emailChangeIsRecent(executor, p.account)) {
      throw recoveryRefusal(
        'recovery_email_change_recent',
        'The address was changed lately; its old mailbox can still undo that.',
      )
    }
    if (await proofQueries.emailIsTaken(executor, p.newEmail)) {
      throw recoveryRefusal('recovery_email_taken', 'Another account has this address.')
    }
  }
}

/** An owner who shows the second factor, a recovery code or a passkey needs no recovery. */
export async function stopByProof(
  { db, emails }: Pick<Dependencies, 'emails'> & { readonly db: Db },
  id: string,
  context: EventContext,
): Promise<void> {
  const account = id as AccountId
  const recovery = await queries.recoveryStop(db, { account, by: 'sign_in' })
  if (recovery === undefined) return
  const to = await accountQueries.accountFind(db, account)
  if (to !== undefined) await reportStop(db, { emails, recovery, to, context })
}
