// The SQL of unattended tokens.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { Role } from '../permissions.ts'

export type TokenRow = {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly createdAt: Date
  readonly createdBy: string
  readonly endsAt: Date
  readonly usedAt: Date | null
  readonly revokedAt: Date | null
}

const TOKEN = `
  id, name, role, created_at as "createdAt", created_by as "createdBy", ends_at as "endsAt",
  used_at as "usedAt", revoked_at as "revokedAt"`

/** Inserts the row. Returns false if another token that was not revoked has the name. */
export async function tokenInsert(
  tx: Tx,
  p: {
    readonly id: string
    readonly name: string
    readonly role: Role
    readonly digest: Buffer
    readonly days: number
    readonly by: string
  },
): Promise<boolean> {
  const { rows } = await tx.query(
    `insert into operator_tokens (id, name, role, token_digest, created_by, ends_at)
     values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(days => $6))
     on conflict (name) where revoked_at is null do nothing returning id`,
    [p.id, p.name, p.role, p.digest, p.by, p.days],
  )
  return rows.length > 0
}

/** The token of a digest, and one more use of it. Locks and updates the row. */
export async function tokenTouch(db: Executor, digest: Buffer): Promise<TokenRow | undefined> {
  const { rows } = await db.query(
    `update operator_tokens set used_at = clock_timestamp()
     where token_digest = $1 and revoked_at is null and ends_at > clock_timestamp()
     returning ${TOKEN}`,
    [digest],
  )
  return rows[0] as TokenRow | undefined
}

/** Newest first. Reads without a lock. */
export async function tokenList(db: Executor): Promise<TokenRow[]> {
  const { rows } = await db.query(`select ${TOKEN} from operator_tokens order by created_at desc`)
  return rows as TokenRow[]
}

/** By name or id. True when such a token was in force. Locks and updates the row. */
export async function tokenRevoke(tx: Tx, text: string): Promise<boolean> {
  const { rows } = await tx.query(
    `update operator_tokens set revoked_at = clock_timestamp()
     where (name = $1 or id = $1) and revoked_at is null returning id`,
    [text],
  )
  return rows.length > 0
}
