// The entry file of keys: who may call, and which book pays for the call. Only an Argon2id hash of
// a key is stored. A revoked or reissued key stops on every node at that commit, because its fence
// is then lower than its book's and every hold compares the two. The cabinet decides whether an
// owner may have a key. README.md explains the terms and failures.
import type { Ledger } from '../ledger/ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import type { Refusal } from '../platform/refusal.ts'
import { createAttempts } from './attempts.ts'
import { createHashing } from './hashing.ts'
import { type FindBook, importLines } from './import.ts'
import { createLifecycle, viewOf } from './lifecycle.ts'
import { type callerOf, createLookup, revokedRefusal } from './lookup.ts'
import * as queries from './queries.ts'
import { keyCheckRefusal } from './refusals.ts'
import { createSecrets } from './secret.ts'
import { createSharedAttempts } from './shared-attempts.ts'
import { createVerdictCache } from './verdict-cache.ts'

export type {
  KeyCheckRefusalCode,
  KeyImportRefusalCode,
  KeyLifeRefusalCode,
} from './refusals.ts'

/** The key and book of a verified key. */
export type Caller = ReturnType<typeof callerOf>

/** The fields of a key that its owner sees. */
export type KeyView = ReturnType<typeof viewOf>
export type FoundKey = KeyView & { readonly book: BookId; readonly state: queries.KeyState }

export type KeysOptions = {
  /** The primary: a replica could still show a revoked key as active. */
  readonly db: Db
  readonly ledger: Pick<Ledger, 'raiseFence'>
  readonly clock: Clock
  readonly log: Log
  readonly slug: string
  readonly cell: number
  readonly tagSecret: Masked<string>
  readonly lookupSecret: Masked<string>
  readonly verifiedMax: number
  readonly wrongMax: number
  readonly verifyQueue: number
  readonly wrongPerMinute: number
  /** How long a key that this process does not know waits for the database; by default not. */
  readonly unavailableWaitMs?: number
}

export function createKeys(options: KeysOptions) {
  const { db, log } = options
  const secrets = createSecrets(options)
  const hashing = createHashing({ waitingMax: options.verifyQueue })
  const lifecycle = createLifecycle({ ledger: options.ledger, secrets, hashing })
  const { clock, unavailableWaitMs = 0 } = options
  const lookup = createLookup({ db, hashing, clock, unavailableWaitMs })
  const attempts = createAttempts({ clock: options.clock, perMinute: options.wrongPerMinute })
  const shared = createSharedAttempts({ ...options, attempts })
  const verdicts = createVerdictCache<Caller>(options)
  const counts = { forged: 0, throttled: 0 }

  async function verify(plain: string, address: string): Promise<Caller> {
    const digest = secrets.digest(plain)
    const known = verdicts.findCaller(digest)
    if (known !== undefined) return known
    const parsed = secrets.parse(plain)
    // A valid tag cannot be guessed, so the limit does not apply to it: otherwise one broken client
    // would lock out all clients behind its address whenever this process restarts.
    if (parsed.kind !== 'issued' && attempts.isOverLimit(address)) {
      counts.throttled += 1
      throw keyCheckRefusal(
        'key_attempts_exceeded',
        'Too many invalid API keys from this address; try again in a minute.',
      )
    }
    if (parsed.kind === 'malformed') throw wrong('key_malformed', address)
    if (parsed.kind === 'forged') {
      counts.forged += 1
      throw wrong('key_unknown', address)
    }
    const verdict = await verdicts.verdictOf(digest, () => lookup.check(plain, parsed))
    if (verdict.kind === 'verified') return verdict.caller
    if (verdict.kind === 'revoked') throw revokedRefusal(verdict.book)
    // Count only what may be a guess: an issued key has a valid tag.
    if (parsed.kind === 'imported') throw wrong('key_unknown', address)
    throw keyCheckRefusal('key_unknown', INVALID, { state: verdict.kind })
  }

  function wrong(code: 'key_malformed' | 'key_unknown', address: string): Refusal {
    if (attempts.countWrong(address)) log.warn({ address }, 'an address sends wrong keys')
    shared.share()
    return keyCheckRefusal(code, INVALID)
  }

  return {
    /**
     * Creates a pending key and returns its plain value, which is not stored. Replaces an earlier
     * pending key; each call creates another. Refuses: book_unknown, key_checks_overloaded.
     */
    issue: lifecycle.issue,

    /**
     * Activates the pending key, revokes the previous one and raises the fence, in the caller's
     * transaction. Repeatable: for a key that is active already nothing changes.
     * Refuses: key_pending_missing.
     */
    confirm: lifecycle.confirm,

    /** Revokes the book's active key and deletes its pending one. Repeatable. */
    revoke: lifecycle.revoke,

    /**
     * Stores the hash of a key of another service and activates it. Repeatable. Refuses:
     * key_malformed, key_import_refused, book_unknown, key_checks_overloaded.
     */
    importKey: lifecycle.importKey,

    /** Imports lines, each in its own transaction; yields one report for each. */
    importLines: (
      lines: AsyncIterable<string> | Iterable<string>,
      findBook: FindBook = bookByNumber,
    ) =>
      importLines(lines, findBook, (book, plain) =>
        db.transaction((tx) => lifecycle.importKey(tx, book, plain)),
      ),

    /**
     * The caller of a key. Refuses: key_malformed, key_unknown, key_revoked; and for reasons other
     * than the key, key_attempts_exceeded, key_checks_overloaded, ledger_unavailable.
     */
    verify,

    /** For requests without a hold: reads from the database whether the key is still active. */
    recheck: lookup.recheck,

    /** Removes a key from the cache, after a hold was refused because of its fence. */
    forget: (plain: string): void => {
      verdicts.forget(secrets.digest(plain))
    },

    /** The book's active key, and the pending one. */
    async find(book: BookId): Promise<Partial<Record<'active' | 'pending', KeyView>>> {
      const rows = await queries.keyListCurrent(db, book)
      return Object.fromEntries(rows.map((row) => [row.state, viewOf(row)]))
    },

    /** Every key the book ever had, newest first, for the owner's copy. */
    async list(book: BookId) {
      const rows = await queries.keyListOfBook(db, book)
      return rows.map((row) => ({ ...viewOf(row), state: row.state }))
    },

    /** For operators: keys with this id or these last four characters, revoked ones too. */
    async search(text: string, limit: number): Promise<FoundKey[]> {
      const rows = await queries.keySearch(db, text, limit)
      return rows.map((row) => ({ ...viewOf(row), book: row.book, state: row.state }))
    },

    /** For operators: how many current keys each secret made. */
    secretUses: () => queries.keySecretUses(db),
    /** For operators: the current keys that one secret made, oldest first. */
    async listBySecret(p: Parameters<typeof queries.keyListBySecret>[1]): Promise<FoundKey[]> {
      const rows = await queries.keyListBySecret(db, p)
      return rows.map((row) => ({ ...viewOf(row), book: row.book, state: row.state }))
    },

    /** For metrics. */
    stats: () => ({
      ...counts,
      ...lookup.stats(),
      ...verdicts.stats(),
      addresses: attempts.size(),
      unsharedAddresses: attempts.unsharedSize(),
      argon2: hashing.stats(),
    }),
  }
}

export type Keys = ReturnType<typeof createKeys>

// The vendor's message for every invalid key, whatever the reason.
const INVALID = 'invalid x-api-key'

async function bookByNumber(text: string): Promise<BookId | undefined> {
  return /^[1-9]\d{0,17}$/.test(text) ? (BigInt(text) as BookId) : undefined
}
