// The SQL of the request log and of the statement: where the requests of a filter are, and the
// entries themselves. One function per statement; all only read, and each passes the days it needs
// as constants, so that PostgreSQL neither plans nor locks other partitions.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, HoldId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { Ending } from '../../units/endings.ts'
import { ENTRY_COLUMNS, type Entry, entryOf, queryRow } from '../queries.ts'

/** A range of entry numbers, and the UTC days of these entries. */
export type SeqRange = {
  readonly firstSeq: bigint
  readonly lastSeq: bigint
  readonly dayMin: string
  readonly dayMax: string
}

/** A range of times; `to` is exclusive. */
export type TimeRange = { readonly from: Date | null; readonly to: Date | null }

/** Models of the spans. Jumps from one model to the next in the index: one row read for each. */
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

/** Models of the entries after the mark. */
export async function modelListUnsummed(
  tx: Tx,
  p: { readonly book: BookId } & SeqRange,
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
 * First and last entry number of a time range, from the sums, so a little wider than the range.
 * Reads the outermost 500 sums at each end, some days: only a clock set back by more could hide an
 * entry. A year has 50,000 sums.
 */
export async function seqFindBetween(
  db: Executor,
  p: { readonly book: BookId; readonly minutes: 15 | 60 } & TimeRange,
): Promise<{ first: bigint | null; last: bigint | null }> {
  return queryRow(
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
  /** Requests of the span if all are below `before`; else 0. */
  readonly requests: number
}

/** What clients send with a request, and its column. */
const CLIENT_IDS = { session: 'session_id', agent: 'agent_id', label: 'label' } as const
export type ClientIds = { readonly [name in keyof typeof CLIENT_IDS]: string | null }
/** One session, agent or label. */
export type ClientId = { readonly split: keyof ClientIds; readonly key: string }

/**
 * The newest spans of each model and ending that overlap a range of numbers (`before` is
 * exclusive). At most `limit` of each, by their last entries, newest first.
 */
export async function spanList(
  tx: Tx,
  p: {
    readonly book: BookId
    /** Undefined: of all requests. */
    readonly of: ClientId | undefined
    readonly models: readonly string[]
    readonly endings: readonly Ending[]
    readonly firstSeq: bigint
    readonly before: bigint
    readonly limit: number
  },
): Promise<Span[]> {
  const values: unknown[] = [p.book, p.models, p.endings, p.firstSeq, p.before, p.limit]
  if (p.of !== undefined) values.push(p.of.split, p.of.key)
  const spans =
    p.of === undefined
      ? 'usage_spans u where'
      : 'usage_split_spans u where u.split = $7 and u.key = $8 and'
  const { rows } = await tx.query(
    `select s.* from unnest($2::text[]) as m (model)
     cross join unnest($3::ending[]) as g (ending)
     cross join lateral (
       select u.first_seq as "firstSeq", least(u.last_seq, $5::int8 - 1) as "lastSeq",
         u.day::text as day, case when u.last_seq < $5 then u.requests else 0 end as requests
       from ${spans} u.book_id = $1 and u.model = m.model collate "C" and u.ending = g.ending
         and u.block between $4::int8 >> 10 and $5 >> 10
         and u.first_seq < $5 and u.last_seq >= $4
       order by u.block desc, u.last_seq desc
       limit $6
     ) s
     order by "lastSeq" desc, requests`,
    values,
  )
  return rows as Span[]
}

/** Tariffs of a model: one for each price list and catalogue version under which it was used. */
export async function tariffListOf(tx: Tx, model: string): Promise<number[]> {
  const { rows } = await tx.query('select id from tariffs where model = $1', [model])
  return (rows as { id: number }[]).map(({ id }) => id)
}

/**
 * Requests within the ranges, newest first. Each range is a subquery with its own days: a join
 * would open every partition for each of them. With 50 rare matches on 50 days most of the time is
 * planning, so unused conditions are left out and a range of one entry has no `order by`. That
 * saves a tenth (10.8 ms of the server instead of 12.1); one subquery for all days took 48 ms.
 */
export async function requestList(
  tx: Tx,
  p: {
    readonly book: BookId
    readonly ranges: readonly SeqRange[]
    readonly endings: readonly Ending[]
    /** Null: of any model. */
    readonly tariffs: readonly number[] | null
    readonly limit: number
  } & ClientIds &
    TimeRange,
): Promise<Entry[]> {
  const values: unknown[] = [p.book, p.endings, p.limit]
  const given = (value: unknown, condition: string) =>
    value === null ? '' : ` and ${condition.replace('?', `$${values.push(value)}`)}`
  const conditions =
    given(p.tariffs, 'tariff = any (?::int4[])') +
    given(p.from, 'at >= ?') +
    given(p.to, 'at < ?') +
    given(p.session, `${CLIENT_IDS.session} = ?`) +
    given(p.agent, `${CLIENT_IDS.agent} = ?`) +
    given(p.label, `${CLIENT_IDS.label} = ?`)
  const parts = p.ranges.map(({ firstSeq, lastSeq, dayMin, dayMax }) => {
    const n = values.push(firstSeq, lastSeq, dayMin, dayMax)
    return `(select * from entries
      where book_id = $1 and seq between $${n - 3} and $${n - 2}
        and day between $${n - 1}::date and $${n}::date and ending = any ($2::ending[])${conditions}
      ${firstSeq === lastSeq ? '' : 'order by seq desc limit $3'})`
  })
  const { rows } = await tx.query(
    `select ${ENTRY_COLUMNS}
     from (${parts.join(' union all ')}) e left join tariffs t on t.id = e.tariff
     order by e.seq desc limit $3`,
    values,
  )
  return rows.map((row) => entryOf(row as Record<string, unknown>))
}

export type HoldEnd = {
  readonly book: BookId
  readonly entrySeq: bigint | null
  readonly closedDay: string | null
  /** The day of the book's last entry: no entry of the book is on a later one. */
  readonly bookDay: string
}

/** How a hold ended; undefined when there is no such hold. */
export async function holdFindEnd(
  db: Executor,
  p: { readonly id: HoldId; readonly day: number },
): Promise<HoldEnd | undefined> {
  return queryRow(
    db,
    `select h.book_id as book, h.entry_seq as "entrySeq",
       (h.closed_at at time zone 'UTC')::date::text as "closedDay",
       greatest(b.day, (h.closed_at at time zone 'UTC')::date)::text as "bookDay"
     from holds h join books b on b.id = h.book_id
     where h.day = $1 and h.id = $2`,
    [p.day, p.id],
  )
}

/** Whether the weekly partition of holds with this day still exists. */
export async function holdWeekExists(db: Executor, day: number): Promise<boolean> {
  const row = await queryRow<{ exists: boolean }>(
    db,
    `select to_regclass('holds_' || $1::int4) is not null as exists`,
    [Math.floor(day / 7)],
  )
  return row.exists
}

/** The first entry of a hold within a range, of one kind or of any. */
export async function entryFindOfHold(
  db: Executor,
  p: { readonly book: BookId; readonly id: HoldId; readonly kind: 'charge' | null } & SeqRange,
): Promise<Entry | undefined> {
  const { rows } = await db.query(
    `select ${ENTRY_COLUMNS}
     from (select * from entries
       where book_id = $1 and seq between $2 and $3 and day between $4::date and $5::date
         and hold_id = $6 and ($7::entry_kind is null or kind = $7)
       order by seq limit 1) e
     left join tariffs t on t.id = e.tariff`,
    [p.book, p.firstSeq, p.lastSeq, p.dayMin, p.dayMax, p.id, p.kind],
  )
  return rows[0] === undefined ? undefined : entryOf(rows[0] as Record<string, unknown>)
}

/** The UTC day of a request up to the mark, by the spans of its block; null if it has none. */
export async function dayFindOf(
  tx: Tx,
  p: { readonly book: BookId; readonly seq: bigint; readonly models: readonly string[] },
): Promise<string | null> {
  const row = await queryRow<{ day: string | null }>(
    tx,
    `select max(u.day)::text as day from unnest($2::text[]) as m (model)
     cross join unnest(enum_range(null::ending)) as g (ending)
     join usage_spans u on u.book_id = $1 and u.model = m.model collate "C"
       and u.ending = g.ending and u.block = $3::int8 >> 10 and u.first_seq <= $3`,
    [p.book, p.models, p.seq],
  )
  return row.day
}

/** The last UTC day of the entries of a period within a range of numbers; null without any. */
export async function dayFindLast(
  tx: Tx,
  p: { readonly book: BookId } & SeqRange & TimeRange,
): Promise<string | null> {
  const row = await queryRow<{ day: string | null }>(
    tx,
    `select max(day)::text as day from entries
     where book_id = $1 and seq between $2 and $3 and day between $4::date and $5::date
       and at >= $6 and at < $7`,
    [p.book, p.firstSeq, p.lastSeq, p.dayMin, p.dayMax, p.from, p.to],
  )
  return row.day
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
  } & TimeRange,
): Promise<Entry[]> {
  const { rows } = await db.query(
    `select ${ENTRY_COLUMNS}
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

export type UseOfDay = {
  /** In the time zone. */
  readonly day: string
  readonly model: string
  readonly requests: bigint
  /** Of them, those that were charged. */
  readonly charged: bigint
  readonly input: bigint
  readonly output: bigint
  readonly spent: Credits
  readonly first: Date
  readonly last: Date
}

/**
 * Requests of a book after one of its entries, by day and model, oldest first. `since` is the time
 * of that entry: earlier partitions are not opened. Days that left the ledger are missing.
 */
export async function useListAfter(
  db: Executor,
  p: {
    readonly book: BookId
    readonly seq: bigint
    readonly since: Date
    readonly zone: string
  },
): Promise<UseOfDay[]> {
  const { rows } = await db.query(
    `select (e.at at time zone $4)::date::text as day, t.model, count(*) as requests,
       count(*) filter (where e.kind = 'charge') as charged,
       coalesce(sum(e.input), 0)::int8 as input, coalesce(sum(e.output), 0)::int8 as output,
       (-sum(e.amount))::int8 as spent, min(e.at) as first, max(e.at) as last
     from entries e join tariffs t on t.id = e.tariff
     where e.book_id = $1 and e.seq > $2 and e.day >= ($3::timestamptz at time zone 'UTC')::date - 1
       and e.kind in ('charge', 'void')
     group by 1, 2 order by 1, 2`,
    [p.book, p.seq, p.since, p.zone],
  )
  return rows as UseOfDay[]
}
