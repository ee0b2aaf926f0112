// The SQL of operators' sessions, second factors and passkeys. Times are the database's.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { Role } from '../permissions.ts'

export type SessionKind = 'console' | 'terminal'

export type SessionRow = {
  readonly id: string
  readonly kind: SessionKind
  readonly operator: string
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly state: 'invited' | 'active'
  readonly passwordAt: Date | null
  readonly codeAt: Date | null
  readonly recoveryAt: Date | null
  readonly passkeyAt: Date | null
  readonly providerAt: Date | null
  readonly providerFactorAt: Date | null
  readonly createdAt: Date
  /** A factor was proven in the last minutes. */
  readonly isFresh: boolean
  readonly endsAt: Date
}

export type Proof = 'password' | 'code' | 'recovery' | 'passkey' | 'provider' | 'provider_factor'
/** What opens a session. `provider_factor`: the provider's second factor counts as ours. */
export type FirstProof = Exclude<Proof, 'code' | 'recovery'>

/** A session of one's own list. */
export type OwnSession = {
  readonly id: string
  readonly kind: SessionKind
  readonly address: string
  readonly agent: string
  readonly createdAt: Date
  readonly seenAt: Date
}

/** Inserts the row; the operator's sessions that have ended go. */
export async function sessionInsert(
  db: Executor,
  p: {
    readonly id: string
    readonly operator: string
    readonly digest: Buffer
    readonly kind: SessionKind
    readonly proof: FirstProof
    readonly address: string
    readonly agent: string
    readonly hours: number
  },
): Promise<void> {
  await db.query(
    `with old as (
       delete from operator_sessions where operator_id = $2 and ends_at < clock_timestamp()
     )
     insert into operator_sessions
       (id, operator_id, token_digest, kind, address, agent, ends_at, password_at, passkey_at,
        provider_at, provider_factor_at)
     values ($1, $2, $3, $4, $6, $7, clock_timestamp() + make_interval(hours => $8),
       case when $5 = 'password' then clock_timestamp() end,
       case when $5 = 'passkey' then clock_timestamp() end,
       case when $5 in ('provider', 'provider_factor') then clock_timestamp() end,
       case when $5 = 'provider_factor' then clock_timestamp() end)`,
    [p.id, p.operator, p.digest, p.kind, p.proof, p.address, p.agent, p.hours],
  )
}

/** As long as it takes to set another factor up after signing in. */
const FRESH_MINUTES = 10

/**
 * The session of a token; with `isUse` the idle limit begins anew. Undefined for one that ended,
 * that was idle for too long, or whose operator was disabled. Locks and updates the row.
 */
export async function sessionTouch(
  db: Executor,
  p: { readonly digest: Buffer; readonly idleMinutes: number; readonly isUse: boolean },
): Promise<SessionRow | undefined> {
  const { rows } = await db.query(
    `update operator_sessions s
     set seen_at = case when $3 then clock_timestamp() else s.seen_at end
     from operators o
     where s.token_digest = $1 and o.id = s.operator_id and o.state in ('active', 'invited')
       and s.ends_at > clock_timestamp()
       and s.seen_at > clock_timestamp() - make_interval(mins => $2)
     returning s.id, s.kind, o.id as operator, o.email, o.name, o.role, o.state,
       s.password_at as "passwordAt", s.code_at as "codeAt", s.recovery_at as "recoveryAt",
       s.passkey_at as "passkeyAt", s.provider_at as "providerAt",
       s.provider_factor_at as "providerFactorAt", s.created_at as "createdAt",
       s.ends_at as "endsAt",
       coalesce(greatest(s.code_at, s.recovery_at, s.passkey_at)
         > clock_timestamp() - make_interval(mins => ${FRESH_MINUTES}), false) as "isFresh"`,
    [p.digest, p.idleMinutes, p.isUse],
  )
  return rows[0] as SessionRow | undefined
}

/** Adds a proof to a session and replaces its token. Locks and updates the row. */
export async function sessionProve(
  tx: Tx,
  p: { readonly id: string; readonly proof: Proof; readonly digest: Buffer },
): Promise<void> {
  const column = PROOF_COLUMNS[p.proof]
  await tx.query(
    `update operator_sessions set ${column} = clock_timestamp(), token_digest = $2 where id = $1`,
    [p.id, p.digest],
  )
}

const PROOF_COLUMNS: Readonly<Record<Proof, string>> = {
  password: 'password_at',
  code: 'code_at',
  recovery: 'recovery_at',
  passkey: 'passkey_at',
  provider: 'provider_at',
  provider_factor: 'provider_factor_at',
}

/** Ends a session. May be repeated. */
export async function sessionDelete(db: Executor, digest: Buffer): Promise<void> {
  await db.query('delete from operator_sessions where token_digest = $1', [digest])
}

/** Ends all sessions of an operator, except one. May be repeated. */
export async function sessionDeleteAll(
  db: Executor,
  operator: string,
  keep: string | null = null,
): Promise<void> {
  await db.query(
    `delete from operator_sessions where operator_id = $1 and ($2::text is null or id <> $2)`,
    [operator, keep],
  )
}

/** Newest first. Reads without a lock. */
export async function sessionList(db: Executor, operator: string): Promise<OwnSession[]> {
  const { rows } = await db.query(
    `select id, kind, address, agent, created_at as "createdAt", seen_at as "seenAt"
     from operator_sessions where operator_id = $1 and ends_at > clock_timestamp()
     order by seen_at desc`,
    [operator],
  )
  return rows as OwnSession[]
}

export type FactorRow = {
  readonly secret: string | null
  readonly pendingSecret: string | null
  readonly recoveryCodes: string | null
  readonly lastStep: bigint
}

const FACTOR = `
  select secret, pending_secret as "pendingSecret", recovery_codes as "recoveryCodes",
    last_step as "lastStep"
  from operator_factors where operator_id = $1`

/** The authenticator app of an operator. Locks its row: one code at a time is compared. */
export async function factorLock(tx: Tx, operator: string): Promise<FactorRow | undefined> {
  const { rows } = await tx.query(`${FACTOR} for update`, [operator])
  return rows[0] as FactorRow | undefined
}

/** The same to look at. Reads without a lock. */
export async function factorFind(db: Executor, operator: string): Promise<FactorRow | undefined> {
  const { rows } = await db.query(FACTOR, [operator])
  return rows[0] as FactorRow | undefined
}

/** Whether an operator has a confirmed app, and how many passkeys. Reads without a lock. */
export async function factorsHas(
  db: Executor,
  operator: string,
): Promise<{ readonly hasApp: boolean; readonly passkeys: number }> {
  const { rows } = await db.query(
    `select exists (select from operator_factors
         where operator_id = $1 and confirmed_at is not null) as "hasApp",
       (select count(*)::int4 from operator_passkeys where operator_id = $1) as passkeys`,
    [operator],
  )
  return rows[0] as { hasApp: boolean; passkeys: number }
}

/** Stores a seed whose first code was not proven yet. Locks and updates the row. */
export async function factorSetPending(
  db: Executor,
  operator: string,
  secret: string,
): Promise<void> {
  await db.query(
    `insert into operator_factors (operator_id, pending_secret) values ($1, $2)
     on conflict (operator_id) do update set pending_secret = excluded.pending_secret`,
    [operator, secret],
  )
}

/** The pending seed becomes the app's. Locks and updates the row. */
export async function factorConfirm(
  tx: Tx,
  p: {
    readonly operator: string
    readonly secret: string
    readonly codes: string
    readonly step: bigint
  },
): Promise<void> {
  await tx.query(
    `update operator_factors set secret = $2, recovery_codes = $3, last_step = $4,
       pending_secret = null, confirmed_at = clock_timestamp()
     where operator_id = $1`,
    [p.operator, p.secret, p.codes, p.step],
  )
}

/** A code was used. Locks and updates the row. */
export async function factorUse(
  tx: Tx,
  p: {
    readonly operator: string
    readonly secret: string
    readonly codes: string
    readonly step: bigint
  },
): Promise<void> {
  await tx.query(
    `update operator_factors set secret = $2, recovery_codes = $3, last_step = $4
     where operator_id = $1`,
    [p.operator, p.secret, p.codes, p.step],
  )
}

export type PasskeyRow = {
  readonly id: string
  readonly operator: string
  readonly credentialId: string
  readonly publicKey: Buffer
  readonly counter: bigint
  readonly transports: readonly string[]
  readonly name: string
  readonly createdAt: Date
  readonly usedAt: Date | null
}

const PASSKEY = `
  p.id, p.operator_id as operator, p.credential_id as "credentialId", p.public_key as "publicKey",
  p.counter, p.transports, p.name, p.created_at as "createdAt", p.used_at as "usedAt"`

/** Oldest first. Reads without a lock. */
export async function passkeyList(db: Executor, operator: string): Promise<PasskeyRow[]> {
  const { rows } = await db.query(
    `select ${PASSKEY} from operator_passkeys p where p.operator_id = $1 order by p.created_at`,
    [operator],
  )
  return rows as PasskeyRow[]
}

/** The passkey of an active operator. Locks it, so that its counter only rises. */
export async function passkeyLock(tx: Tx, credentialId: string): Promise<PasskeyRow | undefined> {
  const { rows } = await tx.query(
    `select ${PASSKEY} from operator_passkeys p
     join operators o on o.id = p.operator_id and o.state = 'active'
     where p.credential_id = $1 for update of p`,
    [credentialId],
  )
  return rows[0] as PasskeyRow | undefined
}

/** Returns false if the passkey is registered already. */
export async function passkeyInsert(
  tx: Tx,
  p: Omit<PasskeyRow, 'createdAt' | 'usedAt'>,
): Promise<boolean> {
  const { rows } = await tx.query(
    `insert into operator_passkeys
       (id, operator_id, credential_id, public_key, counter, transports, name)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (credential_id) do nothing returning id`,
    [p.id, p.operator, p.credentialId, p.publicKey, p.counter, p.transports, p.name],
  )
  return rows.length > 0
}

/** Locks and updates the row. */
export async function passkeyUse(tx: Tx, id: string, counter: bigint): Promise<void> {
  await tx.query(
    `update operator_passkeys set counter = $2, used_at = clock_timestamp() where id = $1`,
    [id, counter],
  )
}

/** True when the operator had such a passkey. */
export async function passkeyDelete(
  tx: Tx,
  p: { readonly operator: string; readonly id: string },
): Promise<boolean> {
  const { rows } = await tx.query(
    'delete from operator_passkeys where operator_id = $1 and id = $2 returning id',
    [p.operator, p.id],
  )
  return rows.length > 0
}

/** Inserts the row; challenges that have ended go. */
export async function challengeInsert(
  db: Executor,
  p: {
    readonly id: string
    readonly challenge: string
    readonly session: string | null
    readonly minutes: number
  },
): Promise<void> {
  await db.query(
    `with old as (delete from operator_challenges where ends_at < clock_timestamp())
     insert into operator_challenges (id, challenge, session_id, ends_at)
     values ($1, $2, $3, clock_timestamp() + make_interval(mins => $4))`,
    [p.id, p.challenge, p.session, p.minutes],
  )
}

/** Takes a challenge, which is used once; undefined for one that ended or is another session's. */
export async function challengeTake(
  db: Executor,
  p: { readonly id: string; readonly session: string | null },
): Promise<string | undefined> {
  const { rows } = await db.query(
    `delete from operator_challenges
     where id = $1 and session_id is not distinct from $2 and ends_at > clock_timestamp()
     returning challenge`,
    [p.id, p.session],
  )
  return (rows[0] as { challenge: string } | undefined)?.challenge
}
