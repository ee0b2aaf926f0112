// Asking the database about a key, then Argon2id. Only a check that was completed is a verdict: a
// database that is away says nothing about a key, and that is never told as "unknown".
import { assert } from '../platform/assert.ts'
import { isDatabaseUnavailable } from '../platform/db/database-errors.ts'
import type { Executor } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Hashing } from './hashing.ts'
import { viewOf } from './life.ts'
import * as queries from './queries.ts'
import type { KeyId, Reading } from './secret.ts'
import type { Verdict } from './verified.ts'

type Caller = ReturnType<typeof callerOf>

export function createLookup(options: { readonly db: Executor; readonly hashing: Hashing }) {
  const { db, hashing } = options
  const counts = { queries: 0 }

  /** Asks the database, then Argon2id. Only a completed check is a verdict; a fault is thrown. */
  async function check(
    plain: string,
    reading: Extract<Reading, { kind: 'issued' | 'imported' }>,
  ): Promise<Verdict<Caller>> {
    const rows =
      reading.kind === 'issued'
        ? await asked(queries.keyFind(db, reading.keyId).then((row) => (row ? [row] : [])))
        : await asked(queries.keyListByLookup(db, reading.lookup))
    const [first] = rows
    if (first === undefined) return { kind: 'unknown' }
    // The tag vouches for an issued key, so a state that ends the matter costs no Argon2id.
    if (reading.kind === 'issued' && first.state !== 'active') return { kind: first.state }
    const row = await hashing.match(plain, rows)
    if (row === undefined) return { kind: 'unknown' }
    return row.state === 'active'
      ? { kind: 'verified', caller: callerOf(row) }
      : { kind: row.state }
  }

  /** State and fence are of one row and change in one transaction: the state tells of both. */
  async function fresh(caller: Caller): Promise<Caller> {
    const row = await asked(queries.keyFind(db, caller.keyId))
    if (row?.state !== 'active') throw revokedRefusal()
    return callerOf(row)
  }

  async function asked<T>(answer: Promise<T>): Promise<T> {
    counts.queries += 1
    try {
      return await answer
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      throw new Refusal('ledger_unavailable', 'Keys cannot be checked now; try again.', {}, error)
    }
  }

  return { check, fresh, stats: () => counts }
}

/** Who the key of an active row speaks for. */
export function callerOf(row: queries.KeyRow): {
  readonly keyId: KeyId
  readonly last4: string
  readonly book: BookId
  /** The book's fence when the key was confirmed. A hold is granted only while it still is. */
  readonly fence: bigint
  readonly createdAt: Date
} {
  const { fence } = row
  assert(fence !== null, `key ${row.keyId} is active without a fence`)
  return { ...viewOf(row), book: row.book, fence }
}

export function revokedRefusal(): Refusal {
  return new Refusal('key_revoked', 'This API key has been revoked.')
}
