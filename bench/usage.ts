// The usage pages of an account with many requests: 200,000, or with --full five million, over a
// year of daily partitions. The real job adds them up, and the pages are requested over HTTP, one
// request at a time without other load. The median and the worst of 30 have a limit each.
import type { BookId } from '../src/platform/ids.ts'
import { requestIdOf } from '../src/platform/ids.ts'
import { createCabinetStage, type Person } from '../test/stages/cabinet.ts'
import { sleep } from '../test/support/drill.ts'
import { onServer } from '../test/support/harness.ts'
import { insertPastRequests, models, preparePastUsage } from '../test/support/past-usage.ts'
import { startPostgres } from '../tools/postgres.ts'
import type { Bench } from './measure.ts'
import { median, rounded } from './measure.ts'

const DAYS = 364
const DAY_MS = 86_400_000
const MEDIAN_LIMIT_MS = 100
const WORST_LIMIT_MS = 250
const RUNS = 30
/** The hourly limit of statements for an account, less the two that warm up. */
const STATEMENT_RUNS = 28
const ROWS_MAX = 100_000

type Stage = Awaited<ReturnType<typeof createCabinetStage>>
/** A path of the cabinet, for the n-th run. */
type Ask = (n: number) => string

export const bench: Bench = async ({ isFull, say }) => {
  const requests = isFull ? 5_000_000 : 200_000
  const postgres = await startPostgres({
    version: 'system',
    // Memory for an account of this size; no checkpoint during a measurement.
    settings: { shared_buffers: '2GB', max_wal_size: '16GB', checkpoint_timeout: '1h' },
  })
  const stage = await createCabinetStage({ serverUrl: postgres.url })
  try {
    const own = await stage.person('busy')
    const made = await make(stage, own.book, requests, say)
    const figures: Record<string, number> = { requests, ...made }
    const failed: string[] = []
    for (const [name, ask] of Object.entries(await questions(stage, own.book, requests))) {
      const times = await measure(stage.url, own, ask)
      const [p50, worst] = [median(times), Math.max(...times)]
      Object.assign(figures, { [`${name}P50Ms`]: p50, [`${name}WorstMs`]: worst })
      say(`${name.padEnd(24)} ${p50.toFixed(1).padStart(7)} ${worst.toFixed(1).padStart(7)} ms`)
      if (p50 > MEDIAN_LIMIT_MS) failed.push(`${name} ${p50.toFixed(1)} ms > ${MEDIAN_LIMIT_MS}`)
      if (worst > WORST_LIMIT_MS) {
        failed.push(`${name} ${worst.toFixed(1)} ms at worst > ${WORST_LIMIT_MS}`)
      }
    }
    return { figures: rounded(figures), failed }
  } finally {
    await stage.end()
    await postgres.stop()
  }
}

async function make(
  { db, ledger, database }: Stage,
  book: BookId,
  requests: number,
  say: (text: string) => void,
) {
  const nowMs = Date.now()
  await preparePastUsage({ db, ledger }, book, DAYS)
  const plantedMs = await took(() =>
    insertPastRequests(db, { book, fromMs: nowMs - DAYS * DAY_MS + 60_000, toMs: nowMs, requests }),
  )
  say(`${requests} requests planted in ${(plantedMs / 1000).toFixed(0)} s`)
  const addedMs = await took(async () => {
    while (!(await ledger.aggregateUsage())) say('a run of the job ended; the next one continues')
  })
  say(`added up in ${(addedMs / 1000).toFixed(1)} s`)
  // Some requests are not added up yet, as in normal operation.
  await insertPastRequests(db, {
    book,
    fromMs: nowMs,
    toMs: nowMs + 1_000,
    requests: 1_000,
    seed: 2,
  })
  await onServer((client) => client.query('vacuum analyze'), database.url)
  const { rows } = await db.query(
    `select (select count(*)::int4 from usage_sums) as sums,
       (select count(*)::int4 from usage_split_sums) as splits,
       (select count(*)::int4 from usage_sessions where is_whole) as sessions,
       (select count(*)::int4 from usage_spans) + (select count(*)::int4 from usage_split_spans)
         as spans,
       (select sum(pg_total_relation_size(oid))::int8 from pg_class
         where relname like 'usage\\_%' and relkind = 'r') as bytes`,
  )
  const { bytes, ...counts } = rows[0] as Record<string, number> & { bytes: bigint }
  const { sums, splits, sessions, spans } = counts
  say(`${sums} sums, ${splits} by split, ${sessions} sessions, ${spans} spans`)
  say(`${(Number(bytes) / 2 ** 20).toFixed(0)} MB`)
  return { addedPerSecond: requests / (addedMs / 1000), ...counts, bytes: Number(bytes) }
}

/** The requests that the pages of an owner send. */
async function questions(stage: Stage, book: BookId, requests: number) {
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
  const seq = (n: number) => Math.floor(requests * ((n * 0.618_034) % 1)) + 60
  const log = (query: string): Ask => {
    return () => `/api/log?${query}`
  }
  const deep = (query: string): Ask => {
    return (n) => `/api/log?before=${seq(n)}${query}`
  }
  const zone = 'zone=Europe/Moscow'
  const year = (of: string): Ask => {
    return () => `/api/usage?from=${day(364)}&to=${day(0)}&zone=${of}`
  }
  const ids = await idsOf(stage, book, requests)
  return {
    home: () => `/api/home?${zone}`,
    logFirst: log(''),
    logFirst200: log('limit=200'),
    logDeep: deep(''),
    logLast: log('before=40'),
    logModel: deep(`&model=${models[1]}`),
    logModelSeldom: deep(`&model=${models[3]}`),
    logModelRare: deep(`&model=${models[4]}`),
    logEnding: deep('&ending=refused'),
    logEndingRare: log('ending=overdue'),
    logCharged: deep('&ending=charged'),
    logFree: deep('&ending=free'),
    logModelAndEnding: deep(`&model=${models[3]}&ending=upstream_failed`),
    logNothing: log('model=model-nobody-used'),
    logNothingOfBoth: log(`model=${models[4]}&ending=given_up`),
    logYear: deep(`&from=${day(363)}&to=${day(0)}&${zone}`),
    logDay: (n) => `/api/log?from=${day(n * 11)}&to=${day(n * 11)}&${zone}&ending=free`,
    logMonthRare: (n) =>
      `/api/log?from=${day(n * 10 + 30)}&to=${day(n * 10)}&model=${models[4]}&zone=Asia/Kolkata`,
    requestOld: (n) => `/api/log/${ids.old[n % ids.old.length]}`,
    requestNew: (n) => `/api/log/${ids.young[n % ids.young.length]}`,
    chartYear: year('Europe/Moscow'),
    chartYearFarEast: year('Asia/Kamchatka'),
    chartYearHalfHour: year('Asia/Kolkata'),
    chartHours: (n) => `/api/usage?from=${day(n + 13)}&to=${day(n)}&step=hour&${zone}`,
    chartHoursHalfHour: () => `/api/usage?from=${day(13)}&to=${day(0)}&step=hour&zone=Asia/Kolkata`,
    ...explorerQuestions(day, requests),
    statementFirstByte: (n) => `/api/statement?from=${day(n * 10 + 30)}&to=${day(n * 10)}&${zone}`,
  } satisfies Record<string, Ask>
}

/** What the explorer, its files, sessions and the log by session ask. */
function explorerQuestions(day: (ago: number) => string, requests: number): Record<string, Ask> {
  const zone = 'zone=Europe/Moscow'
  const asks: Record<string, Ask> = {}
  const periods = { week: 363, day: 89, hour: 13 } as const
  for (const split of ['model', 'ending', 'session', 'label']) {
    for (const [step, days] of Object.entries(periods)) {
      const query = `from=${day(days)}&to=${day(0)}&step=${step}&split=${split}&${zone}`
      asks[`explore ${split} ${step}`] = () => `/api/usage?${query}&compare=1`
    }
    asks[`explore ${split} year`] = () =>
      `/api/usage?from=${day(364)}&to=${day(0)}&split=${split}&${zone}`
  }
  const month = `from=${day(29)}&to=${day(0)}&${zone}`
  asks['file csv'] = () => `/api/usage/file?${month}&split=session&format=csv`
  asks['file json'] = () => `/api/usage/file?${month}&split=model&compare=1&format=json`
  // Of the last 80 days: sessions are kept for 90.
  const session = (n: number) => {
    const request = requests * (1 - 0.22 * ((n * 0.618_034) % 1)) - 300
    return `session-1-${Math.floor(request / 200) * 4 + (n % 4)}`
  }
  asks['sessions first'] = () => '/api/usage/sessions'
  asks['sessions deep'] = (n) =>
    `/api/usage/sessions?before=${requests - Math.floor((requests / 200) * n)}`
  asks['labels first'] = () => '/api/usage/sessions?kind=label'
  asks['one session'] = (n) => `/api/usage/session?id=${session(n)}`
  asks['one label'] = (n) => `/api/usage/session?kind=label&id=label-${n % 5}`
  asks['log session'] = (n) => `/api/log?session=${session(n)}`
  asks['log agent'] = (n) => `/api/log?agent=${session(n)}-agent-${n % 2}`
  asks['log label'] = (n) => `/api/log?label=label-${n % 5}`
  asks['log label, day'] = (n) =>
    `/api/log?label=label-${n % 5}&from=${day(n * 11)}&to=${day(n * 11)}&${zone}`
  asks['log session, free'] = (n) => `/api/log?session=${session(n)}&ending=free`
  asks['log label, free'] = (n) => `/api/log?label=label-${n % 5}&ending=free`
  asks['log label, seldom model'] = (n) => `/api/log?label=label-${n % 5}&model=${models[3]}`
  asks['log label, rare model'] = (n) => `/api/log?label=label-${n % 5}&model=${models[4]}`
  asks['log label, model'] = (n) => `/api/log?label=label-${n % 5}&model=${models[1]}`
  return asks
}

/** Numbers of requests: some whose holds are already deleted, some of this week. */
async function idsOf({ db }: Stage, book: BookId, requests: number) {
  const { rows } = await db.query(
    `select hold_id as id, seq <= $2::int8 as "isOld" from entries
     where book_id = $1 and (seq = any ($3::int8[]) or seq > $2) and hold_id is not null
     order by seq limit $4`,
    [
      book,
      requests,
      Array.from({ length: RUNS }, (_, n) => Math.floor((requests * 0.9 * n) / RUNS) + 60),
      ROWS_MAX,
    ],
  )
  const all = rows as { id: Parameters<typeof requestIdOf>[0]; isOld: boolean }[]
  const of = (isOld: boolean) =>
    all.filter((one) => one.isOld === isOld).map(({ id }) => requestIdOf(id))
  return { old: of(true), young: of(false) }
}

async function measure(url: string, own: Person, ask: Ask): Promise<number[]> {
  const times: number[] = []
  const headers = own.headers()
  // A statement is a stream: the owner waits for its first bytes.
  const isStream = ask(0).startsWith('/api/statement')
  for (let n = 0; n < (isStream ? STATEMENT_RUNS : RUNS) + 2; n++) {
    const fromMs = performance.now()
    const response = await fetch(`${url}${ask(n)}`, { headers })
    const reader = response.body?.getReader()
    for (let isOver = false; !isOver; ) isOver = (await reader?.read())?.done !== false || isStream
    // The first two open connections and make query plans.
    if (n >= 2) times.push(performance.now() - fromMs)
    await reader?.cancel()
    // Wait until an abandoned stream has stopped reading, or it would slow the next one.
    if (isStream) await sleep(100)
    if (response.status !== 200) throw new Error(`${ask(n)}: ${response.status}`)
  }
  return times
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const fromMs = performance.now()
  await work()
  return performance.now() - fromMs
}
