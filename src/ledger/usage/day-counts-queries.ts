// The SQL of what all requests of a day used, for the comparison with the vendor's bill.
import { dayText } from '../../platform/clock.ts'
import type { Executor } from '../../platform/db/db.ts'
import type { Credits } from '../../units/credits.ts'
import type { Ending } from '../../units/endings.ts'
import type { TokenCounts } from '../../units/tokens.ts'

/**
 * `reported`: the upstream's own counters. `estimated`: the end of the reply did not arrive; the
 * input is reported, the output is estimated. `seen`: the reply failed, and these counts had been
 * reported; the vendor may bill more, or nothing. `unknown`: it was sent, and nothing was reported.
 * `midnight`: reported, but the vendor may have it on another day.
 */
export type CountCertainty = 'reported' | 'estimated' | 'seen' | 'unknown' | 'midnight'

type Counted = {
  readonly model: string
  /** The upstream that served it; null for requests before migration 0026. */
  readonly target: string | null
  readonly ending: Ending
  readonly certainty: CountCertainty
}

export type CountedTokens = Counted & {
  readonly list: string
  /** Zero for passes that the counts of a reply do not include. */
  readonly requests: number
  readonly counts: TokenCounts
  readonly charged: Credits
  readonly writtenOff: Credits
}

export type CountedUses = Counted & { readonly feature: string; readonly count: bigint }

export type DayCounts = {
  /** `2026-11-15`: the day of the entries, in UTC. */
  readonly day: string
  readonly counted: readonly CountedTokens[]
  readonly used: readonly CountedUses[]
  /** Requests that ended on the next day: their counts are there. */
  readonly acrossMidnight: readonly {
    readonly model: string
    readonly target: string | null
    readonly requests: number
  }[]
}

/**
 * Each request of the day with the model and list that its counts belong to. A request that ran at
 * midnight is on the day of its entry; the vendor may have it on the day before.
 *
 * `certainty` is null where the vendor bills nothing: the request was never sent, or the upstream
 * answered with an error status.
 */
const requestsOf = (where: string, isAcross: string) => `
  select e.*, coalesce(e.parts #>> '{served,model}', e.parts #>> '{seen,model}', t.model) as model,
    coalesce(e.parts #>> '{served,list}', e.parts #>> '{seen,list}', t.list) as list,
    case
      when e.kind = 'charge' and e.is_across then 'midnight'
      when e.kind = 'charge' and e.estimated then 'estimated'
      when e.kind = 'charge' then 'reported'
      when e.parts ? 'seen' then 'seen'
      when e.status >= 300 then null
      when e.waited_ms is null and e.ending not in ('process_lost', 'overdue') then null
      else 'unknown'
    end as certainty
  from (
    select *, ${isAcross} as is_across
    from entries where ${where} and kind in ('charge', 'void')
  ) e
  join tariffs t on t.id = e.tariff`

const OF_DAY = requestsOf(
  'day = $1',
  `day > ((at - make_interval(secs => coalesce(total_ms, 0) / 1000.0)) at time zone 'UTC')::date`,
)

/** No bill is for such a period, so nothing can be on another day of it. */
const OF_PERIOD = requestsOf(
  `day between ($1::timestamptz at time zone 'UTC')::date - 1
    and ($2::timestamptz at time zone 'UTC')::date + 1 and at >= $1 and at < $2`,
  'false',
)

/** The parts of a charge have counts as texts, in the order of `tokenKinds`. */
const fromJson = (json: string) => [0, 1, 2, 3, 4].map((i) => `(${json} ->> ${i})::int8`).join(', ')

const OWN = 'input, output, cache_read, cache_write_5m, cache_write_1h'

/** Every row of a day is read, so the caller passes a connection for long reads. */
export async function dayCountsFind(tx: Executor, day: string): Promise<DayCounts> {
  const counts = await countsFind(tx, OF_DAY, [day])
  return { day, ...counts, acrossMidnight: await acrossMidnightList(tx, day) }
}

/** The same of a period; its `day` is the first one. */
export async function periodCountsFind(
  tx: Executor,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<DayCounts> {
  const counts = await countsFind(tx, OF_PERIOD, [from, to])
  return { day: dayText(from.getTime()), ...counts, acrossMidnight: [] }
}

async function countsFind(
  tx: Executor,
  requests: string,
  values: unknown[],
): Promise<Pick<DayCounts, 'counted' | 'used'>> {
  const { rows: counted } = await tx.query(
    `with requests as materialized (${requests}), counts as (
       select model, list, target, ending, certainty, 1 as requests, -amount as charged,
         written_off, ${OWN}
       from requests where certainty is not null and certainty <> 'seen'
       union all
       select model, list, target, ending, certainty, 1, 0, 0,
         ${fromJson("parts #> '{seen,counts}'")}
       from requests where certainty = 'seen'
       union all
       select p.pass ->> 'model', p.pass ->> 'list', target, ending, certainty, 0, 0, 0,
         ${fromJson("p.pass -> 'counts'")}
       from requests cross join lateral jsonb_array_elements(parts -> 'passes') as p (pass)
       where kind = 'charge'
     )
     select model, list, target, ending::text, certainty, sum(requests)::int4 as requests,
       coalesce(sum(charged), 0)::text as charged,
       coalesce(sum(written_off), 0)::text as "writtenOff",
       array[sum(input), sum(output), sum(cache_read), sum(cache_write_5m),
         sum(cache_write_1h)]::text[] as counts
     from counts group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`,
    values,
  )
  const { rows: used } = await tx.query(
    `with requests as (${requests})
     select model, target, ending::text, certainty, u.use ->> 'feature' as feature,
       sum((u.use ->> 'count')::int8)::text as count
     from requests cross join lateral jsonb_array_elements(parts -> 'uses') as u (use)
     where kind = 'charge' group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`,
    values,
  )
  return { counted: counted.map(tokensOf), used: used.map(usesOf) }
}

/** Requests that began on this day and have their entry on the next one. */
async function acrossMidnightList(tx: Executor, day: string): Promise<DayCounts['acrossMidnight']> {
  const { rows } = await tx.query(
    `with requests as (${OF_DAY})
     select model, target, count(*)::int4 as requests
     from requests where certainty = 'midnight' group by 1, 2 order by 1, 2`,
    [nextDay(day)],
  )
  return rows as DayCounts['acrossMidnight']
}

const DAY_MS = 86_400_000

function nextDay(day: string): string {
  return dayText(Date.parse(day) + DAY_MS)
}

function tokensOf(row: unknown): CountedTokens {
  const { counts, charged, writtenOff, ...rest } = row as Record<string, string> & {
    counts: readonly (string | null)[]
  }
  const [input, output, cacheRead, cacheWrite5m, cacheWrite1h] = counts.map((sum) =>
    BigInt(sum ?? 0),
  )
  return {
    ...rest,
    charged: BigInt(charged ?? 0),
    writtenOff: BigInt(writtenOff ?? 0),
    counts: { input, output, cacheRead, cacheWrite5m, cacheWrite1h },
  } as unknown as CountedTokens
}

function usesOf(row: unknown): CountedUses {
  const { count, ...rest } = row as Record<string, string>
  return { ...rest, count: BigInt(count ?? 0) } as unknown as CountedUses
}
