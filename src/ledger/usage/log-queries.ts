// The SQL of the request log and of the statement: where the requests are that a filter asks for,
// and the entries themselves. One function per statement; all only read, and each names the days it
// needs as constants: a partition that is not needed is neither planned for nor locked.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, HoldId } from '../../platform/ids.ts'
import type { Ending } from '../calls.ts'
import { ENTRY, type Entry, entryOf, one } from '../queries.ts'

/** Entries by number, and the UTC days they are on. */
export type Range = {
  readonly firstSeq: bigint
  readonly lastSeq: bigint
  readonly dayMin: string
  readonly dayMax: string
}

/** Times that entries lie between; the second is the first moment that is not asked for. */
export type Between = { readonly from: Date | null; readonly to: Date | null }

/** Models of the spans. Steps from one to the next in the index: a row is read for each. */
export async function modelList(tx: Tx, book: BookId): Promise<string[]> {
  const { rows } = await tx.query(
    `with recursive known as (
       (select model from usage_spans where book_id = $1 order by model limit 1)
       union all
       select (select s.model from usage_spans s where s.book_id = $1 and s.model > k.model
         order by s.model limit 1)
       from known k where k.model is not null
     )
     select model from known where model is not null`,
    [book],
  )
  return (rows as { model: string }[]).map(({ model }) => model)
}

/** Models of the entries behind the mark. */
export async function modelListFresh(
  tx: Tx,
  p: { readonly book: BookId } & Range,
): Promise<string[]> {
  const { rows } = await tx.query(
    `select t.model
     from (select distinct tariff from entries
       where book_id = $1 and seq between $2 and $3 and day between $4 and $5) e
     join tariffs t on t.id = e.tariff`,
    [p.book, p.firstSeq, p.lastSeq, p.dayMin, p.dayMax],
  )
  return (rows as { model: string }[]).map(({ model }) => model)
}

/**
 * Numbers of the entries in a time, from the sums: a little more than the time at its ends. Looks
 * at the outermost 500 sums, some days of them: a clock would have to be set back by more to hide
 * an entry, and a year has 50,000.
 */
export async function seqFindBetween(
  db: Executor,
  p: { readonly book: BookId; readonly minutes: 15 | 60 } & Between,
): Promise<{ first: bigint | null; last: bigint | null }> {
  return one(
    db,
    `select
       (select min(first_seq) from (select first_seq from usage_sums
          where book_id = $1 and minutes = $2::int2
            and at > coalesce($3, '-infinity'::timestamptz) - make_interval(mins => $2::int4)
            and at < coalesce($4, 'infinity'::timestamptz)
          order by at limit 500) s) as first,
       (select max(last_seq) from (select last_seq from usage_sums
          where book_id = $1 and minutes = $2::int2
            and at > coalesce($3, '-infinity'::timestamptz) - make_interval(mins => $2::int4)
            and at < coalesce($4, 'infinity'::timestamptz)
          order by at desc limit 500) s) as last`,
    [p.book, p.minutes, p.from, p.to],
  )
}

export type Span = {
  readonly firstSeq: bigint
  readonly lastSeq: bigint
  readonly day: string
  /** Requests that are surely below `before`; 0 where some may be above. */
  readonly requests: number
}

/**
 * The newest spans of each model and ending that have something between two numbers (the second is
 * not asked for). At most `limit` of each, in the order of their last entries, newest first.
 */
export async function spanList(
  tx: Tx,
  p: {
    readonly book: BookId
    readonly models: readonly string[]
    readonly endings: readonly Ending[]
    readonly firstSeq: bigint
    readonly before: bigint
    readonly limit: number
  },
): Promise<Span[]> {
  const { rows } = await tx.query(
    `select s.* from unnest($2::text[]) as m (model)
     cross join unnest($3::ending[]) as g (ending)
     cross join lateral (
       select u.first_seq as "firstSeq", least(u.last_seq, $5::int8 - 1) as "lastSeq",
         u.day::text as day, case when u.last_seq < $5 then u.requests else 0 end as requests
       from usage_spans u
       where u.book_id = $1 and u.model = m.model collate "C" and u.ending = g.ending
         and u.block between $4::int8 >> 10 and $5 >> 10
         and u.first_seq < $5 and u.last_seq >= $4
       order by u.block desc, u.last_seq desc
       limit $6
     ) s
     order by "lastSeq" desc, requests`,
    [p.book, p.models, p.endings, p.firstSeq, p.before, p.limit],
  )
  return rows as Span[]
}

/** Tariffs of a model: one for each version of the catalogue that it was used with. */
export async function tariffListOf(tx: Tx, model: string): Promise<number[]> {
  const { rows } = await tx.query('select id from tariffs where model = $1', [model])
  return (rows as { id: number }[]).map(({ id }) => id)
}

/**
 * Requests within the ranges, newest first. Each range is a part of its own, with its own days: one
 * join would open every partition for each of them. With 50 rare matches on 50 days planning is
 * most of it: what is not asked for is not mentioned, and a range of one entry has no order. That
 * saves a tenth (12.1 ms of the server became 10.8); one part for all of the days took 48.
 */
export async function requestList(
  tx: Tx,
  p: {
    readonly book: BookId
    readonly ranges: readonly Range[]
    readonly endings: readonly Ending[]
    /** Null: of any model. */
    readonly tariffs: readonly number[] | null
    readonly limit: number
  } & Between,
): Promise<Entry[]> {
  const values: unknown[] = [p.book, p.endings, p.limit]
  const given = (value: unknown, condition: string) =>
    value === null ? '' : ` and ${condition.replace('?', `$${values.push(value)}`)}`
  const asked =
    given(p.tariffs, 'tariff = any (?::int4[])') + given(p.from, 'at >= ?') + given(p.to, 'at < ?')
  const parts = p.ranges.map(({ firstSeq, lastSeq, dayMin, dayMax }) => {
    const n = values.push(firstSeq, lastSeq, dayMin, dayMax)
    return `(select * from entries
      where book_id = $1 and seq between $${n - 3} and $${n - 2}
        and day between $${n - 1}::date and $${n}::date and ending = any ($2::ending[])${asked}
      ${firstSeq === lastSeq ? '' : 'order by seq desc limit $3'})`
  })
  const { rows } = await tx.query(
    `select ${ENTRY} from (${parts.join(' union all ')}) e left join tariffs t on t.id = e.tariff
     order by e.seq desc limit $3`,
    values,
  )
  return rows.map((row) => entryOf(row as Record<string, unknown>))
}

export type HoldEnd = {
  readonly book: BookId
  readonly entrySeq: bigint | null
  readonly closedDay: string | null
}

/** How a hold ended, and undefined of one that is not there. */
export async function holdFindEnd(
  db: Executor,
  p: { readonly id: HoldId; readonly day: number },
): Promise<HoldEnd | undefined> {
  return one(
    db,
    `select book_id as book, entry_seq as "entrySeq",
       (closed_at at time zone 'UTC')::date::text as "closedDay"
     from holds where day = $1 and id = $2`,
    [p.day, p.id],
  )
}

/** Whether the week of holds with this day is still there. */
export async function holdWeekExists(db: Executor, day: number): Promise<boolean> {
  const row = await one<{ exists: boolean }>(
    db,
    `select to_regclass('holds_' || $1::int4) is not null as exists`,
    [Math.floor(day / 7)],
  )
  return row.exists
}

/** The first entry of a hold within a range, of one kind or of any. */
export async function entryFindOfHold(
  db: Executor,
  p: { readonly book: BookId; readonly id: HoldId; readonly kind: 'charge' | null } & Range,
): Promise<Entry | undefined> {
  const { rows } = await db.query(
    `select ${ENTRY}
     from (select * from entries
       where book_id = $1 and seq between $2 and $3 and day between $4::date and $5::date
         and hold_id = $6 and ($7::entry_kind is null or kind = $7)
       order by seq limit 1) e
     left join tariffs t on t.id = e.tariff`,
    [p.book, p.firstSeq, p.lastSeq, p.dayMin, p.dayMax, p.id, p.kind],
  )
  return rows[0] === undefined ? undefined : entryOf(rows[0] as Record<string, unknown>)
}

/** A page of a book's entries of one UTC day, oldest first, above one number and up to another. */
export async function entryListOfDay(
  db: Executor,
  p: {
    readonly book: BookId
    readonly day: string
    readonly afterSeq: bigint
    readonly untilSeq: bigint
    readonly limit: number
  } & Between,
): Promise<Entry[]> {
  const { rows } = await db.query(
    `select ${ENTRY}
     from (select * from entries
       where book_id = $1 and day = $2::date and seq > $3 and seq <= $4
         and ($5::timestamptz is null or at >= $5) and ($6::timestamptz is null or at < $6)
       order by seq limit $7) e
     left join tariffs t on t.id = e.tariff
     order by e.seq`,
    [p.book, p.day, p.afterSeq, p.untilSeq, p.from, p.to, p.limit],
  )
  return rows.map((row) => entryOf(row as Record<string, unknown>))
}
