// The states of a key: pending, active, revoked. Every function runs in the caller's transaction
// and takes its locks in one order: the keys of the book, then the book in the ledger. Several
// processes may do this for one book at once; constraints of the table limit how many keys it has.
import type { Ledger } from '../ledger/ledger.ts'
import type { Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Hashing } from './hashing.ts'
import * as queries from './queries.ts'
import { keyImportRefusal, keyLifeRefusal } from './refusals.ts'
import { isKeyId, type KeyId, last4Of, type NewKey, type Secrets } from './secret.ts'

/** Each candidate costs one Argon2id check. Twelve random characters practically never repeat. */
const CANDIDATES_MAX = 4
const FOREIGN_KEY = '23503'

export function createLifecycle(options: {
  readonly ledger: Pick<Ledger, 'raiseFence'>
  readonly secrets: Secrets
  readonly hashing: Hashing
}) {
  const { ledger, secrets, hashing } = options

  /** Stores a pending key in place of an earlier one. */
  async function storePending(tx: Tx, key: Parameters<typeof queries.keyInsert>[1]): Promise<void> {
    await queries.keyDeletePending(tx, key.book)
    await queries.keyInsert(tx, key).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== FOREIGN_KEY) throw error
      const { book } = key
      throw keyImportRefusal('book_unknown', 'There is no such account.', { book }, error)
    })
  }

  // The key's rows are locked already: the ledger's lock is the last one that is taken.
  async function activate(tx: Tx, book: BookId, keyId: KeyId): Promise<void> {
    await queries.keyActivate(tx, keyId, await ledger.raiseFence(tx, book))
  }

  async function issue(tx: Tx, book: BookId): Promise<NewKey> {
    const { secretId, ...key } = secrets.generate()
    // Hash before locking: the lock must not be held while the hash waits for a core.
    const hash = await hashing.hash(key.plain, 'issued')
    await queries.bookKeysLock(tx, book)
    const { keyId, last4 } = key
    await storePending(tx, { keyId, book, last4, hash, lookup: null, slot: null, secretId })
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
      throw keyLifeRefusal('key_pending_missing', 'This key was replaced; issue a new one.', {
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

  async function importKey(
    tx: Tx,
    book: BookId,
    plain: string,
  ): Promise<{ keyId: KeyId; last4: string; isRepeat: boolean }> {
    const parsed = secrets.parse(plain)
    if (parsed.kind !== 'imported') {
      const form = `Not a key that can be imported: it must be ${secrets.importedForm}.`
      throw keyImportRefusal('key_malformed', form)
    }
    const [{ secretId, digest: lookup }] = parsed.lookups
    await queries.bookKeysLock(tx, book)
    await queries.lookupsLock(tx, parsed.lookups)
    const candidates = await queries.keyListByLookups(tx, parsed.lookups)
    const same = candidates.length === 0 ? undefined : await hashing.findMatch(plain, candidates)
    if (same?.book === book && same.state === 'active') return { ...viewOf(same), isRepeat: true }
    const refuse = (sentence: string) => keyImportRefusal('key_import_refused', sentence, { book })
    if (same !== undefined) throw refuse('This key was imported before.')
    const slot = candidates.filter((row) => row.secretId === secretId).length + 1
    if (slot > CANDIDATES_MAX) throw refuse('Too many keys begin like this one.')
    const current = await queries.keyListCurrent(tx, book)
    if (current.some((row) => row.state === 'active')) throw refuse('The account has a key.')

    const key = { keyId: secrets.generateId(), book, last4: last4Of(plain) }
    const hash = await hashing.hash(plain, 'imported')
    await storePending(tx, { ...key, hash, lookup, slot, secretId })
    await activate(tx, book, key.keyId)
    return { keyId: key.keyId, last4: key.last4, isRepeat: false }
  }

  return { issue, confirm, revoke, importKey }
}

/** The fields of a key that may be shown. */
export function viewOf({ keyId, last4, createdAt }: queries.KeyRow) {
  return { keyId, last4, createdAt }
}
