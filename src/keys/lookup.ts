// Checks a key against the database, then with Argon2id. Only a completed check is a verdict: while
// the database is unavailable a key waits as long as a hold does, and is then refused with
// ledger_unavailable, never as unknown.
import { setTimeout as pause } from 'node:timers/promises'
import { assert } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import { isDatabaseUnavailable } from '../platform/db/database-errors.ts'
import type { Executor } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Hashing } from './hashing.ts'
import { viewOf } from './lifecycle.ts'
import * as queries from './queries.ts'
import { keyCheckRefusal } from './refusals.ts'
import type { KeyId, ParsedKey } from './secret.ts'
import type { Verdict } from './verdict-cache.ts'

type Caller = ReturnType<typeof callerOf>

/** Between attempts while the database is unavailable. */
const PAUSE_MS = 250

export function createLookup(options: {
  readonly db: Executor
  readonly hashing: Hashing
  readonly clock: Clock
  readonly unavailableWaitMs: number
}) {
  const { db, hashing, clock } = options
  const counts = { queries: 0 }

  async function check(
    plain: string,
    parsed: Extract<ParsedKey, { kind: 'issued' | 'imported' }>,
  ): Promise<Verdict<Caller>> {
    const rows =
      parsed.kind === 'issued'
        ? await queryOrWait(async () => {
            const row = await queries.keyFind(db, parsed.keyId)
            return row ? [row] : []
          })
        : await queryOrWait(() => queries.keyListByLookups(db, parsed.lookups))
    const [first] = rows
    if (first === undefined) return { kind: 'unknown' }
    // The tag proves that we issued the key, so a pending or revoked one needs no Argon2id.
    if (parsed.kind === 'issued' && first.state !== 'active') {
      return { kind: first.state, book: first.book }
    }
    const row = await hashing.findMatch(plain, rows)
    if (row === undefined) return { kind: 'unknown' }
    return row.state === 'active'
      ? { kind: 'verified', caller: callerOf(row) }
      : { kind: row.state, book: row.book }
  }

  /** Checks only the state: it changes in the same transaction as the fence. */
  async function recheck(caller: Caller): Promise<Caller> {
    const row = await queryOrRefuse(queries.keyFind(db, caller.keyId))
    if (row?.state !== 'active') throw revokedRefusal(caller.book)
    return callerOf(row)
  }

  /**
   * Without this wait a process that does not know a key yet, because it has just started, would
   * refuse it during a failover, while a process that knows it lets the request wait for its hold.
   */
  async function queryOrWait<T>(query: () => Promise<T>): Promise<T> {
    const startedMs = clock.spanMs()
    for (;;) {
      try {
        return await queryOrRefuse(query())
      } catch (error) {
        const isRefused = error instanceof Refusal && error.code === 'ledger_unavailable'
        const waitedMs = clock.spanMs() - startedMs + PAUSE_MS
        if (!isRefused || waitedMs > options.unavailableWaitMs) throw error
      }
      await pause(PAUSE_MS)
    }
  }

  async function queryOrRefuse<T>(answer: Promise<T>): Promise<T> {
    counts.queries += 1
    try {
      return await answer
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      const sentence = 'Keys cannot be checked now; try again.'
      throw keyCheckRefusal('ledger_unavailable', sentence, {}, error)
    }
  }

  return { check, recheck, stats: () => counts }
}

/** The caller of an active key. */
export function callerOf(row: queries.KeyRow): {
  readonly keyId: KeyId
  readonly last4: string
  readonly book: BookId
  /** The book's fence when the key was confirmed. A hold is refused once the book's is higher. */
  readonly fence: bigint
  readonly createdAt: Date
} {
  const { fence } = row
  assert(fence !== null, `key ${row.keyId} is active without a fence`)
  return { ...viewOf(row), book: row.book, fence }
}

/** `detail.book` names the account: the key was proven to be one of its former keys. */
export function revokedRefusal(book: BookId): Refusal {
  return keyCheckRefusal('key_revoked', 'This API key has been revoked.', { book })
}
