// The SQL of a succession: which accounts secret made what, and second factors to encrypt anew. The
// function accounts_secret_id reads the id in an encrypted text.
import type { Executor } from '../../platform/db/db.ts'

/** The encrypted texts of a second factor. */
export type SecondFactor = {
  readonly id: string
  readonly account: string
  readonly seed: string
  readonly codes: string
}

type Ids = {
  /** Of the secret that encrypts now. */
  readonly current: number
  /** Of all secrets that are given. */
  readonly known: readonly number[]
}

const COLUMNS = 'id, account_id as account, secret as seed, recovery_codes as codes'
const SEED_ID = 'accounts_secret_id(secret)'
const CODES_ID = 'accounts_secret_id(recovery_codes)'

/**
 * Second factors that another known secret encrypted, wholly or in part, in the order of their ids.
 * Reads the whole table, without a lock: 100,000 rows take 0.2 s, once a minute.
 */
export async function secondFactorListFormer(
  db: Executor,
  p: Ids & { readonly after: string; readonly limit: number },
): Promise<SecondFactor[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from second_factors
     where id > $3 and (${SEED_ID} <> $1 or ${CODES_ID} <> $1)
       and ${SEED_ID} = any($2::int4[]) and ${CODES_ID} = any($2::int4[])
     order by id limit $4`,
    [p.current, p.known, p.after, p.limit],
  )
  return rows as SecondFactor[]
}

/** Reads without a lock. */
export async function secondFactorFind(
  db: Executor,
  id: string,
): Promise<SecondFactor | undefined> {
  const { rows } = await db.query(`select ${COLUMNS} from second_factors where id = $1`, [id])
  return rows[0] as SecondFactor | undefined
}

/** Replaces both texts if they are still the old ones; locks the row. True when it did. */
export async function secondFactorReplace(
  db: Executor,
  old: SecondFactor,
  texts: { readonly seed: string; readonly codes: string },
): Promise<boolean> {
  const { rows } = await db.query(
    `update second_factors set secret = $4, recovery_codes = $5
     where id = $1 and secret = $2 and recovery_codes = $3
     returning id`,
    [old.id, old.seed, old.codes, texts.seed, texts.codes],
  )
  return rows.length === 1
}

/** How many are not wholly under the current secret, and how many of them under an unknown one. */
export async function secondFactorCount(
  db: Executor,
  { current, known }: Ids,
): Promise<{ readonly left: number; readonly unknown: number }> {
  const { rows } = await db.query(
    `select count(*)::int4 as left,
       (count(*) filter (
         where ${SEED_ID} <> all($2::int4[]) or ${CODES_ID} <> all($2::int4[])
       ))::int4 as unknown
     from second_factors where ${SEED_ID} <> $1 or ${CODES_ID} <> $1`,
    [current, known],
  )
  return rows[0] as { left: number; unknown: number }
}

/** How many sessions and second factors each accounts secret made; for operators. */
export async function accountsSecretUses(
  db: Executor,
): Promise<{ readonly id: number; readonly what: string; readonly count: number }[]> {
  const { rows } = await db.query(
    'select secret_id as id, what, things::int4 as count from accounts_secret_uses()',
  )
  return rows as { id: number; what: string; count: number }[]
}
