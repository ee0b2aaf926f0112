// The SQL of accounts. better-auth reads and writes sessions, passwords, codes, second factors and
// passkeys itself; they are here only where we need them elsewhere, or in one transaction.
import { attemptIncrement } from '../platform/db/attempt-queries.ts'
import type { Executor, Tx } from '../platform/db/db.ts'
import type { AccountId, BookId } from '../platform/ids.ts'

export type Language = 'ru' | 'en'

export type AccountRow = {
  readonly id: AccountId
  readonly email: string
  readonly book: BookId
  readonly language: Language
  /** The IANA name of the owner's time zone; null: UTC. */
  readonly zone: string | null
  readonly hasSecondFactor: boolean
  /** A password reset whose owner has not reviewed passkeys and keys yet: passkeys do not count. */
  readonly unreviewedResetAt: Date | null
  /** How often an operator has forgotten the counts of guesses; part of their keys. */
  readonly unlocks: number
  readonly createdAt: Date
  /** The owner, or an operator, has begun to close it. */
  readonly isClosing: boolean
}

export type Consent = { readonly document: string; readonly version: string }

export type RegistrationRow = {
  readonly id: string
  readonly email: string
  readonly passwordHash: string
  readonly language: Language
  readonly consents: readonly Consent[]
  readonly address: string
  readonly createdAt: Date
  /** The operator who invited the person, whose password is not chosen yet; null: registered. */
  readonly invitedBy: string | null
}

export type SessionRow = {
  readonly id: string
  readonly address: string
  readonly agent: string
  readonly createdAt: Date
  readonly lastSeenAt: Date
  readonly expiresAt: Date
}

const UNIQUE = '23505'
/** True when a unique constraint refused the row. */
export const isUniqueViolation = (error: unknown) =>
  (error as { code?: unknown } | null)?.code === UNIQUE

const ACCOUNT = `
  id, email, book_id as book, language, zone, second_factor_on as "hasSecondFactor",
  unreviewed_reset_at as "unreviewedResetAt", unlocks, created_at as "createdAt",
  exists (select from account_closings
    where account_id = accounts.id and ended_at is null) as "isClosing"`

/** Reads without a lock. Does not find closed accounts. */
export async function accountFind(db: Executor, id: string): Promise<AccountRow | undefined> {
  const { rows } = await db.query(
    `select ${ACCOUNT} from accounts where id = $1 and closed_at is null`,
    [id],
  )
  return rows[0] as AccountRow | undefined
}

/** Reads without a lock. */
export async function accountFindByEmail(
  db: Executor,
  email: string,
): Promise<AccountRow | undefined> {
  const { rows } = await db.query(
    `select ${ACCOUNT} from accounts where email = $1 and closed_at is null`,
    [email],
  )
  return rows[0] as AccountRow | undefined
}

/** Reads without a lock. */
export async function accountFindByBook(
  db: Executor,
  book: BookId,
): Promise<AccountRow | undefined> {
  const { rows } = await db.query(
    `select ${ACCOUNT} from accounts where book_id = $1 and closed_at is null`,
    [book],
  )
  return rows[0] as AccountRow | undefined
}

/** Locks the account's row, so that closing and a change of address run one after the other. */
export async function accountLock(tx: Tx, id: AccountId): Promise<AccountRow | undefined> {
  const { rows } = await tx.query(
    `select ${ACCOUNT} from accounts where id = $1 and closed_at is null for update`,
    [id],
  )
  return rows[0] as AccountRow | undefined
}

/** Adds a confirmed account with its password, in one statement. */
export async function accountInsert(
  tx: Tx,
  p: {
    readonly id: AccountId
    readonly credential: string
    readonly email: string
    readonly passwordHash: string
    readonly language: Language
    readonly book: BookId
  },
): Promise<void> {
  await tx.query(
    `with account as (
       insert into accounts (id, email, language, book_id) values ($1, $3, $5, $6) returning id
     )
     insert into credentials (id, account_id, kind, subject, password_hash)
     select $2, id, 'credential', id, $4 from account`,
    [p.id, p.credential, p.email, p.passwordHash, p.language, p.book],
  )
}

/** Locks and updates the row. */
export async function accountSetLanguage(
  db: Executor,
  id: AccountId,
  language: Language,
): Promise<void> {
  await db.query(
    `update accounts set language = $2, updated_at = clock_timestamp() where id = $1`,
    [id, language],
  )
}

/** Locks and updates the row. */
export async function accountSetZone(db: Executor, id: AccountId, zone: string): Promise<void> {
  await db.query(`update accounts set zone = $2, updated_at = clock_timestamp() where id = $1`, [
    id,
    zone,
  ])
}

/** Adds a registration that waits for its confirmation. */
export async function registrationInsert(
  db: Executor,
  p: Omit<RegistrationRow, 'createdAt' | 'invitedBy'> & {
    readonly codeHash: Buffer
    readonly seconds: number
  },
): Promise<void> {
  await db.query(
    `insert into registrations
       (id, email, password_hash, language, consents, address, code_hash, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + make_interval(secs => $8))`,
    [
      ...[p.id, p.email, p.passwordHash, p.language, JSON.stringify(p.consents), p.address],
      ...[p.codeHash, p.seconds],
    ],
  )
}

const REGISTRATION = `
  id, email, password_hash as "passwordHash", language, consents, address,
  created_at as "createdAt", invited_by as "invitedBy"`

/** Reads without a lock: the password is checked before the row is locked. */
export async function registrationFind(
  db: Executor,
  codeHash: Buffer,
): Promise<RegistrationRow | undefined> {
  const { rows } = await db.query(
    `select ${REGISTRATION} from registrations
     where code_hash = $1 and expires_at > clock_timestamp()`,
    [codeHash],
  )
  return rows[0] as RegistrationRow | undefined
}

/** Gives the newest registration of an address a new code. Locks that row. */
export async function registrationSetCode(
  tx: Executor,
  p: {
    readonly email: string
    readonly codeHash: Buffer
    readonly hours: { readonly registration: number; readonly invitation: number }
  },
): Promise<RegistrationRow | undefined> {
  const { rows } = await tx.query(
    `update registrations
     set code_hash = $2, expires_at = clock_timestamp()
       + make_interval(hours => case when invited_by is null then $3::int else $4::int end)
     where id = (
       select id from registrations where email = $1 and expires_at > clock_timestamp()
       order by created_at desc limit 1
     )
     returning ${REGISTRATION}`,
    [p.email, p.codeHash, p.hours.registration, p.hours.invitation],
  )
  return rows[0] as RegistrationRow | undefined
}

/** Deletes every registration of the address; true when this one was among them. Locks them. */
export async function registrationConsume(
  tx: Tx,
  p: { readonly id: string; readonly email: string },
): Promise<boolean> {
  const { rows } = await tx.query(`delete from registrations where email = $1 returning id`, [
    p.email,
  ])
  return (rows as { id: string }[]).some((row) => row.id === p.id)
}

/** Records that a document was accepted; the first time is kept. */
export async function consentInsert(
  db: Executor,
  p: Consent & { readonly account: AccountId; readonly address: string; readonly at: Date | null },
): Promise<void> {
  await db.query(
    `insert into account_consents (account_id, document, version, accepted_at, address)
     values ($1, $2, $3, coalesce($4, clock_timestamp()), $5)
     on conflict (account_id, document, version) do nothing`,
    [p.account, p.document, p.version, p.at, p.address],
  )
}

/** Reads without a lock. */
export async function consentList(db: Executor, account: AccountId) {
  const { rows } = await db.query(
    `select document, version, accepted_at as "acceptedAt", address from account_consents
     where account_id = $1 order by accepted_at, document`,
    [account],
  )
  return rows as (Consent & { readonly acceptedAt: Date; readonly address: string | null })[]
}

/** Records when a session was last used, for the owner's list; at most every five minutes. */
export async function sessionTouch(db: Executor, id: string): Promise<void> {
  await db.query(
    `update sessions set last_seen_at = clock_timestamp()
     where id = $1 and last_seen_at < clock_timestamp() - interval '5 minutes'`,
    [id],
  )
}

/** The session used last comes first. Reads without a lock. */
export async function sessionList(db: Executor, account: AccountId): Promise<SessionRow[]> {
  const { rows } = await db.query(
    `select id, coalesce(address, '') as address, coalesce(agent, '') as agent,
       created_at as "createdAt", last_seen_at as "lastSeenAt", expires_at as "expiresAt"
     from sessions where account_id = $1 and expires_at > clock_timestamp()
     order by last_seen_at desc, id`,
    [account],
  )
  return rows as SessionRow[]
}

/** Ends one session of the account; true when there was one. Locks it. */
export async function sessionDelete(
  db: Executor,
  p: { readonly account: AccountId; readonly id: string },
): Promise<boolean> {
  const { rows } = await db.query(
    `delete from sessions where account_id = $1 and id = $2 returning id`,
    [p.account, p.id],
  )
  return rows.length > 0
}

/** Ends a session by the secret of its cookie. Locks it. */
export async function sessionDeleteBySecret(db: Executor, secret: string): Promise<void> {
  await db.query(`delete from sessions where secret = $1`, [secret])
}

/** Ends every session of the account but one; returns how many. Locks them. */
export async function sessionDeleteOthers(
  db: Executor,
  p: { readonly account: AccountId; readonly keep: string },
): Promise<number> {
  const { rows } = await db.query(
    `delete from sessions where account_id = $1 and id <> $2 returning id`,
    [p.account, p.keep],
  )
  return rows.length
}

/** Reads without a lock. */
export async function passkeyList(db: Executor, account: AccountId) {
  const { rows } = await db.query(
    `select id, coalesce(name, '') as name, aaguid, created_at as "createdAt"
     from passkeys where account_id = $1 order by created_at, id`,
    [account],
  )
  return rows as {
    readonly id: string
    readonly name: string
    readonly aaguid: string | null
    readonly createdAt: Date
  }[]
}

/**
 * Records a browser; returns whether the account knew it and how many it knew before: the select
 * sees the table as it was before the insert.
 */
export async function deviceUpsert(
  db: Executor,
  p: { readonly account: AccountId; readonly deviceHash: Buffer },
): Promise<{ readonly wasKnown: boolean; readonly known: number }> {
  const { rows } = await db.query(
    `with seen as (
       insert into account_devices (account_id, device_hash) values ($1, $2)
       on conflict (account_id, device_hash) do update set last_seen_at = clock_timestamp()
     )
     select coalesce(bool_or(device_hash = $2), false) as "wasKnown", count(*)::int4 as known
     from account_devices where account_id = $1`,
    [p.account, p.deviceHash],
  )
  return rows[0] as { wasKnown: boolean; known: number }
}

/**
 * Whether the account knows this browser, and how often its counts of guesses were forgotten; 0
 * without an account. Reads without a lock, and takes equally long for known and unknown addresses.
 */
export async function deviceIsKnown(
  db: Executor,
  p: { readonly email: string; readonly deviceHash: Buffer },
): Promise<{ readonly isKnown: boolean; readonly unlocks: number }> {
  const { rows } = await db.query(
    `select exists (
       select from accounts join account_devices on account_devices.account_id = accounts.id
       where accounts.email = $1 and account_devices.device_hash = $2
     ) as "isKnown", coalesce((select unlocks from accounts where email = $1), 0) as unlocks`,
    [p.email, p.deviceHash],
  )
  return rows[0] as { isKnown: boolean; unlocks: number }
}

/** Adds a code to the table that better-auth uses for its own. */
export async function codeInsert(
  tx: Executor,
  p: {
    readonly id: string
    readonly identifier: string
    readonly value: string
    readonly seconds: number
  },
): Promise<void> {
  await tx.query(
    `insert into account_codes (id, identifier, value, expires_at)
     values ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))`,
    [p.id, p.identifier, p.value, p.seconds],
  )
}

/** The account of a code, which stays. Reads without a lock. */
export async function codeFind(db: Executor, identifier: string): Promise<AccountId | undefined> {
  const { rows } = await db.query(
    `select value as account from account_codes
     where identifier = $1 and expires_at > clock_timestamp()`,
    [identifier],
  )
  return (rows[0] as { account: AccountId } | undefined)?.account
}

/** Reads and deletes a code, under its lock: of two concurrent calls only one gets it. */
export async function codeConsume(tx: Tx, identifier: string): Promise<string | undefined> {
  const { rows } = await tx.query(
    `delete from account_codes where identifier = $1 and expires_at > clock_timestamp()
     returning value`,
    [identifier],
  )
  return (rows[0] as { value: string } | undefined)?.value
}

/** Ends the links that were e-mailed so far, and unfinished sign-ins. Locks what it deletes. */
export async function codeDeleteByAccount(db: Executor, account: AccountId): Promise<void> {
  await db.query(`delete from account_codes where value = $1`, [account])
}

/** Counts an attempt. Locks the row. */
export function throttleIncrement(db: Executor, p: Parameters<typeof attemptIncrement>[2]) {
  return attemptIncrement(db, 'account_throttles', p)
}

/** Deletes the count. Locks it. */
export async function throttleDelete(db: Executor, key: string): Promise<void> {
  await db.query(`delete from account_throttles where key = $1`, [key])
}
