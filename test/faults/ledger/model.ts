// Compares the ledger with a model: random operations from several connections of two processes, on
// few books with small balances. Every result must equal the model's for the order in which the
// database committed; at the end the books agree and the audit is empty.
// Runs on the PostgreSQL that the tests use and on the embedded one.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { startPostgres } from '../../../tools/postgres.ts'
import type { Drill, Figures } from '../../support/drill.ts'
import { ensure } from '../../support/drill.ts'
import { createTestDatabase, createTestLedger, serverUrl } from '../../support/harness.ts'
import { createLedgerModel } from '../../support/ledger-model.ts'
import type { Trace, WorkerTask } from './model-worker.ts'

const BOOKS = 5
const CONNECTIONS = 5
const PROCESSES = 2

export const drill: Drill = async ({ isFull, seed, say }) => {
  const embedded = await startPostgres({ version: '18-embedded' })
  try {
    const figures: Figures = {}
    for (const [name, server] of [
      ['given', serverUrl],
      ['embedded', embedded.url],
    ] as const) {
      const [rounds, steps] = isFull ? [10, 1_400] : [1, 400]
      let operations = 0
      for (let round = 0; round < rounds; round++) {
        operations += await oneRound({ server, seed: seed + round, steps, say })
      }
      const least = isFull ? 20_000 : 5_000
      ensure(operations >= least, `at least ${least} operations ran (${operations})`)
      figures[`${name}Operations`] = operations
    }
    figures.plantedBugsFound = await findPlanted(seed, say)
    return figures
  } finally {
    await embedded.stop()
  }
}

// Bugs planted into the ledger's functions. A test that does not notice them proves nothing.
const planted: Record<string, string> = {
  'a grant may exceed what is available': `create or replace function ledger_grant(
      p_worst int8, p_floor int8, p_headroom int8) returns int8 language sql immutable
    as 'select case when p_worst <= p_headroom then p_worst
      else greatest(p_floor, p_headroom / 2 + 1) end'`,
  'a worst case that fits is halved': `create or replace function ledger_grant(
      p_worst int8, p_floor int8, p_headroom int8) returns int8 language sql immutable
    as 'select least(p_worst, greatest(p_floor, p_headroom / 2))'`,
  'a daily limit forgets what is held': `create or replace function ledger_headroom(
      p_available int8, p_day_limit int8, p_day_spent int8, p_held int8)
    returns int8 language sql immutable as
    'select greatest(0, least(p_available, coalesce(p_day_limit - p_day_spent, p_available)))'`,
  'arrays do not lock their books': `create or replace function ledger_lock(
      p_wait boolean, p_books int8[]) returns int8[] language sql
    as 'select array(select id from books where id = any (p_books))'`,
  'a repeat is not looked up': `create or replace function ledger_hold_stored(
      p_day int4, p_id uuid, p_book int8, p_tariff int4, p_fence int8, p_worst int8, p_floor int8,
      out outcome text, out granted int8) language sql as 'select null::text, null::int8'`,
}

async function findPlanted(seed: number, say: (text: string) => void): Promise<number> {
  for (const [name, plant] of Object.entries(planted)) {
    const found = await oneRound({ server: serverUrl, seed, steps: 300, say, plant }).then(
      () => undefined,
      (error: Error) => error.message,
    )
    ensure(found !== undefined, `the planted bug is found: ${name}`)
    say(`planted: ${name}; found: ${found.slice(0, 160)}`)
  }
  return Object.keys(planted).length
}

async function oneRound(options: {
  server: string
  seed: number
  steps: number
  say(text: string): void
  plant?: string
}) {
  const { server, seed, steps, say } = options
  const database = await createTestDatabase(server)
  const ledger = await createTestLedger(database.url)
  try {
    await prepareClock(database.db)
    if (options.plant !== undefined) await database.db.query(options.plant)
    const books: string[] = []
    for (let i = 0; i < BOOKS; i++) books.push(String(await ledger.createBook(database.db)))
    // One output token is one microcredit, so that a settle's price can be any small number.
    const { rows } = await database.db.query(
      `insert into tariffs (catalogue_version, model, coefficient, cache_read, cache_write_5m,
         cache_write_1h) values (1, 'model', 1, 0, 0, 0) returning id`,
    )
    const task: WorkerTask = {
      url: database.url,
      seed,
      connections: CONNECTIONS,
      steps,
      books,
      tariff: (rows[0] as { id: number }).id,
    }
    const started = performance.now()
    // Wait for all of them before the database is dropped, even if one has failed.
    const ended = await Promise.allSettled(
      Array.from({ length: PROCESSES }, (_, p) =>
        inProcess({ ...task, seed: seed * PROCESSES + p }),
      ),
    )
    const results = ended.map((one) => {
      if (one.status === 'rejected') throw one.reason
      return one.value
    })
    const traces = results.flat().sort((a, b) => a.place - b.place || a.at - b.at)
    const seconds = (performance.now() - started) / 1000
    compare(traces)
    await compareBooks(database, traces)
    // The test clock is weeks ahead, so open holds are overdue; no other finding is allowed.
    const all = await ledger.audit('all')
    const findings = all.filter(({ rule }) => rule !== 'hold_overdue')
    ensure(
      findings.length === 0,
      `the audit is empty: ${JSON.stringify(findings.slice(0, 5), printBigint)}`,
    )
    say(`seed ${seed}: ${traces.length} operations in ${seconds.toFixed(1)} s, ${tally(traces)}`)
    return traces.length
  } finally {
    await ledger.end()
    await database.drop()
  }
}

/** Keeps the test clock in a table, so that midnight has a place in the order too. */
async function prepareClock(db: { query(text: string): Promise<unknown> }): Promise<void> {
  await db.query(`create sequence model_order`)
  await db.query(`create table model_clock (shift interval not null)`)
  await db.query(`insert into model_clock values ('0')`)
  await db.query(
    `create or replace function ledger_now() returns timestamptz language sql volatile
     as 'select clock_timestamp() + shift from model_clock'`,
  )
}

function inProcess(task: WorkerTask): Promise<Trace[]> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, 'model-worker.ts'))
    child.once('message', (text: string) => {
      const result = JSON.parse(text, (_, value) =>
        typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
      )
      if (typeof result === 'string') reject(new Error(result))
      else resolve(result)
    })
    child.once('exit', (code) => {
      if (code !== 0) reject(new Error(`a worker ended with ${code}`))
    })
    child.send(task)
  })
}

function compare(traces: readonly Trace[]): void {
  const model = createLedgerModel(BOOKS)
  for (const [i, trace] of traces.entries()) {
    const expected = model.apply(trace.op, trace.fence)
    if (trace.op.do === 'midnight' || trace.op.do === 'limit') continue
    ensure(
      expected === trace.result,
      `operation ${i} ${JSON.stringify(trace, printBigint)}: the model says ${expected}`,
    )
  }
}

async function compareBooks(
  database: { db: { query(text: string): Promise<{ rows: unknown[] }> } },
  traces: readonly Trace[],
): Promise<void> {
  const model = createLedgerModel(BOOKS)
  for (const trace of traces) model.apply(trace.op, trace.fence)
  const { rows } = await database.db.query(
    `select available, held, debt, seq, fence, requests, spent_total as spent
     from books order by id`,
  )
  for (const [i, row] of rows.entries()) {
    const { daySpent, dayLimit, ...expected } = model.books[i] as (typeof model.books)[number]
    const [found, wanted] = [row, expected].map((one) => JSON.stringify(one, printBigint))
    ensure(found === wanted, `book ${i} equals the model: ${found}, the model has ${wanted}`)
  }
}

function tally(traces: readonly Trace[]): string {
  const counts = new Map<string, number>()
  for (const { op, result } of traces) {
    const name = `${op.do} ${/^[a-z_]+/.exec(result)?.[0] ?? ''}`.trim()
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts]
    .sort()
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

function printBigint(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
