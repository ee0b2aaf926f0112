// The statements of the audit: its checks, the parts that it reads one after the other, and its
// marks. One function per statement.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, HoldId } from '../../platform/ids.ts'

export type Finding = { rule: string; book: BookId; detail: string }
/** The books from `from` to before `until`. */
export type Part = { readonly from: bigint; readonly until: bigint }
/** The holds of a day after the id `after`, up to `last`. */
export type HoldPart = { readonly day: number; readonly after: HoldId; readonly last: HoldId }
export type Mark = { book: BookId; seq: bigint; balance: bigint; day: string }

const FIRST_BOOK = -(2n ** 63n)
const LAST_BOOK = 2n ** 63n - 1n
const FIRST_HOLD = '00000000-0000-0000-0000-000000000000' as HoldId
const LAST_HOLD = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as HoldId

/** The newest heartbeat that this server has; none from a clock that ran ahead. */
export async function beatFindNewest(db: Executor): Promise<Date | undefined> {
  const { rows } = await db.query(
    'select max(beat_at) as newest from instances where beat_at <= ledger_now()',
  )
  return (rows[0] as { newest: Date | null }).newest ?? undefined
}

async function findingList(
  tx: Tx,
  checks: readonly string[],
  values: readonly unknown[],
  limit: number,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of checks) {
    const { rows } = await tx.query(
      `select rule, book_id as book, detail from ${check} order by 1, 2, 3 limit ${limit}`,
      [...values],
    )
    findings.push(...(rows as Finding[]))
  }
  return findings.slice(0, limit)
}

/** What is wrong with the entries since the marks. Only reads. */
export function findingListNew(tx: Tx, limit: number): Promise<Finding[]> {
  return findingList(tx, ['ledger_audit_chain(false)'], [], limit)
}

/** What is wrong with the sums of open holds. Only reads; all books at once. */
export function findingListOfHolds(tx: Tx, limit: number): Promise<Finding[]> {
  return findingList(tx, ['ledger_audit_holds()'], [], limit)
}

/** What is wrong with these books and their entries. Only reads. */
export async function findingListOfBooks(
  tx: Tx,
  p: Part & { readonly limit: number },
): Promise<Finding[]> {
  // The books are few and the tables large: every row is found by an index.
  await tx.query('set local enable_seqscan = off')
  const checks = [
    'ledger_audit_chain_of(true, $1, $2)',
    'ledger_audit_charges_of($1, $2)',
    'ledger_audit_entries_of($1, $2)',
    'ledger_audit_postings_of($1, $2)',
    'ledger_audit_sums_of($1, $2)',
  ]
  return findingList(tx, checks, [p.from, p.until], p.limit)
}

/** Settled holds of this part that have no charge. Only reads. */
export async function findingListOfSettled(
  tx: Tx,
  p: HoldPart & { readonly limit: number },
): Promise<Finding[]> {
  await tx.query('set local enable_seqscan = off')
  const check = 'ledger_audit_settled_of($1, $2, $3)'
  return findingList(tx, [check], [p.day, p.after, p.last], p.limit)
}

/**
 * All books, in parts with about `rows` entries. The first and the last part have no end: an entry
 * may name a book that does not exist.
 */
export async function partList(db: Executor, rows: number): Promise<Part[]> {
  const { rows: ends } = await db.query(
    `select max(id) as last from (
       select b.id, sum(1 + b.seq - coalesce(c.seq, 0)) over (order by b.id) / $1::int8 as part
       from books b left join checkpoints c on c.book_id = b.id
     ) b group by trunc(part) order by 1`,
    [rows],
  )
  const starts = (ends as { last: bigint }[]).slice(0, -1).map(({ last }) => last + 1n)
  return [FIRST_BOOK, ...starts].map((from, i) => ({ from, until: starts[i] ?? LAST_BOOK }))
}

/** The next part with at most `rows` holds; undefined if there are no later days. */
export async function holdPartFind(
  db: Executor,
  before: HoldPart | undefined,
  rows: number,
): Promise<HoldPart | undefined> {
  const isDayOver = before === undefined || before.last === LAST_HOLD
  const day = isDayOver ? await dayFindAfter(db, before?.day ?? -1) : before.day
  if (day === undefined) return undefined
  const after = isDayOver ? FIRST_HOLD : before.last
  const { rows: found } = await db.query(
    'select id from holds where day = $1 and id > $2 order by id offset $3 limit 1',
    [day, after, rows - 1],
  )
  return { day, after, last: (found[0] as { id: HoldId } | undefined)?.id ?? LAST_HOLD }
}

async function dayFindAfter(db: Executor, day: number): Promise<number | undefined> {
  const { rows } = await db.query('select min(day) as day from holds where day > $1', [day])
  return (rows[0] as { day: number | null }).day ?? undefined
}

/** The books whose chain is longer than their mark says, by id. Only reads. */
export async function markList(
  tx: Tx,
  p: { readonly after: BookId | null; readonly limit: number },
): Promise<Mark[]> {
  const { rows } = await tx.query(
    `select b.id as book, b.seq, b.available + b.held - b.debt as balance,
       coalesce((select e.day from entries e where e.book_id = b.id and e.seq = b.seq
         and e.day >= coalesce(m.day, '-infinity')), m.day, '-infinity')::text as day
     from books b left join audit_marks m on m.book_id = b.id
     where b.seq <> coalesce(m.seq, 0) and b.id > coalesce($1::int8, ${FIRST_BOOK})
     order by b.id limit $2`,
    [p.after, p.limit],
  )
  return rows as Mark[]
}

/** Moves the marks of these books forward, never back. Locks their marks. */
export async function markStore(db: Executor, marks: readonly Mark[]): Promise<void> {
  await db.query(
    `insert into audit_marks (book_id, seq, balance, day)
     select * from unnest($1::int8[], $2::int8[], $3::int8[], $4::date[])
     on conflict (book_id) do update
     set seq = excluded.seq, balance = excluded.balance, day = excluded.day
     where audit_marks.seq < excluded.seq`,
    [
      marks.map(({ book }) => book),
      marks.map(({ seq }) => seq),
      marks.map(({ balance }) => balance),
      marks.map(({ day }) => day),
    ],
  )
}
