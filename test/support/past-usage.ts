// Past usage of a book: requests spread evenly over past days, inserted directly into the ledger's
// tables with correct chain, tariffs and partitions, so that the audit finds nothing. Only for
// measurements and for tests of reports; nothing else may insert entries. Four sessions of about 50
// requests run at a time, each with two subagents; some requests have no session, some no label.
import type { Ledger } from '../../src/ledger/ledger.ts'
import type { Db } from '../../src/platform/db/db.ts'
import type { BookId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import { millionths } from '../../src/units/price.ts'
import { turnClock } from './harness.ts'

/** Rare ones last: two of three requests are for the first, one of about 50,000 for the last. */
export const models = ['model-medium', 'model-small', 'model-large', 'model-old', 'model-rare']
const PER_DAY_MS = 86_400_000

/**
 * Posts a large purchase `days` ago; creates the partitions since then and the models' tariffs.
 * `db` is the owner's.
 */
export async function preparePastUsage(
  { db, ledger }: { readonly db: Db; readonly ledger: Pick<Ledger, 'credit' | 'tariff'> },
  book: BookId,
  days: number,
): Promise<void> {
  await db.query(
    'select ledger_entries_day_make(current_date - i) from generate_series(0, $1::int4) as i',
    [days],
  )
  await turnClock(db, `-${days} days`)
  const amount = credits(9_000_000_000_000n)
  const first = { book, kind: 'purchase', ref: `past ${book}`, amount, contra: 'clearing' } as const
  await db.transaction((tx) => ledger.credit(tx, { ...first, note: '=1+1, "пакет"' }))
  await turnClock(db, '0 seconds')
  for (const [i, model] of models.entries()) {
    const price = {
      input: millionths(1_000_000),
      coefficient: millionths(5_000_000 + i),
      cacheRead: millionths(100_000),
      cacheWrite5m: millionths(1_250_000),
      cacheWrite1h: millionths(2_000_000),
    }
    await ledger.tariff({ catalogueVersion: 1_000, model, price })
  }
}

/**
 * Inserts requests at equal intervals, one statement a day. The seed varies them. `ids`: `own`
 * gives each request a session, an agent and a label of its own; `agent` one session with an agent
 * for
 * each request.
 */
export async function insertPastRequests(
  db: Db,
  p: {
    book: BookId
    fromMs: number
    toMs: number
    requests: number
    seed?: number
    ids?: 'own' | 'agent'
  },
): Promise<void> {
  const { book, fromMs, toMs, requests, seed = 1, ids: clientIds = 'shared' } = p
  const { rows } = await db.query('select id, model from tariffs where model = any ($1)', [models])
  const ids = models.map(
    (model) => (rows as { id: number; model: string }[]).find((one) => one.model === model)?.id,
  )
  const timeOf = (i: number) => fromMs + ((toMs - fromMs) * i) / requests
  const dayOf = (i: number) => Math.floor(timeOf(i) / PER_DAY_MS)
  for (let i = 0; i < requests; ) {
    let end = Math.min(requests, i + 100_000)
    while (dayOf(end - 1) > dayOf(i)) end -= Math.max(1, Math.floor((end - i) / 50))
    await db.transaction(async (tx) => {
      await tx.query('set local synchronous_commit = off')
      const values = [book, i, end, fromMs, (toMs - fromMs) / requests, ids, seed, clientIds]
      await tx.query(PLANT, values)
      // With the day as a constant PostgreSQL plans for one partition instead of a year of them.
      const day = new Date(timeOf(i)).toISOString().slice(0, 10)
      await tx.query(MOVE, [book, end - i, day])
      await tx.query(HOLD, [book, end - i, day])
    })
    i = end
  }
}

const PLANT = `
  with drawn as (
    select b.seq + 1 + i - $2::int4 as seq, b.available + b.held - b.debt as balance,
      to_timestamp(($4::float8 + $5::float8 * i) / 1000) as at, i,
      abs(hashint8extended(i, $7)) as h, abs(hashint8extended(i, $7 + 1)) as g,
      'session-' || $7 || '-' || i / 200 * 4 + abs(hashint8extended(i, $7 + 2)) % 4 as session
    from books b, generate_series($2::int4, $3::int4 - 1) as i where b.id = $1
  ), chosen as (
    select d.*, ($6::int4[])[case when h % 50000 = 0 then 5 when h % 500 = 0 then 4
        when h % 30 < 3 then 3 when h % 30 < 10 then 2 else 1 end] as tariff,
      (case when g % 100000 = 0 then 'overdue' when g % 1000 = 1 then 'refused'
        when g % 100 = 2 then 'upstream_failed' when g % 500 = 4 then 'given_up'
        when g % 40 = 3 then 'client_left'
        else 'complete' end)::ending as ending
    from drawn d
  ), priced as (
    select c.*, ending in ('complete', 'client_left') as is_charged, h % 3001 as input,
      g % 901 as output, case when h % 3 = 0 then h % 90001 else 0 end as cache_read,
      case when h % 7 = 0 then g % 5003 else 0 end as write_5m,
      case when h % 11 = 0 then g % 2003 else 0 end as write_1h
    from chosen c
  ), costed as (
    select p.*, case when is_charged then p.input * t.input + output * t.coefficient
      + p.cache_read * t.cache_read + write_5m * t.cache_write_5m + write_1h * t.cache_write_1h
      end as cost
    from priced p join tariffs t on t.id = p.tariff
  ), taken as (
    select c.*, case when h % 97 = 5 then cost / 10 else 0 end as off from costed c
  )
  insert into entries (book_id, seq, amount, balance, at, hold_id, input, output, cache_read,
    cache_write_5m, cache_write_1h, priced, written_off, day, tariff, kind, contra, ending,
    estimated, message_id, note, first_byte_ms, total_ms, streamed, session_id, agent_id,
    parent_agent_id, label)
  select $1, seq, -coalesce(cost - off, 0),
    balance - sum(coalesce(cost - off, 0)) over (order by seq), at,
    (lpad(to_hex((extract(epoch from at) * 1000)::int8 - 1500), 12, '0') || '70008'
      || lpad(to_hex(seq), 15, '0'))::uuid,
    case when is_charged then input end, case when is_charged then output end,
    case when is_charged then cache_read end, case when is_charged then write_5m end,
    case when is_charged then write_1h end, cost, case when is_charged then off end,
    (at at time zone 'UTC')::date, tariff, (case when is_charged then 'charge' else 'void'
    end)::entry_kind, (case when is_charged then 'revenue' else 'none' end)::contra, ending,
    case when is_charged then ending = 'client_left' end,
    case when is_charged then 'msg_' || seq end, case when not is_charged then 'a test' end,
    case when is_charged then 150 + h % 97 * (g % 61) end,
    case when ending <> 'overdue' then 150 + h % 97 * (g % 61) + g % 901 * 17 end,
    is_charged and h % 5 > 0,
    case when $8 = 'own' then 'session-' || seq when $8 = 'agent' then 'session-' || $7
      when h % 19 > 0 then session end,
    case when $8 <> 'shared' then 'agent-' || seq
      when h % 19 > 0 and g % 10 < 4 then session || '-agent-' || g % 2 end,
    case when $8 = 'shared' and h % 19 > 0 and g % 10 < 4 and g % 2 = 1
      then session || '-agent-0' end,
    case when $8 = 'own' then 'label-' || seq when g % 7 > 0 then 'label-' || h % 5 end
  from taken`

const MOVE = `
  update books b set seq = n.seq, available = n.balance - b.held + b.debt,
    requests = b.requests + n.charges, spent_total = b.spent_total + n.spent, day = n.day,
    day_spent = case when b.day = n.day then b.day_spent else 0 end + n.spent
  from (
    select max(e.seq) as seq, min(e.balance) as balance, max(e.day) as day,
      count(*) filter (where e.kind = 'charge') as charges, -sum(e.amount)::int8 as spent
    from entries e join books o on o.id = e.book_id
    where e.book_id = $1 and e.day = $3 and e.seq > o.seq and e.seq <= o.seq + $2
  ) n
  where b.id = $1`

// Holds are kept for a week or two: insert only those whose partition exists.
const HOLD = `
  insert into holds (id, book_id, instance, worst, floor, granted, fence, created_at, deadline_at,
    day, tariff, state, ending, entry_seq, charged, closed_at)
  select hold_id, $1, 1, -amount, 0, -amount, 0, at, at, ms / 86400000, tariff,
    (case when kind = 'charge' then 'settled' else 'voided' end)::hold_state, ending, seq,
    case when kind = 'charge' then -amount end, at
  from (
    select e.*, ('x' || left(translate(e.hold_id::text, '-', ''), 12))::bit(48)::int8 as ms
    from entries e join books o on o.id = e.book_id
    where e.book_id = $1 and e.day = $3 and e.seq > o.seq - $2 and e.seq <= o.seq
  ) e
  where to_regclass('holds_' || ms / 604800000) is not null`
