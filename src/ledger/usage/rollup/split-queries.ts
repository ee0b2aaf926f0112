// The SQL that adds entries up by model, ending, session and label, and that forgets old sessions.
// One function per statement. split-rollup.ts adds up in Node: histograms by key and length would
// need 16 groupings of every entry in SQL.
import { dateAt } from '../../../platform/clock.ts'
import type { Executor, Tx } from '../../../platform/db/db.ts'
import type { BookId } from '../../../platform/ids.ts'
import { AMOUNT_COLUMNS, type AmountsRow } from '../figures.ts'
import { sessionsSinceSql } from '../queries.ts'
import { REQUEST_COLUMNS } from '../request-rows.ts'
import type { RollupRange } from './rollup-queries.ts'

/**
 * Inserts the marks of books that have none, after the entries that have left the ledger. What is
 * known of those is copied from the sums by model. Two workers may insert the same.
 */
export async function splitMarkEnsure(db: Executor, books: readonly BookId[]): Promise<void> {
  await db.query(
    `with marked as (
       insert into usage_split_marks (book_id, seq, day)
       select book, coalesce(c.seq, 0), coalesce(c.day, '-infinity')
       from unnest($1::int8[]) as book left join checkpoints c on c.book_id = book
       order by book
       on conflict do nothing returning book_id, seq
     )
     insert into usage_split_sums (book_id, at, minutes, split, key, requests, free, errors, known,
       input, output, cache_read, cache_write_5m, cache_write_1h, spent, cache_saved, first_byte,
       total)
     select s.book_id, s.at, s.minutes, 'model', s.model, s.requests, s.free, 0, 0, s.input,
       s.output, s.cache_read, s.cache_write_5m, s.cache_write_1h, s.spent, 0, '{}', '{}'
     from marked m join usage_sums s on s.book_id = m.book_id and s.last_seq <= m.seq`,
    [books.map(String)],
  )
}

/** An entry as the job adds it up. */
export type FreshEntry = Omit<AmountsRow, 'requests' | 'free' | 'errors' | 'known'> & {
  readonly book: BookId
  readonly seq: bigint
  readonly day: string
  /** Quarters of an hour since 1970; null: no request. `ms` is the exact time. */
  readonly quarter: number | null
  readonly ms: number
  readonly model: string
  readonly ending: string
  readonly session: string | null
  readonly agent: string | null
  readonly parent: string | null
  readonly label: string | null
  readonly isFree: boolean
  readonly isError: boolean
  readonly firstByte: number | null
  readonly total: number | null
  readonly busyMs: number
}

/**
 * The entries of the ranges, by book and number. The first of all days is a parameter of its own,
 * so that PostgreSQL prunes older partitions when it plans.
 */
export async function entryListFresh(
  tx: Tx,
  ranges: readonly RollupRange[],
): Promise<FreshEntry[]> {
  const days = ranges.map(({ day }) => day)
  const { rows } = await tx.query(
    `select book_id as book, seq, day::text, is_request, ending::text, model,
       case when is_request then floor(date_part('epoch', at) / 900)::int4 end as quarter,
       date_part('epoch', at) * 1000 as ms, session_id as session, agent_id as agent,
       parent_agent_id as parent, label, is_free as "isFree", is_error as "isError", input, output,
       cache_read as "cacheRead", cache_write_5m as "cacheWrite5m",
       cache_write_1h as "cacheWrite1h", spent, cache_saved as "cacheSaved",
       first_byte as "firstByte", total, busy_ms as "busyMs"
     from (
       select ${REQUEST_COLUMNS}, e.kind in ('charge', 'void') as is_request
       from unnest($1::int8[], $2::int8[], $3::int8[], $4::date[]) as d (book_id, seq, until, day)
       join entries e on e.book_id = d.book_id and e.seq > d.seq and e.seq <= d.until
         and e.day >= d.day and e.day >= $5::date
       left join tariffs t on t.id = e.tariff
     ) r
     order by book_id, seq`,
    [
      ranges.map(({ book }) => String(book)),
      ranges.map(({ seq }) => String(seq)),
      ranges.map(({ until }) => String(until)),
      days,
      // `-infinity` sorts first as text, too.
      days.toSorted()[0],
    ],
  )
  return rows as FreshEntry[]
}

/** Columns of rows to insert; each has one value per row. */
export type Columns = Readonly<Record<string, readonly unknown[]>>

/** Each column with its type. The order is that of the parameters. */
const SUM_COLUMNS = {
  ...{ book_id: 'int8', at: 'timestamptz', minutes: 'int2', split: 'usage_split', key: 'text' },
  ...Object.fromEntries(AMOUNT_COLUMNS.map((name) => [name, 'int8'])),
  // An array of arrays of different lengths does not exist: their texts are sent.
  ...{ first_byte: 'text', total: 'text' },
}

export async function splitSumAdd(tx: Tx, rows: Columns): Promise<void> {
  const amounts = AMOUNT_COLUMNS.map(
    (name) => `${name} = usage_split_sums.${name} + excluded.${name}`,
  )
  await insert(tx, 'usage_split_sums', SUM_COLUMNS, rows, [
    '(book_id, split, minutes, at, key)',
    ...amounts,
    'first_byte = usage_histogram_add(usage_split_sums.first_byte, excluded.first_byte)',
    'total = usage_histogram_add(usage_split_sums.total, excluded.total)',
  ])
}

const SPAN_COLUMNS = {
  ...{ book_id: 'int8', split: 'usage_split', key: 'text', model: 'text', ending: 'ending' },
  ...{ block: 'int8', day: 'date', first_seq: 'int8', last_seq: 'int8', requests: 'int4' },
}

export async function splitSpanAdd(tx: Tx, rows: Columns): Promise<void> {
  await insert(tx, 'usage_split_spans', SPAN_COLUMNS, rows, [
    '(book_id, split, key, model, ending, block, day)',
    'requests = usage_split_spans.requests + excluded.requests',
    'last_seq = excluded.last_seq',
  ])
}

const SESSION_AMOUNTS = [...AMOUNT_COLUMNS.filter((name) => name !== 'known'), 'busy_ms']
const SESSION_COLUMNS = {
  ...{ book_id: 'int8', split: 'usage_split', id: 'text', is_whole: 'boolean', agent: 'text' },
  ...{ parent_agent: 'text', models: 'text', first_at: 'timestamptz', last_at: 'timestamptz' },
  ...{ last_seq: 'int8', ...Object.fromEntries(SESSION_AMOUNTS.map((name) => [name, 'int8'])) },
}

export async function sessionAdd(tx: Tx, rows: Columns): Promise<void> {
  await insert(tx, 'usage_sessions', SESSION_COLUMNS, rows, [
    '(book_id, split, id, is_whole, agent)',
    ...SESSION_AMOUNTS.map((name) => `${name} = usage_sessions.${name} + excluded.${name}`),
    'first_at = least(usage_sessions.first_at, excluded.first_at)',
    'last_at = greatest(usage_sessions.last_at, excluded.last_at)',
    'last_seq = excluded.last_seq',
    'parent_agent = coalesce(usage_sessions.parent_agent, excluded.parent_agent)',
    `models = case when usage_sessions.models @> excluded.models then usage_sessions.models
       else array(select distinct m from unnest(usage_sessions.models || excluded.models) as m)
       end`,
  ])
}

/**
 * Rows that one statement writes, about 0.2 s of database work. A client may give each request a
 * session and a label of its own: 50,000 such entries make 400,000 sums, which one statement does
 * not write within the statement timeout.
 */
const ROWS_MAX = 5_000

/** The columns that are arrays themselves, with the type of their texts. */
const CASTS: Readonly<Record<string, string>> = {
  ...{ first_byte: 'int4[]', total: 'int4[]', models: 'text[]' },
}

async function insert(
  tx: Tx,
  table: string,
  columns: Readonly<Record<string, string>>,
  rows: Columns,
  [conflict, ...changes]: readonly string[],
): Promise<void> {
  const names = Object.keys(columns)
  const count = rows[names[0] ?? '']?.length ?? 0
  const arrays = names.map((name, i) => `$${i + 1}::${columns[name]}[]`)
  const values = names.map((name) => (name in CASTS ? `${name}::${CASTS[name]}` : name))
  for (let at = 0; at < count; at += ROWS_MAX) {
    await tx.query(
      `insert into ${table} (${names.join(', ')})
       select ${values.join(', ')} from unnest(${arrays.join(', ')}) as r (${names.join(', ')})
       on conflict ${conflict} do update set ${changes.join(', ')}`,
      names.map((name) => arrayText((rows[name] ?? []).slice(at, at + ROWS_MAX))),
    )
  }
}

/** Moves the marks; a mark that reaches the book's newest entry is complete. */
export async function splitMarkMove(
  tx: Tx,
  moved: readonly { readonly book: BookId; readonly until: bigint; readonly day: string }[],
): Promise<void> {
  await tx.query(
    `update usage_split_marks m set seq = d.until, day = greatest(m.day, d.day),
       is_complete = m.is_complete or d.until >= b.seq
     from unnest($1::int8[], $2::int8[], $3::date[]) as d (book_id, until, day)
     join books b on b.id = d.book_id
     where m.book_id = d.book_id`,
    [
      moved.map(({ book }) => String(book)),
      moved.map(({ until }) => String(until)),
      moved.map(({ day }) => day),
    ],
  )
}

type Removal = { readonly keptDays: number; readonly limit: number }

/** Returns how many sums. */
export async function splitSumDeleteOld(db: Executor, p: Removal): Promise<number> {
  const { rows } = await db.query(
    `with removed as (
       delete from usage_split_sums where ctid = any (array(
         select ctid from usage_split_sums
         where split in ('session', 'label') and key <> '' and at < ${sessionsSinceSql('$1')}
         limit $2))
       returning 1
     )
     select count(*)::int4 as removed from removed`,
    [p.keptDays, p.limit],
  )
  return (rows[0] as { removed: number }).removed
}

/**
 * Deletes sessions and labels, each with all of its agents: an agent that has been idle for longer
 * stays as long as its session, or the agents would no longer add up to it. Locks the sessions
 * first, as the job that adds up does: one that goes on at this moment stays. Returns how many.
 */
export async function sessionDeleteOld(db: Executor, p: Removal): Promise<number> {
  const { rows } = await db.query(
    `with old as (
       select book_id, split, id from usage_sessions
       where is_whole and last_at < ${sessionsSinceSql('$1')}
       limit $2 for update skip locked
     ), removed as (
       delete from usage_sessions s using old
       where s.book_id = old.book_id and s.split = old.split and s.id = old.id
       returning s.is_whole
     )
     select count(*) filter (where is_whole)::int4 as removed from removed`,
    [p.keptDays, p.limit],
  )
  return (rows[0] as { removed: number }).removed
}

/** An array literal: pg would make one, too, but ten times slower. */
function arrayText(values: readonly unknown[]): string {
  return `{${values.map(elementText).join(',')}}`
}

function elementText(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value !== 'string') return String(value)
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

/** Milliseconds as PostgreSQL reads them. */
export function timeText(ms: number): string {
  return dateAt(ms).toISOString()
}

/** Texts as one text, for a column that is an array. */
export function textArrayText(texts: Iterable<string>): string {
  return arrayText([...texts].sort())
}
