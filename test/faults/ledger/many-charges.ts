// Fills a database with many settled holds and their charges by plain SQL, in seconds instead of
// hours: books with one purchase each, and charges spread evenly over the last three hours and over
// the books. Every rule of the audit holds afterwards.
import pg from 'pg'
import type { TestLedger } from '../../support/harness.ts'
import { createLedgerCustomer } from '../../support/ledger-customer.ts'

/** Rows per statement: a larger one would need a long pause of the autovacuum to be harmless. */
const ROWS_PER_STATEMENT = 250_000
const FIRST_BOOK = 1_000

export async function fillCharges(
  url: string,
  ledger: TestLedger,
  size: { readonly charges: number; readonly books: number },
): Promise<void> {
  const { tariff } = await createLedgerCustomer(ledger)
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC' })
  await client.connect()
  try {
    await client.query('set synchronous_commit = off')
    // The fill is one moment: the holds' times and the days of their entries are computed from it.
    await client.query(`create temp table filled as select ledger_now() as now`)
    await fillBooks(client, size.books)
    for (let from = 0; from < size.charges; from += ROWS_PER_STATEMENT) {
      const until = Math.min(from + ROWS_PER_STATEMENT, size.charges)
      await client.query(chargesSql(from, until, size, tariff))
    }
    await client.query(
      `update books b set available = 1000000000000 - 2000000 * s.n, seq = 1 + s.n, requests = s.n,
         spent_total = 2000000 * s.n, day = s.day, day_spent = 2000000 * s.n_today
       from (
         select e.book_id, count(*) as n, max(e.day) as day,
           count(*) filter (where e.day = l.day) as n_today
         from entries e
         join (select book_id, max(day) as day from entries group by 1) l using (book_id)
         where e.kind = 'charge' group by 1
       ) s where s.book_id = b.id`,
    )
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}

async function fillBooks(client: pg.Client, books: number): Promise<void> {
  const filled = `from books, filled where id > ${FIRST_BOOK}`
  const day = `(now at time zone 'UTC' - interval '3 hours')::date`
  await client.query(
    `insert into books (id, available, seq, day)
     select ${FIRST_BOOK} + g, 1000000000000, 1, ${day}
     from generate_series(1, ${books}) g, filled`,
  )
  await client.query(
    `insert into postings (kind, ref, book_id, amount, seq, at)
     select 'purchase', 'p' || id, id, 1000000000000, 1, now ${filled}`,
  )
  await client.query(
    `insert into lots (book_id, seq, kind, ref, credited, at)
     select id, 1, 'purchase', 'p' || id, 1000000000000, now ${filled}`,
  )
  await client.query(
    `insert into entries (book_id, seq, amount, balance, at, day, kind, contra, ref)
     select id, 1, 1000000000000, 1000000000000, now - interval '3 hours', ${day}, 'purchase',
       'clearing', 'p' || id ${filled}`,
  )
}

/** The charges `from` to `until`: each with its hold, closed a second after it was created. */
function chargesSql(
  from: number,
  until: number,
  { charges, books }: { charges: number; books: number },
  tariff: number,
): string {
  return `
    with one as materialized (
      select ${FIRST_BOOK} + 1 + g % ${books} as book, 2 + g / ${books} as seq, at,
        at + interval '1 second' as closed_at,
        (lpad(to_hex(ms), 12, '0') || '70008' || lpad(to_hex(g), 15, '0'))::uuid as id,
        (ms / 86400000)::int4 as hold_day
      from generate_series(${from}, ${until - 1}) g, filled
      cross join lateral (
        select now - interval '3 hours' + g * (interval '2 hours 59 minutes' / ${charges}) as at
      ) t
      cross join lateral (select (extract(epoch from at) * 1000)::int8 as ms) m
    ), held as (
      insert into holds (id, book_id, instance, worst, floor, granted, fence, created_at,
        deadline_at, day, tariff, state, ending, entry_seq, charged, closed_at)
      select id, book, 7, 10000000, 1000000, 10000000, 0, at, at + interval '3900 seconds',
        hold_day, ${tariff}, 'settled', 'complete', seq, 2000000, closed_at from one
    )
    insert into entries (book_id, seq, amount, balance, at, hold_id, input, output, cache_read,
      cache_write_5m, cache_write_1h, priced, written_off, day, tariff, kind, contra, ending,
      estimated, message_id)
    select book, seq, -2000000, 1000000000000 - 2000000 * (seq - 1)::int8, closed_at, id,
      1, 1, 0, 0, 0, 2000000, 0, (closed_at at time zone 'UTC')::date, ${tariff}, 'charge',
      'revenue', 'complete', false, 'msg_' || id from one`
}
