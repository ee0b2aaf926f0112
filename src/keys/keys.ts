// The door of keys: who may call, and from which book the call is paid. Only an Argon2id hash of a
// key is stored. A revoked or reissued key stops on every node at that commit, because its
// fence is behind its book's and every hold compares the two. Whether an owner may have a key is
// the cabinet's question. README.md has the meaning and the failures.
import type { Ledger } from '../ledger/ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import { Refusal } from '../platform/refusal.ts'
import { createAttempts } from './attempts.ts'
import { createHashing } from './hashing.ts'
import { type BookOf, importLines } from './import.ts'
import { createLife, viewOf } from './life.ts'
import { type callerOf, createLookup, revokedRefusal } from './lookup.ts'
import * as queries from './queries.ts'
import { createSecrets } from './secret.ts'
import { createVerified } from './verified.ts'

/** Who a verified key speaks for. */
export type Caller = ReturnType<typeof callerOf>

/** What an owner sees of a key. */
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
}

export function createKeys(options: KeysOptions) {
  const { db, log } = options
  const secrets = createSecrets(options)
  const hashing = createHashing({ waitingMax: options.verifyQueue })
  const life = createLife({ ledger: options.ledger, secrets, hashing })
  const lookup = createLookup({ db, hashing })
  const attempts = createAttempts({ clock: options.clock, perMinute: options.wrongPerMinute })
  const verified = createVerified<Caller>(options)
  const counts = { forged: 0, throttled: 0 }

  async function verify(plain: string, address: string): Promise<Caller> {
    const digest = secrets.digest(plain)
    const known = verified.find(digest)
    if (known !== undefined) return known
    const reading = secrets.read(plain)
    // A good tag cannot be guessed, so the limit on guessing is not for it: else one broken client
    // would lock out everyone behind the same address whenever this process starts anew.
    if (reading.kind !== 'issued' && attempts.isOver(address)) {
      counts.throttled += 1
      throw new Refusal(
        'key_attempts_exceeded',
        'Too many invalid API keys from this address; try again in a minute.',
      )
    }
    if (reading.kind === 'malformed') throw wrong('key_malformed', address)
    if (reading.kind === 'forged') {
      counts.forged += 1
      throw wrong('key_unknown', address)
    }
    const verdict = await verified.judge(digest, () => lookup.check(plain, reading))
    if (verdict.kind === 'verified') return verdict.caller
    if (verdict.kind === 'revoked') throw revokedRefusal()
    // Only what could have been a guess is counted.
    if (reading.kind === 'imported') throw wrong('key_unknown', address)
    throw new Refusal('key_unknown', INVALID, { state: verdict.kind })
  }

  function wrong(code: 'key_malformed' | 'key_unknown', address: string): Refusal {
    if (attempts.countWrong(address)) log.warn({ address }, 'an address sends wrong keys')
    return new Refusal(code, INVALID)
  }

  return {
    /**
     * A new key, pending, and its plain value for the only time. Replaces an earlier pending one;
     * repeating makes another. Refuses: book_unknown, key_checks_overloaded.
     */
    issue: life.issue,

    /**
     * Puts the pending key in force, revokes the one before and raises the fence, in the caller's
     * transaction. May be repeated: a key that is active already stays so, and the fence with it.
     * Refuses: key_pending_missing.
     */
    confirm: life.confirm,

    /** Ends the book's key at once, and its pending one. May be repeated. */
    revoke: life.revoke,

    /**
     * Stores the hash of a key made elsewhere and puts it in force. May be repeated. Refuses:
     * key_malformed, key_import_refused, book_unknown, key_checks_overloaded.
     */
    importOne: life.importOne,

    /** Imports lines, each in a transaction of its own; one report for each. */
    importLines: (lines: AsyncIterable<string> | Iterable<string>, bookOf: BookOf = bookByNumber) =>
      importLines(lines, bookOf, (book, plain) =>
        db.transaction((tx) => life.importOne(tx, book, plain)),
      ),

    /**
     * Who a key speaks for. Refuses: key_malformed, key_unknown, key_revoked; and, saying nothing
     * about the key, key_attempts_exceeded, key_checks_overloaded, ledger_unavailable.
     */
    verify,

    /** For what needs no hold: asks the database whether the key is still in force. */
    fresh: lookup.fresh,

    /** Drops what is remembered of a key, after a hold was refused for its fence. */
    forget: (plain: string): void => {
      verified.forget(secrets.digest(plain))
    },

    /** The book's key in force, and the one that waits for its confirmation. */
    async find(book: BookId): Promise<Partial<Record<'active' | 'pending', KeyView>>> {
      const rows = await queries.keyListCurrent(db, book)
      return Object.fromEntries(rows.map((row) => [row.state, viewOf(row)]))
    },

    /** For operators: keys of an id, or of their last four characters, revoked ones too. */
    async search(text: string, limit: number): Promise<FoundKey[]> {
      const rows = await queries.keySearch(db, text, limit)
      return rows.map((row) => ({ ...viewOf(row), book: row.book, state: row.state }))
    },

    /** For metrics. */
    stats: () => ({
      ...counts,
      ...lookup.stats(),
      ...verified.stats(),
      addresses: attempts.size(),
      argon2: hashing.stats(),
    }),
  }
}

export type Keys = ReturnType<typeof createKeys>

// The vendor's own words for every key that is not one, whatever the reason.
const INVALID = 'invalid x-api-key'

async function bookByNumber(text: string): Promise<BookId | undefined> {
  return /^[1-9]\d{0,17}$/.test(text) ? (BigInt(text) as BookId) : undefined
}
