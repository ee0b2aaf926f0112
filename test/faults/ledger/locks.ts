// Another session locks one book for seconds: no operation on other books waits for that lock, and
// with --full their p99 stays within twice the calm one. Then all ledger operations run at once
// from several processes and never deadlock.
import pg from 'pg'
import type { BookId } from '../../../src/platform/ids.ts'
import { isRefusal } from '../../../src/platform/refusal.ts'
import { credits } from '../../../src/units/credits.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, isWithin, percentile, random, sleep } from '../../support/drill.ts'
import { createTestLedger, type TestLedger } from '../../support/harness.ts'
import { createStage } from './ledger.ts'

type Stage = Awaited<ReturnType<typeof createStage>>

export const drill: Drill = async ({ isFull, seed, say }) => {
  const stage = await createStage(50)
  try {
    const locked = await lockOneBook(stage, seed, isFull, say)
    const mixed = await mixOperations(stage, seed, isFull ? 600_000 : 20_000)
    say(`${mixed.operations} operations of all kinds at once, ${mixed.deadlocks} deadlocks`)
    ensure(mixed.deadlocks === 0, 'operations never deadlock')
    const checked = await stage.check()
    return { ...locked, ...mixed, ...checked }
  } finally {
    await stage.end()
  }
}

async function lockOneBook(
  stage: Stage,
  seed: number,
  isFull: boolean,
  say: (text: string) => void,
) {
  const [rounds, lockedMs] = isFull ? [5, 10_000] : [3, 3_000]
  const first = stage.base.books[0] as string
  // Separate loops use the locked book, because they wait for its lock.
  const writer = stage.startWriter({ seed, loops: 48, pinnedLoops: 6, servedMsMax: 5, pauseMs: 30 })
  await writer.ready
  await sleep(1_500)
  const seen: { calmP99: number; lockedP99: number; samples: number }[] = []
  const longestMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const startMs = stage.nowMs()
    await sleep(lockedMs)
    const lockMs = stage.nowMs()
    const stranger = new pg.Client({ connectionString: stage.base.url })
    await stranger.connect()
    await stranger.query('begin')
    await stranger.query('select from books where id = $1 for update', [first])
    await sleep(lockedMs)
    const freeMs = stage.nowMs()
    await stranger.query('rollback')
    await stranger.end()
    const within = (from: number, to: number) =>
      writer.lines
        .filter((line) => line.what !== 'refused' && line.book !== first)
        .filter((line) => line.atMs >= from && line.atMs < to)
        .map((line) => line.ms)
    const [calm, locked] = [within(startMs, lockMs), within(lockMs, freeMs)]
    ensure(locked.length > 0, 'operations on other books continue')
    ensure(
      !isFull || locked.length > calm.length / 2,
      'operations on other books keep at least half of their rate',
    )
    const [calmP99, lockedP99] = [percentile(calm, 0.99), percentile(locked, 0.99)]
    say(`p99 of other books: calm ${calmP99} ms, locked ${lockedP99} ms (${locked.length} samples)`)
    seen.push({ calmP99, lockedP99, samples: locked.length })
    await sleep(500)
    const after = writer.lines.some((line) => line.book === first && line.atMs > freeMs)
    ensure(after, 'operations on the locked book continue after the lock is released')
    // By now an operation that waited for the lock has ended.
    longestMs.push(Math.max(...within(lockMs, stage.nowMs())))
  }
  writer.child.kill('SIGTERM')
  await writer.ended
  // The best round: a bug that waits for the lock shows in every round, a busy machine does not.
  ensure(
    Math.min(...longestMs) < lockedMs / 2,
    `no other book waits for the lock (${longestMs} ms)`,
  )
  // The median round, because other load on the machine may disturb one of them.
  const median = seen.toSorted((a, b) => a.lockedP99 / a.calmP99 - b.lockedP99 / b.calmP99)[
    Math.floor(rounds / 2)
  ] as (typeof seen)[number]
  ensure(
    !isFull || isWithin(median.lockedP99, median.calmP99, 2),
    `p99 of other books is at most twice calm (${median.lockedP99}, calm ${median.calmP99} ms)`,
  )
  return { calmP99Ms: median.calmP99, lockedP99Ms: median.lockedP99, samples: median.samples }
}

/** All operations at once: holds and settles in writers; the rest, audits and sweeps here. */
async function mixOperations(stage: Stage, seed: number, forMs: number) {
  const few = stage.base.books.slice(0, 5)
  const writers = [1, 2].map((i) =>
    stage.startWriter({ seed: seed + i, books: few, loops: 24, servedMsMax: 3, pauseMs: 5 }),
  )
  await Promise.all(writers.map((writer) => writer.ready))
  const ledger = await createTestLedger(stage.base.url)
  const draw = random(seed)
  let operations = 0
  const until = performance.now() + forMs
  const loop = async (operation: Mixed) => {
    while (performance.now() < until) {
      const book = BigInt(few[Math.floor(draw() * few.length)] as string) as BookId
      operations += 1
      await operation(book, `mix ${seed} ${operations}`).catch(passRefusal)
      await sleep(draw() * 20)
    }
  }
  await Promise.all([...rareOperations(ledger), ...upkeep(ledger)].map(loop))
  for (const writer of writers) writer.child.kill('SIGTERM')
  await Promise.all(writers.map((writer) => writer.ended))
  await ledger.end()
  const hot = writers.reduce((sum, writer) => sum + writer.lines.length, 0)
  const { rows } = await stage.database.db.query(
    `select deadlocks::int4 from pg_stat_database where datname = current_database()`,
  )
  return { operations: operations + hot, deadlocks: (rows[0] as { deadlocks: number }).deadlocks }
}

type Mixed = (book: BookId, ref: string) => Promise<unknown>

function rareOperations(ledger: TestLedger): Mixed[] {
  const { db } = ledger
  const amount = credits(5)
  const down = -amount as typeof amount
  const contra = 'clearing'
  const note = ''
  return [
    (book, ref) =>
      db.transaction((tx) =>
        ledger.credit(tx, { book, kind: 'purchase', ref, amount, contra, note }),
      ),
    (book, ref) =>
      db.transaction((tx) => ledger.forceDebit(tx, { book, lot: null, ref, amount, contra, note })),
    (book, ref) =>
      db.transaction((tx) => ledger.adjust(tx, { book, ref, amount: down, contra, note })),
    async (book, ref) => {
      const lot = (await ledger.lots(book)).at(-1)
      if (lot === undefined) return
      const refund = { book, lot: lot.seq, ref, note }
      await db.transaction((tx) => ledger.refund(tx, { ...refund, amount }))
      await db.transaction((tx) => ledger.reverseRefund(tx, refund))
    },
    (book) =>
      ledger.setLimits(db, book, { dayLimit: null, velocityLimit: null, velocitySeconds: 60 }),
  ]
}

function upkeep(ledger: TestLedger): Mixed[] {
  const sweeper = ledger.sweeper(60)
  return [() => sweeper.tick(), () => ledger.audit('new'), () => ledger.makePartitions()]
}

function passRefusal(error: unknown): void {
  // Postings wait for a busy book until the lock timeout; that refusal is not a deadlock.
  const code = (error as { code?: string }).code
  if (!isRefusal(error) && code !== '55P03' && code !== '40001') throw error
}
