// Sessions of operators. A token is stored as a digest; a session ends when it was idle for
// `idleMinutes`, and after `sessionHours` in any case. It does nothing but prove or set up a second
// factor until one was proven.
import { createHash } from 'node:crypto'
import type { Db, Executor, Tx } from '../../platform/db/db.ts'
import { randomText } from '../../platform/ids.ts'
import type { Role } from '../permissions.ts'
import { signInRefusal } from '../refusals.ts'
import * as queries from './queries.ts'

/** 256 random bits: nothing can be guessed, so a plain digest is enough. */
const TOKEN_BYTES = 32

export type StaffSession = {
  readonly id: string
  readonly kind: queries.SessionKind
  readonly operator: {
    readonly id: string
    readonly email: string
    readonly name: string
    readonly role: Role
  }
  /**
   * What is missing before the session may do anything: the code of the app, or setting up a first
   * factor. Null for a session that may do what its role may.
   */
  readonly missing: 'factor' | 'enrolment' | null
  /** How the person was recognised, with the time of each proof. */
  readonly proofs: Readonly<Record<queries.Proof, Date | null>>
  /** A factor was proven in the last minutes: another one may be added. */
  readonly isFresh: boolean
  readonly signedInAt: Date
  readonly endsAt: Date
}

/** Where a sign-in comes from. */
export type Caller = {
  readonly kind: queries.SessionKind
  readonly address: string
  readonly agent: string
}

export type SignedIn = { readonly token: string; readonly session: StaffSession }

export type SessionSettings = { readonly idleMinutes: number; readonly sessionHours: number }

export function createSessions(db: Db, settings: SessionSettings) {
  const { idleMinutes, sessionHours } = settings

  async function read(
    executor: Executor,
    token: string,
    isUse = true,
  ): Promise<StaffSession | undefined> {
    const digest = digestOf(token)
    const row = await queries.sessionTouch(executor, { digest, idleMinutes, isUse })
    return row === undefined ? undefined : sessionOf(row)
  }

  /** Reads a session that this transaction has just written. */
  async function written(tx: Tx, token: string): Promise<SignedIn> {
    const session = await read(tx, token)
    // Only a disabled operator is missing here: an admin was faster than the sign-in.
    if (session === undefined) throw missing()
    return { token, session }
  }

  return {
    /** The session of a token, and a use of it unless `isUse` is false; undefined without one. */
    find: (token: string, isUse?: boolean): Promise<StaffSession | undefined> =>
      read(db, token, isUse),

    /** Refuses: operator_session_missing. */
    async require(token: string): Promise<StaffSession> {
      const session = await read(db, token)
      if (session === undefined) throw missing()
      return session
    },

    async open(
      tx: Tx,
      p: Caller & { readonly operator: string; readonly proof: queries.FirstProof },
    ): Promise<SignedIn> {
      const token = randomText(TOKEN_BYTES)
      await queries.sessionInsert(tx, {
        ...{ id: `ops_${randomText(12)}`, digest: digestOf(token), hours: sessionHours },
        ...{ operator: p.operator, proof: p.proof, kind: p.kind },
        ...{ address: p.address.slice(0, 100), agent: p.agent.slice(0, 300) },
      })
      return written(tx, token)
    },

    /** Adds a proof; the session gets a new token, so that one seen before is worth nothing. */
    async prove(tx: Tx, session: StaffSession, proof: queries.Proof): Promise<SignedIn> {
      const token = randomText(TOKEN_BYTES)
      await queries.sessionProve(tx, { id: session.id, proof, digest: digestOf(token) })
      return written(tx, token)
    },

    end: (token: string): Promise<void> => queries.sessionDelete(db, digestOf(token)),
    endOthers: ({ id, operator }: StaffSession): Promise<void> =>
      queries.sessionDeleteAll(db, operator.id, id),
    list: ({ operator }: StaffSession) => queries.sessionList(db, operator.id),
  }
}

export type Sessions = ReturnType<typeof createSessions>

export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Refuses: second_factor_missing. */
export function requireWhole(session: StaffSession): StaffSession {
  if (session.missing === null) return session
  throw signInRefusal('second_factor_missing', 'Prove your second factor first.')
}

function missing() {
  return signInRefusal('operator_session_missing', 'Sign in first.')
}

function sessionOf(row: queries.SessionRow): StaffSession {
  const factors = [row.codeAt, row.recoveryAt, row.passkeyAt, row.providerFactorAt]
  const isProven = factors.some((at) => at !== null)
  const needed = row.state === 'invited' ? 'enrolment' : 'factor'
  return {
    id: row.id,
    kind: row.kind,
    operator: { id: row.operator, email: row.email, name: row.name, role: row.role },
    missing: isProven && row.state === 'active' ? null : needed,
    proofs: {
      password: row.passwordAt,
      code: row.codeAt,
      recovery: row.recoveryAt,
      passkey: row.passkeyAt,
      provider: row.providerAt,
      provider_factor: row.providerFactorAt,
    },
    isFresh: row.isFresh,
    signedInAt: row.createdAt,
    endsAt: row.endsAt,
  }
}
