// The SQL of keys. A row goes from pending to active to revoked; the table refuses other changes.
import type { Executor, Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { KeyId } from './secret.ts'

export type KeyState = 'pending' | 'active' | 'revoked'

export type KeyRow = {
  readonly keyId: KeyId
  readonly book: BookId
  readonly state: KeyState
  /** Null while pending. */
  readonly fence: bigint | null
  readonly last4: string
  readonly hash: string
  readonly createdAt: Date
}

const COLUMNS = `
  id as "keyId", book_id as book, state, fence, last4, hash, created_at as "createdAt"`

/**
 * Locks the keys of this book until the transaction ends. An advisory lock, because a book without
 * keys has no row to lock, and the book's own row belongs to the ledger and is locked last. A
 * statement of its own: the next one must see what the previous holder of the lock committed.
 */
export async function bookKeysLock(tx: Tx, book: BookId): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('keys of book ' || $1::int8, 0))`, [
    book,
  ])
}

/** The same for the keys that share a lookup: two imports of one key must see each other. */
export async function lookupLock(tx: Tx, lookup: Buffer): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('keys of lookup ' || encode($1, 'hex'), 0))`,
    [lookup],
  )
}

/** Adds a pending key. Locks the new row, and the book's row against deletion only. */
export async function keyInsert(
  tx: Tx,
  key: {
    readonly keyId: KeyId
    readonly book: BookId
    readonly last4: string
    readonly hash: string
    readonly lookup: Buffer | null
    readonly slot: number | null
  },
): Promise<void> {
  await tx.query(
    `insert into keys (id, book_id, state, last4, hash, lookup, lookup_slot)
     values ($1, $2, 'pending', $3, $4, $5, $6)`,
    [key.keyId, key.book, key.last4, key.hash, key.lookup, key.slot],
  )
}

/** Locks and removes the book's pending key, if there is one. */
export async function keyDeletePending(tx: Tx, book: BookId): Promise<void> {
  await tx.query(`delete from keys where book_id = $1 and state = 'pending'`, [book])
}

/** Locks and activates a pending key with the current fence of its book. */
export async function keyActivate(tx: Tx, keyId: KeyId, fence: bigint): Promise<void> {
  await tx.query(
    `update keys set state = 'active', activated_at = clock_timestamp(), fence = $2
     where id = $1 and state = 'pending'`,
    [keyId, fence],
  )
}

/** Locks and revokes the book's active key; returns its id. */
export async function keyRevokeActive(tx: Tx, book: BookId): Promise<KeyId | undefined> {
  const { rows } = await tx.query(
    `update keys set state = 'revoked', revoked_at = clock_timestamp()
     where book_id = $1 and state = 'active'
     returning id`,
    [book],
  )
  return (rows[0] as { id: KeyId } | undefined)?.id
}

/** Locks the key's row, so that no lock is taken after the ledger's. */
export async function keyFindForConfirm(
  tx: Tx,
  p: { keyId: KeyId; book: BookId },
): Promise<KeyRow | undefined> {
  const { rows } = await tx.query(
    `select ${COLUMNS} from keys where id = $1 and book_id = $2 for update`,
    [p.keyId, p.book],
  )
  return rows[0] as KeyRow | undefined
}

/**
 * Reads without a lock; state and fence are of the same row, so they agree. By a function: a
 * gateway may not read the table.
 */
export async function keyFind(db: Executor, keyId: KeyId): Promise<KeyRow | undefined> {
  const { rows } = await db.query(`select ${COLUMNS} from keys_candidates($1, null)`, [keyId])
  return rows[0] as KeyRow | undefined
}

/** Imported keys with this lookup, at most four, active ones first. Reads as above. */
export async function keyListByLookup(db: Executor, lookup: Buffer): Promise<KeyRow[]> {
  const { rows } = await db.query(`select ${COLUMNS} from keys_candidates(null, $1)`, [lookup])
  return rows as KeyRow[]
}

/**
 * Keys with this id or these last four characters, active ones first. Reads every row, without a
 * lock: only operators search, when a customer quotes the end of a key.
 */
export async function keySearch(db: Executor, text: string, limit: number): Promise<KeyRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from keys where id = $1 or last4 = $1
     order by (state = 'active') desc, created_at desc
     limit $2`,
    [text, limit],
  )
  return rows as KeyRow[]
}

/** The book's active and pending keys. Reads without a lock. */
export async function keyListCurrent(db: Executor, book: BookId): Promise<KeyRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from keys
     where book_id = $1 and (state = 'active' or state = 'pending')`,
    [book],
  )
  return rows as KeyRow[]
}

/**
 * Adds wrong keys of senders to the counts of all processes, and returns the counts of the current
 * minute, which begins with a sender's first wrong key. The first two bytes of a digest choose the
 * row: of two senders with the same row the one counted last has it. Locks the rows in their order,
 * so that processes do not deadlock.
 */
export async function wrongKeysAdd(
  db: Executor,
  senders: readonly { readonly sender: Buffer; readonly wrong: number }[],
): Promise<{ sender: Buffer; wrong: number; leftMs: number }[]> {
  const { rows } = await db.query(
    `insert into wrong_keys as w (slot, sender, wrong, ends_at)
     select distinct on (slot) slot, sender, wrong, clock_timestamp() + interval '1 minute'
     from unnest($1::int4[], $2::bytea[], $3::int4[]) as given (slot, sender, wrong)
     order by slot, wrong desc
     on conflict (slot) do update set (sender, wrong, ends_at) = (
       select excluded.sender,
         case when is_same then w.wrong + excluded.wrong else excluded.wrong end,
         case when is_same then w.ends_at else excluded.ends_at end
       from (select w.sender = excluded.sender and w.ends_at > clock_timestamp() as is_same) as s)
     returning sender, wrong,
       greatest(0, extract(epoch from ends_at - clock_timestamp()) * 1000)::float8 as "leftMs"`,
    [
      senders.map(({ sender }) => sender.readUInt16BE(0)),
      senders.map(({ sender }) => sender),
      senders.map(({ wrong }) => wrong),
    ],
  )
  return rows as { sender: Buffer; wrong: number; leftMs: number }[]
}
