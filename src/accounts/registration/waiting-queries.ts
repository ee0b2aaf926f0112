// The SQL of registrations that wait: what operators see of them, invitations, and new codes.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { Language, RegistrationRow } from '../queries.ts'

/** A registration or an invitation as operators see it. */
export type WaitingRegistration = {
  readonly id: string
  readonly email: string
  readonly language: Language
  /** The operator who invited the person; null for a person who registered. */
  readonly invitedBy: string | null
  /** From where it was registered; empty for an invitation. */
  readonly address: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

const WAITING = `
  id, email, language, invited_by as "invitedBy", address, created_at as "createdAt",
  expires_at as "expiresAt"`

/** Newest first; with `text` only those of this id or with this part of an address. */
export async function waitingList(
  db: Executor,
  p: { readonly text: string | null; readonly limit: number },
): Promise<WaitingRegistration[]> {
  const { rows } = await db.query(
    `select ${WAITING} from registrations
     where $1::text is null or id = $1 or strpos(email, lower($1)) > 0
     order by created_at desc, id limit $2`,
    [p.text, p.limit],
  )
  return rows as WaitingRegistration[]
}

/** Gives a registration a new code, also an expired one. Locks its row. */
export async function waitingSetCode(
  tx: Tx,
  p: { readonly id: string; readonly codeHash: Buffer; readonly seconds: number },
): Promise<WaitingRegistration | undefined> {
  const { rows } = await tx.query(
    `update registrations
     set code_hash = $2, expires_at = clock_timestamp() + make_interval(secs => $3)
     where id = $1
     returning ${WAITING}`,
    [p.id, p.codeHash, p.seconds],
  )
  return rows[0] as WaitingRegistration | undefined
}

/** False when there is none any more. Locks the row. */
export async function waitingDelete(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await tx.query('delete from registrations where id = $1 returning id', [id])
  return rows.length > 0
}

/** Adds an invitation. Its password is the hash of a text that nobody knows. */
export async function invitationInsert(
  tx: Tx,
  p: Pick<RegistrationRow, 'id' | 'email' | 'passwordHash' | 'language'> & {
    readonly invitedBy: string
    readonly codeHash: Buffer
    readonly seconds: number
  },
): Promise<void> {
  await tx.query(
    `insert into registrations
       (id, email, password_hash, language, consents, address, code_hash, expires_at, invited_by)
     values ($1, $2, $3, $4, '[]', '', $5, clock_timestamp() + make_interval(secs => $6), $7)`,
    [p.id, p.email, p.passwordHash, p.language, p.codeHash, p.seconds, p.invitedBy],
  )
}
