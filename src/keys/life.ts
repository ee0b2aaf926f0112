// A key's life: pending, active, revoked. Every verb runs in the caller's transaction and takes its
// locks in one order: the keys of the book, then, last, the book in the ledger. Several processes
// may do this for one book at once; the table has the last word on how many keys it has.
import type { Ledger } from '../ledger/ledger.ts'
import type { Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Hashing } from './hashing.ts'
import * as queries from './queries.ts'
import { isKeyId, type KeyId, last4Of, type NewKey, type Secrets } from './secret.ts'

/** Each candidate costs one Argon2id; twelve random characters never meet even once. */
const CANDIDATES_MAX = 4
const FOREIGN_KEY = '23503'

export function createLife(options: {
  readonly ledger: Pick<Ledger, 'raiseFence'>
  readonly secrets: Secrets
  readonly hashing: Hashing
}) {
  const { ledger, secrets, hashing } = options

  /** Replaces the pending key with one that is not in force until it is confirmed. */
  async function storePending(tx: Tx, key: Parameters<typeof queries.keyInsert>[1]): Promise<void> {
    await queries.keyDeletePending(tx, key.book)
    await queries.keyInsert(tx, key).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== FOREIGN_KEY) throw error
      throw new Refusal('book_unknown', 'There is no such account.', { book: key.book }, error)
    })
  }

  // The key's rows are locked by now: the ledger's lock comes last, and what follows takes none.
  async function activate(tx: Tx, book: BookId, keyId: KeyId): Promise<void> {
    await queries.keyActivate(tx, keyId, await ledger.raiseFence(tx, book))
  }

  async function issue(tx: Tx, book: BookId): Promise<NewKey> {
    const key = secrets.make()
    // Before the lock, which must not wait for a core.
    const hash = await hashing.make(key.plain, 'issued')
    await queries.bookKeysLock(tx, book)
    const { keyId, last4 } = key
    await storePending(tx, { keyId, book, last4, hash, lookup: null, slot: null })
    return key
  }

  async function confirm(
    tx: Tx,
    book: BookId,
    keyId: string,
  ): Promise<ReturnType<typeof viewOf> & { isRepeat: boolean }> {
    await queries.bookKeysLock(tx, book)
    const row = isKeyId(keyId) ? await queries.keyFindForConfirm(tx, { keyId, book }) : undefined
    if (row === undefined || row.state === 'revoked') {
      throw new Refusal('key_pending_missing', 'This key was replaced; issue a new one.', {
        book,
        state: row?.state,
      })
    }
    if (row.state === 'active') return { ...viewOf(row), isRepeat: true }
    await queries.keyRevokeActive(tx, book)
    await activate(tx, book, row.keyId)
    return { ...viewOf(row), isRepeat: false }
  }

  async function revoke(tx: Tx, book: BookId): Promise<{ revoked: KeyId | undefined }> {
    await queries.bookKeysLock(tx, book)
    await queries.keyDeletePending(tx, book)
    const revoked = await queries.keyRevokeActive(tx, book)
    if (revoked !== undefined) await ledger.raiseFence(tx, book)
    return { revoked }
  }

  async function importOne(
    tx: Tx,
    book: BookId,
    plain: string,
  ): Promise<{ keyId: KeyId; last4: string; isRepeat: boolean }> {
    const reading = secrets.read(plain)
    if (reading.kind !== 'imported') {
      throw new Refusal('key_malformed', 'Not a key of the imported format, or too short.')
    }
    const { lookup } = reading
    await queries.bookKeysLock(tx, book)
    await queries.lookupLock(tx, lookup)
    const candidates = await queries.keyListByLookup(tx, lookup)
    const same = candidates.length === 0 ? undefined : await hashing.match(plain, candidates)
    if (same?.book === book && same.state === 'active') return { ...viewOf(same), isRepeat: true }
    const refuse = (sentence: string) => new Refusal('key_import_refused', sentence, { book })
    if (same !== undefined) throw refuse('This key was imported before.')
    if (candidates.length >= CANDIDATES_MAX) throw refuse('Too many keys begin like this one.')
    const current = await queries.keyListCurrent(tx, book)
    if (current.some((row) => row.state === 'active')) throw refuse('The account has a key.')

    const key = { keyId: secrets.makeId(), book, last4: last4Of(plain) }
    const hash = await hashing.make(plain, 'imported')
    await storePending(tx, { ...key, hash, lookup, slot: candidates.length + 1 })
    await activate(tx, book, key.keyId)
    return { keyId: key.keyId, last4: key.last4, isRepeat: false }
  }

  return { issue, confirm, revoke, importOne }
}

/** What of a key is fit to be shown. */
export function viewOf({ keyId, last4, createdAt }: queries.KeyRow) {
  return { keyId, last4, createdAt }
}
