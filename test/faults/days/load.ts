// Requests of several books through the real ledger while a fault program changes the clock, the
// partitions or the locks: holds with settles and voids, and a posting now and then. It counts what
// failed and keeps the longest call.
import { newHoldId } from '../../../src/platform/ids.ts'
import { ensure, sleep } from '../../support/drill.ts'
import type { TestDatabase, TestLedger } from '../../support/harness.ts'
import { createTestDatabase, createTestLedger } from '../../support/harness.ts'
import { createLedgerCustomer, type LedgerCustomer } from '../../support/ledger-customer.ts'

const LOOPS = 12
const BOOKS = 6
/** About 400 requests a second: a delay is then the ledger's, and not the load's. */
const PAUSE_MS = 20

export type DaysStage = Awaited<ReturnType<typeof createDaysStage>>

export type Load = {
  requests: number
  failures: string[]
  longestMs: number
  charged: number
  isOver: boolean
}

export async function createDaysStage(draw: () => number) {
  const database = await createTestDatabase()
  const ledger = await createTestLedger(database.url)
  const customers: LedgerCustomer[] = []
  for (let i = 0; i < BOOKS; i++) customers.push(await createLedgerCustomer(ledger, 10_000_000))
  // What the gateways' clocks show: the database's time, unless a program says otherwise.
  const clock = { aheadMs: 0 }

  async function request(load: Load, customer: LedgerCustomer): Promise<void> {
    const timed = async <T>(call: () => Promise<T>): Promise<T> => {
      const startedMs = performance.now()
      try {
        return await call()
      } finally {
        load.longestMs = Math.max(load.longestMs, performance.now() - startedMs)
      }
    }
    const input = customer.holdInput(10)
    const id = newHoldId(0, Date.now() + clock.aheadMs)
    await timed(() => ledger.hold({ ...input, id }))
    await sleep(draw() * 5)
    if (draw() < 0.05) {
      await timed(() => customer.void(id, 'upstream_failed'))
    } else {
      await timed(() => customer.settle(id, 3))
      load.charged += 1
    }
    load.requests += 1
    if (draw() < 0.01) await customer.credit('promo', `promo ${id}`, 5)
  }

  function startLoad() {
    const before = countCharges(database)
    const load: Load = { requests: 0, failures: [], longestMs: 0, charged: 0, isOver: false }
    const loops = Array.from({ length: LOOPS }, async (_, i) => {
      await before
      const customer = customers[i % BOOKS] as LedgerCustomer
      while (!load.isOver) {
        await request(load, customer).catch((error: Error) => {
          load.failures.push(`${error.message}`)
        })
        await sleep(PAUSE_MS * 2 * draw())
      }
    })
    return {
      load,
      async stop() {
        load.isOver = true
        await Promise.all(loops)
        ensure(
          load.failures.length === 0,
          `no request fails (${load.failures.length}: ${load.failures[0]})`,
        )
        ensure(load.requests > 0, 'requests ran')
        const charged = (await countCharges(database)) - (await before)
        ensure(charged === load.charged, `each is charged once (${charged} of ${load.charged})`)
      },
    }
  }

  return {
    database,
    ledger,
    customers,
    clock,
    startLoad,
    /** Moves the database's clock, which keeps running, and the gateways' clocks with it. */
    async turn(aheadMs: number) {
      clock.aheadMs = aheadMs
      await turnDatabase(database, aheadMs)
    },
    async end() {
      await ledger.end()
      await database.drop()
    },
  }
}

async function turnDatabase({ db }: TestDatabase, aheadMs: number): Promise<void> {
  await db.query(
    `create or replace function ledger_now() returns timestamptz language sql volatile
     as $$ select clock_timestamp() + interval '${Math.round(aheadMs)} milliseconds' $$`,
  )
}

/** What all books were charged, in requests of 3 credits; old holds and entries may be gone. */
async function countCharges({ db }: TestDatabase): Promise<number> {
  const { rows } = await db.query(
    `select sum(requests)::int4 as requests, (sum(spent_total) / 3000000)::float8 as spent
     from books`,
  )
  const { requests, spent } = rows[0] as { requests: number; spent: number }
  ensure(requests === spent, `requests and credits agree (${requests}, ${spent})`)
  return requests
}

/** The audits are empty, and no book's day goes back. */
export async function checkDays({ ledger, database }: DaysStage, when: string): Promise<void> {
  for (const scope of ['new', 'all'] as const) {
    const [first, ...more] = await ledger.audit(scope)
    ensure(
      first === undefined,
      `${when}: the audit finds nothing (${first?.rule} ${first?.detail}, ${more.length} more)`,
    )
  }
  const { rows } = await database.db.query(
    `select from (
       select day < lag(day) over (partition by book_id order by seq) as is_back from entries
     ) e where is_back`,
  )
  ensure(rows.length === 0, `${when}: no book's day goes back (${rows.length})`)
}

/** What the job `partitions` does, with the sums that it needs. */
export async function runPartitionsJob(ledger: TestLedger, keptDays: number) {
  const startedMs = performance.now()
  const { made, waiting } = await ledger.makePartitions()
  const dropped = await ledger.dropHoldsBefore()
  const { detached } = await ledger.days.retire(keptDays)
  return { made, waiting, dropped, detached, ms: Math.round(performance.now() - startedMs) }
}
