// Reads postings, so that another module can compare them with what it asked the ledger to post.
// Nothing here locks.
import type { Executor } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import type { EntryKind } from './queries.ts'

export type Posting = {
  readonly ref: string
  readonly book: BookId
  readonly amount: Credits
  /** The number of its entry, which is also the number of its lot. */
  readonly seq: bigint
  /** When it was posted, as PostgreSQL writes it: a Date would lose the microseconds. */
  readonly time: string
}

const COLUMNS = 'ref, book_id as book, amount, seq, at::text as time'

/** A page of the postings of a kind after (`since`, `after`), oldest first. */
async function postingList(
  db: Executor,
  p: {
    readonly kind: EntryKind
    readonly since: string
    readonly after: string
    readonly limit: number
  },
): Promise<Posting[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from postings
     where kind = $1 and at >= $2 and (at, ref) > ($2, $3)
     order by at, ref limit $4`,
    [p.kind, p.since, p.after, p.limit],
  )
  return rows as Posting[]
}

/** The postings of a kind with these references. */
async function postingFind(
  db: Executor,
  kind: EntryKind,
  refs: readonly string[],
): Promise<Posting[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from postings where kind = $1 and ref = any ($2)`,
    [kind, refs],
  )
  return rows as Posting[]
}

export function createPostingReads(db: Executor) {
  return {
    list: (p: Parameters<typeof postingList>[1]) => postingList(db, p),
    find: (kind: EntryKind, refs: readonly string[]) => postingFind(db, kind, refs),
  }
}
