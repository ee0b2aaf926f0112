// Sessions: finds the account of a browser's cookie and what was proven in the session, and lists
// an owner's sessions. levels.ts says which proofs an action needs.
import type { AccountId, BookId } from '../platform/ids.ts'
import type { Auth } from './auth/auth.ts'
import { withDatabaseFailure } from './database-failures.ts'
import type { Dependencies } from './dependencies.ts'
import { type Action, levels, type Missing, missingProofs, type Proof } from './levels.ts'
import * as queries from './queries.ts'
import { StepUpNeeded, sessionRefusal } from './refusals.ts'
import type { CookieSignatures } from './succession/cookie-signatures.ts'
import { deviceName } from './user-agent.ts'

export type Session = {
  readonly id: string
  readonly account: AccountId
  readonly book: BookId
  readonly email: string
  readonly language: queries.Language
  readonly zone: string | null
  readonly hasSecondFactor: boolean
  /** When the password was reset, until the owner has reviewed passkeys and keys. */
  readonly unreviewedResetAt: Date | null
  readonly signedInAt: Date
  /** The account is closing: its owner reads, but buys nothing and makes no key. */
  readonly isClosing: boolean
  /** What the owner would have to prove first, for each level. */
  readonly missing: Missing
  /** The answer must set these; there is one when the session was extended, once a day. */
  readonly cookies: readonly string[]
}

export function createSessions(
  dependencies: Dependencies,
  auth: () => Promise<Auth>,
  { resign }: CookieSignatures,
) {
  const { db, clock, settings } = dependencies

  return {
    /** The session of a cookie. Reads the database each time: a revoked session ends at once. */
    async read(given: Headers): Promise<Session | undefined> {
      if (!given.has('cookie')) return undefined
      const headers = resign(given)
      const { api } = await auth()
      const { response, headers: responseHeaders } = await withDatabaseFailure(
        () => api.getSession({ headers, returnHeaders: true }),
        (answer) => answer.response !== null,
      )
      if (response === null) return undefined
      const { id, createdAt, isPrivate } = response.session
      const { passwordAt, codeAt, recoveryAt, passkeyAt } = response.session
      const account = await queries.accountFind(db, response.user.id)
      if (account === undefined) return undefined
      await queries.sessionTouch(db, id)
      return {
        id,
        account: account.id,
        book: account.book,
        email: account.email,
        language: account.language,
        zone: account.zone,
        hasSecondFactor: account.hasSecondFactor,
        unreviewedResetAt: account.unreviewedResetAt,
        signedInAt: createdAt,
        isClosing: account.isClosing,
        missing: missingProofs({
          proofs: { passwordAt, codeAt, recoveryAt, passkeyAt },
          ...{ isPrivate, hasSecondFactor: account.hasSecondFactor },
          ...{ nowMs: clock.nowMs(), freshMinutes: settings.freshMinutes },
        }),
        cookies: responseHeaders.getSetCookie(),
      }
    },

    async list({ account, id: current }: Session) {
      const rows = await queries.sessionList(db, account)
      return rows.map(({ agent, ...row }) => ({
        ...row,
        device: deviceName(agent),
        isCurrent: row.id === current,
      }))
    },

    /** True when the owner had such a session. May be repeated. */
    revoke: ({ account }: Session, id: string): Promise<boolean> =>
      queries.sessionDelete(db, { account, id }),

    /** Returns how many sessions it ended. May be repeated. */
    revokeOthers: ({ account, id }: Session): Promise<number> =>
      queries.sessionDeleteOthers(db, { account, keep: id }),
  }
}

export type Sessions = ReturnType<typeof createSessions>

/** Refuses: session_missing. */
export function requireSession(session: Session | undefined): Session {
  if (session !== undefined) return session
  throw sessionRefusal('session_missing', 'Sign in first.')
}

/** Refuses: session_missing, step_up_needed. */
export function requireProofs(session: Session | undefined, action: Action): Session {
  const present = requireSession(session)
  const needs = missingFor(present, action)
  if (needs.length === 0) return present
  throw new StepUpNeeded(needs)
}

/** What the owner has to prove before this action. */
export function missingFor({ missing }: Session, action: Action): readonly Proof[] {
  return missing[levels[action]]
}
