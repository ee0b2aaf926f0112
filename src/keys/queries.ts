// The SQL of keys. A row goes from pending to active to revoked; the table refuses other changes.
import type { Executor, Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { KeyId, Lookup } from './secret.ts'

export type KeyState = 'pending' | 'active' | 'revoked'

export type KeyRow = {
  readonly keyId: KeyId
  readonly book: BookId
  readonly state: KeyState
  /** Null while pending. */
  readonly fence: bigint | null
  readonly last4: string
  readonly hash: string
  /** Of the tag secret of an issued key, of the lookup secret of an imported one. */
  readonly secretId: number
  readonly createdAt: Date
}

const COLUMNS = `
  id as "keyId", book_id as book, state, fence, last4, hash,
  coalesce(secret_id, 1)::int4 as "secretId", created_at as "createdAt"`

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

/**
 * The same for the keys that share a lookup: two imports of one key must see each other. In the
 * order of the digests: processes may list their secrets in another order.
 */
export async function lookupsLock(tx: Tx, lookups: readonly Lookup[]): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('keys of lookup ' || encode(lookup, 'hex'), 0))
     from (select lookup from unnest($1::bytea[]) as given (lookup) order by lookup) as ordered`,
    [lookups.map(({ digest }) => digest)],
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
    readonly secretId: number
  },
): Promise<void> {
  await tx.query(
    `insert into keys (id, book_id, state, last4, hash, lookup, lookup_slot, secret_id)
     values ($1, $2, 'pending', $3, $4, $5, $6, $7)`,
    [key.keyId, key.book, key.last4, key.hash, key.lookup, key.slot, key.secretId],
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

/** Imported keys with these lookups, at most four of each. Reads as above, in one round trip. */
export async function keyListByLookups(
  db: Executor,
  lookups: readonly Lookup[],
): Promise<KeyRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from unnest($1::bytea[]) as given (wanted), keys_candidates(null, wanted)`,
    [lookups.map(({ digest }) => digest)],
  )
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

/** Every key the book ever had, newest first. Reads without a lock. */
export async function keyListOfBook(db: Executor, book: BookId): Promise<KeyRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from keys where book_id = $1 order by created_at desc`,
    [book],
  )
  return rows as KeyRow[]
}

/**
 * How many active and pending keys each secret made: tag secrets those that we issued, lookup
 * secrets those that were imported. Reads every row, without a lock: only operators ask.
 */
export async function keySecretUses(
  db: Executor,
): Promise<{ readonly secret: 'tag' | 'lookup'; readonly id: number; readonly count: number }[]> {
  const { rows } = await db.query(
    `select case when lookup is null then 'tag' else 'lookup' end as secret,
       coalesce(secret_id, 1)::int4 as id, count(*)::int4 as count
     from keys where state <> 'revoked'
     group by 1, 2 order by 1 desc, 2`,
  )
  return rows as { secret: 'tag' | 'lookup'; id: number; count: number }[]
}

/** The current keys that one secret made, oldest first. Reads as above. */
export async function keyListBySecret(
  db: Executor,
  p: { readonly secret: 'tag' | 'lookup'; readonly id: number; readonly limit: number },
): Promise<KeyRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from keys
     where state <> 'revoked' and (lookup is null) = ($1 = 'tag') and coalesce(secret_id, 1) = $2
     order by created_at, id limit $3`,
    [p.secret, p.id, p.limit],
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
