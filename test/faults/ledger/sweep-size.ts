// A ledger with millions of closed holds and charges: a look of the sweeper reads only what became
// old since the last one, and finds what is overdue; the nightly audit ends under load, reports
// nothing that is right and a wrong balance. With --full (4,000,000 charges): a look takes at most
// 50 ms, and during the audit pairs of hold and settle keep 80 % of their calm rate.
import type { Drill } from '../../support/drill.ts'
import { ensure, percentile, sleep } from '../../support/drill.ts'
import type { TestDatabase, TestLedger } from '../../support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../support/harness.ts'
import { createLedgerCustomer } from '../../support/ledger-customer.ts'
import { fillCharges } from './many-charges.ts'

const LOOK_MS_MAX = 50
const CALM_SHARE_MIN = 0.8
/** As in main.ts. */
const LOOK_SECONDS = 5
const HOLD_SECONDS = 3_900
/** Loops of hold and settle, each with a book of its own. */
const LOOPS = 32

type Say = (text: string) => void

export const drill: Drill = async ({ isFull, say }) => {
  const size = isFull ? { charges: 4_000_000, books: 50_000 } : { charges: 10_000, books: 500 }
  const database = await createTestDatabase()
  // The pool's limit is the configured default; no audit may depend on it.
  const ledger = await createTestLedger(database.url)
  try {
    const startMs = performance.now()
    await fillCharges(database.url, ledger, size)
    say(`${size.charges} charges filled in ${seconds(performance.now() - startMs)} s`)
    const looks = await lookOften(database, ledger, isFull, say)
    const audits = await auditUnderLoad(database, ledger, isFull, say)
    return { ...size, ...looks, ...audits }
  } finally {
    await ledger.end()
    await database.drop()
  }
}

async function lookOften(database: TestDatabase, ledger: TestLedger, isFull: boolean, say: Say) {
  const customer = await createLedgerCustomer(ledger)
  await customer.hold(100)
  const sweeper = ledger.sweeper(60)
  const timed = async (work: () => Promise<unknown>) => {
    const startMs = performance.now()
    await work()
    return performance.now() - startMs
  }
  const firstMs = await timed(sweeper.tick)
  // Each look finds the holds of five more seconds, of about 370 a second with --full.
  const looks: number[] = []
  for (let i = 1; i <= 40; i++) {
    await turnClock(database.db, `${i * LOOK_SECONDS} seconds`)
    looks.push(await timed(sweeper.tick))
  }
  const summaryMs = await timed(sweeper.summarize)
  const [lookMs, longestMs] = [percentile(looks, 0.5), Math.max(...looks)]
  say(`first look ${firstMs.toFixed(0)} ms, then ${lookMs.toFixed(1)} ms (${longestMs.toFixed(1)})`)
  ensure(!isFull || lookMs <= LOOK_MS_MAX, `a look takes at most ${LOOK_MS_MAX} ms (${lookMs})`)
  ensure((await customer.balance()) === '900 100 0', 'a hold before its deadline stays open')
  await turnClock(database.db, `${HOLD_SECONDS + 60} seconds`)
  const { freed } = await sweeper.tick()
  ensure(freed === 1, `one overdue hold among the closed ones is found (${freed})`)
  ensure((await customer.balance()) === '1000 0 0', 'an overdue hold is released')
  await turnClock(database.db, '0 seconds')
  return {
    firstLookMs: Math.round(firstMs),
    lookMs: Number(lookMs.toFixed(1)),
    longestLookMs: Number(longestMs.toFixed(1)),
    summaryMs: Math.round(summaryMs),
  }
}

async function auditUnderLoad(
  database: TestDatabase,
  ledger: TestLedger,
  isFull: boolean,
  say: Say,
) {
  const calmMs = isFull ? 30_000 : 1_000
  const load = await startLoad(ledger)
  await load.rate(sleep(calmMs / 2)) // warms up connections and plans
  const before = await load.rate(sleep(calmMs))
  const startMs = performance.now()
  const all = await load.rate(ledger.audit('all'))
  const auditSeconds = seconds(performance.now() - startMs)
  const after = await load.rate(sleep(calmMs))
  const calm = (before.perSecond + after.perSecond) / 2
  const share = all.perSecond / calm
  say(
    `pairs per second: ${before.perSecond} before, ${all.perSecond} during the audit of ` +
      `${auditSeconds} s, ${after.perSecond} after: ${(share * 100).toFixed(0)} % of calm`,
  )
  await load.stop()
  ensure(all.result.length === 0, `the audit is empty: ${all.result[0]?.rule}`)
  ensure(!isFull || share >= CALM_SHARE_MIN, `pairs keep 80 % of their rate (${share})`)
  await database.db.query('update books set available = available + 1 where id = 1500')
  for (const scope of ['new', 'all'] as const) {
    const found = await ledger.audit(scope)
    ensure(
      found.some(({ rule, book }) => rule === 'book_balance' && book === 1500n),
      `the audit '${scope}' finds a wrong balance`,
    )
  }
  return { auditSeconds, calmPairs: Math.round(calm), auditPairs: all.perSecond, share }
}

async function startLoad(ledger: TestLedger) {
  const state = { isEnding: false, pairs: 0 }
  const customers = []
  for (let i = 0; i < LOOPS; i++) customers.push(await createLedgerCustomer(ledger, 1_000_000))
  const loops = customers.map(async ({ hold, settle }) => {
    while (!state.isEnding) {
      await settle(await hold(100), 2)
      state.pairs += 1
    }
  })
  return {
    /** Pairs per second until the work has ended, and its result. */
    async rate<T>(work: Promise<T>): Promise<{ perSecond: number; result: T }> {
      const start = { pairs: state.pairs, ms: performance.now() }
      const result = await work
      const perSecond = ((state.pairs - start.pairs) * 1_000) / (performance.now() - start.ms)
      return { perSecond: Math.round(perSecond), result }
    },
    async stop() {
      state.isEnding = true
      await Promise.all(loops)
    },
  }
}

function seconds(ms: number): number {
  return Number((ms / 1_000).toFixed(1))
}
