// The SQL that reads sums and the entries after the mark, for charts. One function per statement;
// all only read, in the snapshot of the mark.
import { dateAt } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { AmountsRow } from './figures.ts'
import { type EntryRange, entryValues, requestsSql } from './request-rows.ts'

export type UsageSplit = 'model' | 'ending' | 'session' | 'label'

/** `usage_sums` has models only: it is read until the job has split all entries of a book. */
export type SumTable = 'usage_sums' | 'usage_split_sums'

/**
 * Sums of one length between a bound and its grid point, to be added or subtracted. The grid point
 * of a bound is the nearest multiple of the length of the chart's sums.
 */
export type SumCorrection = {
  /** Number of the bound, from 0. */
  readonly bound: number
  readonly sign: 1 | -1
  readonly minutes: number
  /** Minutes after the first grid point; negative before it. */
  readonly from: number
  readonly to: number
}

export type SumQuery = {
  readonly book: BookId
  readonly split: UsageSplit
  /** The length of the chart's sums. */
  readonly minutes: number
  /** Older sums of sessions and labels are about to be removed, and not read. */
  readonly since: Date
  readonly gridPoints: readonly number[]
  readonly corrections: readonly SumCorrection[]
}

/**
 * Sums of one key as lines of numbers, see UsageSums.addLines. As rows, the 27,000 fields of a
 * year's chart took Node 7.6 ms to read. PostgreSQL should not pack them anew for each
 * chart; so each sum has its line as a column.
 */
export type SumLines = {
  readonly key: string
  /** 0: sums of the chart's step. 1 or -1: corrections; their bucket is the number of the bound. */
  readonly sign: 0 | 1 | -1
  readonly lines: string
}

/** The columns of usage_split_sums, from either table; the first parameter is the book. */
const TABLES: Readonly<Record<SumTable, string>> = {
  usage_sums: `(select *, model as key, usage_figures_text(array[requests, free, 0, 0, input,
    output, cache_read, cache_write_5m, cache_write_1h, spent, 0], '{}', '{}') as figures
    from usage_sums where book_id = $1) s`,
  usage_split_sums: 'usage_split_sums s',
}

/**
 * Sums up to the mark: those between the grid points, in one range, and those of the corrections,
 * one range each. `offset 0` makes PostgreSQL look each correction up by the index: with a join it
 * may read every row for every correction. PostgreSQL does not add up here, because sum(int8)
 * returns a numeric: with sums by bucket it took 10.7 ms instead of 8.7 for Moscow's time zone, and
 * saved only a millisecond, 14.4 instead of 15.4, for a time zone twelve hours away.
 */
export async function sumList(
  tx: Tx,
  p: SumQuery & {
    readonly table: SumTable
    /** Null: all of them. */
    readonly keys: readonly string[] | null
  },
): Promise<SumLines[]> {
  const values: unknown[] = [...rangeValues(p), times(p.gridPoints)]
  const isOurs = (minutes: string, keys: string) => {
    const split = p.table === 'usage_sums' ? '' : ` and split = '${p.split}'`
    const shown = p.keys === null ? '' : ` and key = any (${keys}) and (key = '' or at >= $12)`
    return `book_id = $1${split} and minutes = ${minutes}${shown}`
  }
  if (p.keys !== null)
    values.push(
      p.keys,
      p.since,
      p.keys.filter((key) => key === ''),
    )
  // PostgreSQL looks each key up for each correction: do not look for keys that are not kept.
  const keptKeys = `(case when $3 + make_interval(mins => p.ends) > $12 then $11 else $13
    end)::text[]`
  const { rows } = await tx.query(
    `select key, sign, string_agg(line, E'\\n') as lines
     from (
       select key, 0::int2 as sign, width_bucket(at, $10::timestamptz[]) || ';' || figures as line
       from ${TABLES[p.table]} where ${isOurs('$2::int2', '$11')} and at >= $3 and at < $4
       union all
       select s.key, p.sign, p.bound || ';' || s.figures
       from unnest($5::int4[], $6::int2[], $7::int2[], $8::int4[], $9::int4[])
         as p (bound, sign, minutes, begins, ends)
       cross join lateral (
         select key, figures from ${TABLES[p.table]}
         where ${isOurs('p.minutes', keptKeys)} and at >= $3 + make_interval(mins => p.begins)
           and at < $3 + make_interval(mins => p.ends)
         offset 0
       ) s
     ) s
     group by key, sign`,
    values,
  )
  return rows as SumLines[]
}

/**
 * The keys with the most credits in a period, most first. Sessions are many, and a chart shows few
 * of them; so their names are found first, by the credits alone.
 */
export async function keyListMost(
  tx: Tx,
  p: SumQuery & { readonly unsummed: EntryRange | undefined; readonly limit: number },
): Promise<string[]> {
  // Inside the period corrections only move usage from one bucket to the next.
  const last = p.gridPoints.length - 1
  const ends = p.corrections
    .filter(({ bound }) => bound === 0 || bound === last)
    .map((one) => (one.bound === 0 ? { ...one, sign: -one.sign as 1 | -1 } : one))
  const values: unknown[] = rangeValues({ ...p, corrections: ends })
  const isOurs = `book_id = $1 and split = '${p.split}' and (key = '' or at >= $11)`
  values.push(p.limit, p.since)
  let entries = ''
  if (p.unsummed !== undefined) {
    entries = `union all select ${KEYS[p.split]}, r.spent from (${requestsSql(12)}) r`
    values.push(...entryValues(p.unsummed))
  }
  const { rows } = await tx.query(
    `select key from (
       select key, spent from usage_split_sums
       where ${isOurs} and minutes = $2::int2 and at >= $3 and at < $4
       union all
       select s.key, p.sign * s.spent
       from unnest($5::int4[], $6::int2[], $7::int2[], $8::int4[], $9::int4[])
         as p (bound, sign, minutes, begins, ends)
       cross join lateral (
         select key, spent from usage_split_sums
         where ${isOurs} and minutes = p.minutes and at >= $3 + make_interval(mins => p.begins)
           and at < $3 + make_interval(mins => p.ends)
         offset 0
       ) s
       ${entries}
     ) s
     group by key order by sum(spent) desc, key limit $10`,
    values,
  )
  return (rows as { key: string }[]).map(({ key }) => key)
}

/** The same of the entries after the mark alone: usage_sums has no sessions and labels. */
export async function keyListMostUnsummed(
  tx: Tx,
  p: { readonly split: UsageSplit; readonly entries: EntryRange; readonly limit: number },
): Promise<string[]> {
  const { rows } = await tx.query(
    `select ${KEYS[p.split]} as key from (${requestsSql(2)}) r
     group by 1 order by sum(r.spent) desc, 1 limit $1`,
    [p.limit, ...entryValues(p.entries)],
  )
  return (rows as { key: string }[]).map(({ key }) => key)
}

/** Requests with the same bucket, key and steps of time; bucket n is between bounds n - 1 and n. */
export type UsageRow = AmountsRow & {
  readonly bucket: number
  /** Null: none of the keys that were asked for. */
  readonly key: string | null
  readonly firstByte: number | null
  readonly total: number | null
}

/** The key of a request in each split. */
const KEYS: Readonly<Record<UsageSplit, string>> = {
  model: 'r.model',
  ending: 'r.ending::text',
  session: `coalesce(r.session_id, '')`,
  label: `coalesce(r.label, '')`,
}

/** Usage of entries after the mark. */
export async function unsummedList(
  tx: Tx,
  p: {
    readonly entries: EntryRange
    readonly split: UsageSplit
    readonly keys: readonly string[] | null
    readonly bounds: readonly number[]
  },
): Promise<UsageRow[]> {
  const values: unknown[] = [times(p.bounds), ...entryValues(p.entries)]
  const key = KEYS[p.split]
  const shown = p.keys === null ? key : `case when ${key} = any ($8) then ${key} end`
  if (p.keys !== null) values.push(p.keys)
  const { rows } = await tx.query(
    `select width_bucket(at, $1::timestamptz[]) as bucket, ${shown} as key,
       first_byte as "firstByte", total, count(*) as requests,
       count(*) filter (where is_free) as free, count(*) filter (where is_error) as errors,
       count(*) as known, sum(input)::int8 as input, sum(output)::int8 as output,
       sum(cache_read)::int8 as "cacheRead", sum(cache_write_5m)::int8 as "cacheWrite5m",
       sum(cache_write_1h)::int8 as "cacheWrite1h", sum(spent)::int8 as spent,
       sum(cache_saved)::int8 as "cacheSaved"
     from (${requestsSql(2)}) r
     group by 1, 2, 3, 4`,
    values,
  )
  return rows as UsageRow[]
}

function rangeValues(p: SumQuery): unknown[] {
  return [
    ...[p.book, p.minutes],
    ...[dateAt(p.gridPoints[0] ?? 0), dateAt(p.gridPoints.at(-1) ?? 0)],
    list(p.corrections.map(({ bound }) => bound)),
    list(p.corrections.map(({ sign }) => sign)),
    list(p.corrections.map(({ minutes }) => minutes)),
    list(p.corrections.map(({ from }) => from)),
    list(p.corrections.map(({ to }) => to)),
  ]
}

/** Builds an array literal, because pg would scan each of a thousand elements to escape it. */
function list(elements: readonly (number | string)[]): string {
  return `{${elements.join(',')}}`
}

function times(moments: readonly number[]): string {
  return list(moments.map((ms) => dateAt(ms).toISOString()))
}
