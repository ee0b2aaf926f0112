// The SQL of the operator's search for accounts; no other statement reads closed accounts.
import type { Executor } from '../platform/db/db.ts'
import type { AccountId, BookId } from '../platform/ids.ts'
import type { Language } from './queries.ts'

export type FoundAccount = {
  readonly id: AccountId
  /** For a closed account its former address, until the account is erased. */
  readonly email: string
  readonly book: BookId
  readonly language: Language
  readonly hasSecondFactor: boolean
  readonly createdAt: Date
  readonly closedAt: Date | null
  readonly erasedAt: Date | null
}

/**
 * Accounts by id, by book, or by a part of the address; an exact match first. Reads every row
 * without a lock: operators search a few times a day, and a million rows take a third of a second.
 */
export async function accountSearch(
  db: Executor,
  p: { readonly text: string; readonly limit: number },
): Promise<FoundAccount[]> {
  const { rows } = await db.query(
    `select id, coalesce(former_email, email) as email, book_id as book, language,
       second_factor_on as "hasSecondFactor", created_at as "createdAt", closed_at as "closedAt",
       erased_at as "erasedAt"
     from accounts
     where id = $1 or book_id::text = $1
       or strpos(coalesce(former_email, email), lower($1)) > 0
     order by (coalesce(former_email, email) = lower($1) or id = $1 or book_id::text = $1) desc,
       closed_at nulls first, email
     limit $2`,
    [p.text, p.limit],
  )
  return rows as FoundAccount[]
}
