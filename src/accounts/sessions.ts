// Sessions: finds the account of a browser's cookie, and lists an owner's sessions. A session is
// fresh for some minutes after its sign-in; actions that could cost the account require that.
import type { AccountId, BookId } from '../platform/ids.ts'
import type { Auth } from './auth/auth.ts'
import { withDatabaseFailure } from './database-failures.ts'
import type { Dependencies } from './dependencies.ts'
import * as queries from './queries.ts'
import { sessionRefusal } from './refusals.ts'
import { deviceName } from './user-agent.ts'

export type Session = {
  readonly id: string
  readonly account: AccountId
  readonly book: BookId
  readonly email: string
  readonly language: queries.Language
  readonly zone: string | null
  readonly hasSecondFactor: boolean
  readonly signedInAt: Date
  /** Signed in within the last accounts.freshMinutes. */
  readonly isFresh: boolean
  /** The answer must set these; there is one when the session was extended, once a day. */
  readonly cookies: readonly string[]
}

const MINUTE_MS = 60_000

export function createSessions(dependencies: Dependencies, auth: () => Promise<Auth>) {
  const { db, clock, settings } = dependencies

  return {
    /** The session of a cookie. Reads the database each time: a revoked session ends at once. */
    async read(headers: Headers): Promise<Session | undefined> {
      if (!headers.has('cookie')) return undefined
      const { api } = await auth()
      const { response, headers: responseHeaders } = await withDatabaseFailure(
        () => api.getSession({ headers, returnHeaders: true }),
        (answer) => answer.response !== null,
      )
      if (response === null) return undefined
      const { id, createdAt } = response.session
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
        signedInAt: createdAt,
        isFresh: clock.nowMs() - createdAt.getTime() < settings.freshMinutes * MINUTE_MS,
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

/** Refuses: session_missing, session_not_fresh. */
export function requireFresh(session: Session | undefined): Session {
  const present = requireSession(session)
  if (present.isFresh) return present
  throw sessionRefusal('session_not_fresh', 'Sign in again to confirm that it is you.')
}
