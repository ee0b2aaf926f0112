// Compares the ledger with pgbench: our durable hold+settle pairs through the ledger's entry file,
// and pgbench with the same one-row functions on the same schema, prepared, at its best client
// count. They alternate in one run on one private server, with synchronous_commit on. Ratios are
// medians.
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type pg from 'pg'
import type { BookId } from '../src/platform/ids.ts'
import { dayOfHold, newHoldId } from '../src/platform/ids.ts'
import { credits } from '../src/units/credits.ts'
import { noTokens } from '../src/units/tokens.ts'
import { createTestDatabase, createTestLedger, onServer } from '../test/support/harness.ts'
import { startPostgres } from '../tools/postgres.ts'
import type { LoadResult, LoadTask } from './ledger-load.ts'
import type { Bench } from './measure.ts'
import { median, rounded } from './measure.ts'

const run = promisify(execFile)
const ACTIVE = 1_000
/** Waiting requests of one process at saturation: enough that arrays are full. */
const LOOPS = 1_024
/** Two or three in each full array, so that every array has one. */
const ABOVE_HOLD_ONE_IN = 100

type Place = { url: string; port: number; database: string; firstBook: bigint; tariff: number }

export const bench: Bench = async ({ isFull, say }) => {
  const rounds = isFull ? 7 : 5
  const seconds = isFull ? 5 : 3
  const postgres = await startPostgres({
    version: 'system',
    // One gigabyte as in earlier measurements; no checkpoint in the middle of a round.
    settings: { shared_buffers: '1GB', max_wal_size: '16GB', checkpoint_timeout: '1h' },
  })
  const database = await createTestDatabase(postgres.url)
  try {
    const place = await prepare(database, postgres.port)
    const clients = await bestClients(place, say)
    const fresh = await measure(place, { rounds, seconds, clients, say })
    const lone = await measureLone(place, say)
    const four = await fourProcesses(place, seconds)
    say(`four processes on one hot book: ${Math.round(four)} pairs/s`)
    const dear = await ours(place, { seconds, books: 1, dearOneIn: ABOVE_HOLD_ONE_IN })
    const pairsHotDear = dear.pairs / dear.seconds
    say(`one settle in ${ABOVE_HOLD_ONE_IN} above its hold: ${Math.round(pairsHotDear)} pairs/s`)
    const detailed = await ours(place, { seconds, isDetailed: true })
    const pairsDetailed1000 = detailed.pairs / detailed.seconds
    say(`with the details of a reply: ${Math.round(pairsDetailed1000)} pairs/s on ${ACTIVE} books`)
    const hotUpdateShare = await hotShare(place)
    say(`HOT updates: ${(hotUpdateShare * 100).toFixed(1)} %`)
    const entries = isFull ? 10_000_000 : 1_000_000
    const books = isFull ? 1_000_000 : 100_000
    const grown = await growAndMeasure(place, { entries, books, rounds, seconds, say })
    const figures = {
      ...fresh,
      ...lone,
      hotUpdateShare,
      pairsFourProcessesHot: Math.round(four),
      pairsHotDear,
      pairsDetailed1000,
      pairsGrown1000: grown.active,
      pairsGrownAll: grown.all,
      grownShare1000: grown.active / grown.freshAgain,
      entries,
      books,
    }
    return { figures: rounded(figures), failed: gates(figures, isFull) }
  } finally {
    await database.drop()
    await postgres.stop()
  }
}

function gates(f: Record<string, number>, isFull: boolean): string[] {
  const rules: [string, boolean][] = [
    [`pairsRatio1000 ${f.pairsRatio1000?.toFixed(2)} < 5`, (f.pairsRatio1000 ?? 0) >= 5],
    [`pairsRatioHot ${f.pairsRatioHot?.toFixed(1)} < 30`, (f.pairsRatioHot ?? 0) >= 30],
    [
      `lonePairMs ${f.lonePairMs?.toFixed(2)} > 1.5 x ${f.barePairMs?.toFixed(2)}`,
      (f.lonePairMs ?? 9) <= 1.5 * (f.barePairMs ?? 0),
    ],
    [`hotUpdateShare ${f.hotUpdateShare} < 0.95`, (f.hotUpdateShare ?? 0) >= 0.95],
    [`grownShare1000 ${f.grownShare1000} < 0.8`, !isFull || (f.grownShare1000 ?? 0) >= 0.8],
  ]
  return rules.filter(([, isMet]) => !isMet).map(([gate]) => gate)
}

async function prepare(
  database: Awaited<ReturnType<typeof createTestDatabase>>,
  port: number,
): Promise<Place> {
  const { db } = database
  const { rows } = await db.query(
    `insert into books (id, available)
     select (1::int8 << 40) | i, 4000000000000000000 from generate_series(1, $1::int4) i
     returning id`,
    [ACTIVE],
  )
  const tariff = await db.query(
    `insert into tariffs (catalogue_version, model, coefficient, cache_read, cache_write_5m,
       cache_write_1h) values (1, 'model', 5000000, 0, 0, 0) returning id`,
  )
  await db.query('vacuum analyze books')
  return {
    url: database.url,
    port,
    database: database.name,
    firstBook: (rows[0] as { id: bigint }).id,
    tariff: (tariff.rows[0] as { id: number }).id,
  }
}

async function ours(
  place: Place,
  task: Partial<LoadTask> & { seconds: number },
): Promise<LoadResult> {
  const full: LoadTask = {
    url: place.url,
    firstBook: String(place.firstBook),
    books: ACTIVE,
    tariff: place.tariff,
    loops: LOOPS,
    dearOneIn: 0,
    isDetailed: false,
    ...task,
  }
  const file = join(import.meta.dirname, 'ledger-load.ts')
  const { stdout } = await run(process.execPath, [file, JSON.stringify(full)])
  return JSON.parse(stdout) as LoadResult
}

/** pgbench on the one-row functions: pairs per second. */
async function bare(
  place: Place,
  task: { books: number; clients: number; seconds: number },
): Promise<number> {
  const script = join(tmpdir(), `tollgate-pair-${process.pid}.sql`)
  // The random id is the only thing a caller would not compute in SQL; it costs about 1 µs.
  const id = `('01a1dc80-f000-7000-8000-' || lpad(to_hex(:r::int8), 12, '0'))::uuid`
  const day = Math.floor(Date.now() / 86_400_000)
  const book = `${place.firstBook} + :b`
  await writeFile(
    script,
    `\\set b random(0, ${task.books - 1})
\\set r random(0, 281474976710655)
select outcome from ledger_hold(true, 1, 3900, ${day}, ${id}, ${book}, ${place.tariff}, 0,
  2000000000, 100000000);
select outcome from ledger_settle_request(true, ${day}, ${id}, ${book}, 100, 200, 0, 0, 0,
  1100000000, 'complete', false, 'msg_0123456789abcdef', null, null);
`,
  )
  try {
    const { stdout } = await run('pgbench', [
      ...['-h', '127.0.0.1', '-p', String(place.port), '-U', 'postgres', '-n', '-M', 'prepared'],
      ...['-c', String(task.clients), '-j', '2', '-T', String(task.seconds), '-f', script],
      place.database,
    ])
    const tps = /tps = ([\d.]+) \(without/.exec(stdout)?.[1]
    if (tps === undefined) throw new Error(`pgbench said nothing: ${stdout}`)
    return Number(tps)
  } finally {
    await rm(script, { force: true })
  }
}

/** Finds the client count at which pgbench is fastest, for each number of books. */
async function bestClients(place: Place, say: (text: string) => void) {
  const best = async (books: number) => {
    let found = { clients: 0, tps: 0 }
    for (const clients of [4, 8, 16, 32]) {
      const tps = await bare(place, { books, clients, seconds: 2 })
      if (tps > found.tps) found = { clients, tps }
    }
    return found.clients
  }
  const clients = { many: await best(ACTIVE), hot: await best(1) }
  say(`pgbench is best with ${clients.many} clients on ${ACTIVE} books, ${clients.hot} on one`)
  return clients
}

async function measure(
  place: Place,
  options: {
    rounds: number
    seconds: number
    clients: { many: number; hot: number }
    say(text: string): void
  },
) {
  const { rounds, seconds, clients, say } = options
  const all = { ours1000: [], bare1000: [], oursHot: [], bareHot: [], cpu: [] } as Record<
    string,
    number[]
  >
  for (let round = 0; round < rounds; round++) {
    const many = await ours(place, { seconds })
    all.ours1000?.push(many.pairs / many.seconds)
    all.cpu?.push(many.cpuUs / many.pairs)
    all.bare1000?.push(await bare(place, { books: ACTIVE, clients: clients.many, seconds }))
    const hot = await ours(place, { seconds, books: 1 })
    all.oursHot?.push(hot.pairs / hot.seconds)
    all.bareHot?.push(await bare(place, { books: 1, clients: clients.hot, seconds }))
  }
  const m = Object.fromEntries(Object.entries(all).map(([key, list]) => [key, median(list)]))
  const figures = {
    pairs1000: m.ours1000 ?? 0,
    barePairs1000: m.bare1000 ?? 0,
    pairsRatio1000: (m.ours1000 ?? 0) / (m.bare1000 ?? 1),
    pairsHot: m.oursHot ?? 0,
    barePairsHot: m.bareHot ?? 0,
    pairsRatioHot: (m.oursHot ?? 0) / (m.bareHot ?? 1),
    nodeCpuUsPerPair: m.cpu ?? 0,
  }
  say('pairs/s (medians)       ours     pgbench   ratio')
  say(`${ACTIVE} books  ${line(figures.pairs1000, figures.barePairs1000)}`)
  say(`one hot book ${line(figures.pairsHot, figures.barePairsHot)}`)
  say(`our process: ${figures.nodeCpuUsPerPair.toFixed(1)} µs of CPU a pair`)
  return figures
}

/** The latency of a single pair without other load, and of the two functions called directly. */
async function measureLone(place: Place, say: (text: string) => void) {
  const ledger = await createTestLedger(place.url)
  const book = place.firstBook as BookId
  const counts = noTokens
  const viaLedger = async () => {
    const id = newHoldId(0, Date.now())
    const { tariff } = place
    await ledger.hold({ id, book, tariff, fence: 0n, worst: credits(1000), floor: credits(100) })
    const priced = credits(0)
    await ledger.settle({
      id,
      book,
      counts,
      priced,
      ending: 'complete',
      isEstimated: false,
      messageId: null,
    })
  }
  const byHand = async (client: pg.Client) => {
    const id = newHoldId(0, Date.now())
    await client.query({
      name: 'h',
      text: 'select * from ledger_hold(true, 1, 3900, $1, $2, $3, $4, 0, 1000000000, 100000000)',
      values: [dayOfHold(id), id, book, place.tariff],
    })
    await client.query({
      name: 's',
      text: `select * from ledger_settle_request(true, $1, $2, $3, 0, 0, 0, 0, 0, 0, 'complete',
        false, null, null, null)`,
      values: [dayOfHold(id), id, book],
    })
  }
  const lone: number[] = []
  const byHandMs: number[] = []
  try {
    await onServer(async (client) => {
      for (let i = 0; i < 1_200; i++) {
        const [list, work] = i % 2 === 0 ? [lone, viaLedger] : [byHandMs, () => byHand(client)]
        const from = performance.now()
        await work()
        if (i >= 200) list.push(performance.now() - from)
      }
    }, place.url)
  } finally {
    await ledger.end()
  }
  const figures = { lonePairMs: median(lone), barePairMs: median(byHandMs) }
  const [loneMs, bareMs] = [figures.lonePairMs.toFixed(2), figures.barePairMs.toFixed(2)]
  say(`a single pair: ${loneMs} ms, the functions called directly ${bareMs} ms`)
  return figures
}

async function fourProcesses(place: Place, seconds: number): Promise<number> {
  const results = await Promise.all(
    Array.from({ length: 4 }, () => ours(place, { seconds, books: 1, loops: 256 })),
  )
  return results.reduce((sum, one) => sum + one.pairs / one.seconds, 0)
}

async function hotShare(place: Place): Promise<number> {
  return onServer(async (client) => {
    const { rows } = await client.query(
      `select sum(n_tup_hot_upd)::float8 / sum(n_tup_upd) as share from pg_stat_user_tables
       where relname = 'books' or relname ~ '^holds_'`,
    )
    return rows[0].share
  }, place.url)
}

/** The same load on a large ledger with many more books; pgbench does not run here. */
async function growAndMeasure(
  place: Place,
  options: {
    entries: number
    books: number
    rounds: number
    seconds: number
    say(text: string): void
  },
) {
  const { entries, books, rounds, seconds, say } = options
  const before = await ours(place, { seconds })
  await onServer(async (client) => {
    await client.query(
      `insert into books (id, available)
       select (1::int8 << 40) | i, 4000000000000000000 from generate_series($1::int4, $2::int4) i`,
      [ACTIVE + 1, books],
    )
    await client.query(
      `insert into entries (book_id, seq, amount, balance, at, hold_id, input, output, cache_read,
         cache_write_5m, cache_write_1h, priced, written_off, day, tariff, kind, contra, ending,
         estimated, message_id)
       select (1::int8 << 40) | (1 + i % $1::int8), -i, -1, 0, now(), gen_random_uuid(), 1, 1, 0, 0,
         0, 1, 0, (now() at time zone 'UTC')::date, 1, 'charge', 'revenue', 'complete', false,
         'msg_0123456789abcdef'
       from generate_series(1, $2::int8) i`,
      [books, entries],
    )
    await client.query('vacuum analyze books')
    await client.query('checkpoint')
  }, place.url)
  const active: number[] = []
  const all: number[] = []
  for (let round = 0; round < rounds; round++) {
    const few = await ours(place, { seconds })
    active.push(few.pairs / few.seconds)
    const many = await ours(place, { seconds, books })
    all.push(many.pairs / many.seconds)
  }
  const freshAgain = before.pairs / before.seconds
  say(`with ${entries} entries and ${books} books: ${Math.round(median(active))} pairs/s on`)
  say(`${ACTIVE} of them (before: ${Math.round(freshAgain)}), ${Math.round(median(all))} over all`)
  return { active: median(active), all: median(all), freshAgain }
}

function line(a: number, b: number): string {
  const [ours, bare] = [Math.round(a).toString(), Math.round(b).toString()]
  return `${ours.padStart(14)} ${bare.padStart(11)} ${(a / b).toFixed(2).padStart(7)}`
}
