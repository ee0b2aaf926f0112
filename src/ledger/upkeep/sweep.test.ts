// Tests of the sweeper: which processes it considers dead, and that a wrong guess loses nothing.
// The tests set its clock; the processes that it watches are rows whose heartbeat the tests write.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sleep } from '../../../test/support/drill.ts'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import {
  createTestDatabase,
  createTestLedger,
  settingsOf,
  turnClock,
} from '../../../test/support/harness.ts'
import type { LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { openDatabase } from '../../platform/db/db.ts'
import { openLongReads } from '../../platform/db/long-reads.ts'
import type { HoldId, InstanceId } from '../../platform/ids.ts'
import { newInstanceId } from '../../platform/ids.ts'
import { createLog } from '../../platform/log.ts'
import { holdVerb, type VoidInput } from '../calls.ts'
import { createSweeper } from './sweep.ts'
import { instanceBeat, instanceList, lookTimes, spoolClaimed, sweepMarkFind } from './upkeep.ts'

const DEAD_SECONDS = 60
const HOLD_SECONDS = 3_900
/** Time between two ticks, well below the 15 seconds after which a sweeper starts over. */
const LOOK_SECONDS = 5
/** The clock of a process that leaves the decision to the database's. */
const FAR_AHEAD = new Date('2200-01-01')

let database: TestDatabase
let ledger: TestLedger
let customer: LedgerCustomer

beforeEach(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
  customer = await createLedgerCustomer(ledger)
})
afterEach(async () => {
  assert.deepEqual(await ledger.audit('all'), [])
  await ledger.end()
  await database.drop()
})

test('voids the holds of a process without a heartbeat for a minute', async () => {
  const lost = await startProcess()
  await hold(lost)
  await hold(lost)
  const sweeper = startSweeper()
  assert.equal(await sweeper.watch(DEAD_SECONDS - LOOK_SECONDS), 0)
  assert.equal(await customer.balance(), '800 200 0')
  assert.equal(await sweeper.watch(LOOK_SECONDS), 2)
  assert.equal(await customer.balance(), '1000 0 0')
  assert.partialDeepStrictEqual(await newestEntry(), {
    kind: 'void',
    ending: 'process_lost',
    note: 'the process serving it was lost',
  })
  await sweeper.watch(LOOK_SECONDS)
  assert.equal(await isKnown(lost), false)
})

test('reports the spool of a lost process until another process has claimed it', async () => {
  const lost = await startProcess()
  await startSweeper().watch(DEAD_SECONDS)
  assert.deepEqual(await lostSpools(), [])
  await turnClock(database.db, '3 minutes')
  assert.deepEqual(await lostSpools(), [lost])
  await spoolClaimed(database.db, String(lost))
  assert.deepEqual(await lostSpools(), [])
})

test('forgets a lost process whose spool was claimed before', async () => {
  const lost = await startProcess()
  await spoolClaimed(database.db, String(lost))
  await startSweeper().watch(DEAD_SECONDS)
  await turnClock(database.db, '3 minutes')
  assert.deepEqual(await lostSpools(), [])
  assert.equal(await isKnown(lost), false)
})

test('keeps the holds of a process with a heartbeat within the minute', async () => {
  const living = await startProcess()
  await hold(living)
  const sweeper = startSweeper()
  for (let seconds = 0; seconds < 300; seconds += 50) {
    assert.equal(await sweeper.watch(50), 0)
    await beat(living)
  }
  assert.equal(await customer.balance(), '900 100 0')
})

test('considers no process dead in the first minute of a sweeper', async () => {
  const lost = await startProcess()
  await hold(lost)
  // Silent for an hour by the database's clock, which the sweeper does not use.
  await turnClock(database.db, '1 hour')
  assert.equal(await startSweeper().watch(DEAD_SECONDS - LOOK_SECONDS), 0)
})

test('starts over after a gap in its own ticks', async () => {
  await hold(await startProcess())
  const sweeper = startSweeper()
  assert.equal(await sweeper.watch(DEAD_SECONDS - LOOK_SECONDS), 0)
  sweeper.sleep(20)
  assert.equal(await sweeper.watch(DEAD_SECONDS), 0)
  assert.equal(await sweeper.watch(LOOK_SECONDS), 1)
})

test('voids a hold past its deadline although its process is alive', async () => {
  const living = await startProcess()
  const id = await hold(living)
  const sweeper = startSweeper()
  await turnClock(database.db, `${HOLD_SECONDS - 10} seconds`)
  assert.equal(await sweeper.watch(LOOK_SECONDS), 0)
  await turnClock(database.db, `${HOLD_SECONDS + 10} seconds`)
  assert.equal(await sweeper.watch(LOOK_SECONDS), 1)
  assert.equal((await newestEntry())?.ending, 'overdue')
  await customer.settle(id)
  assert.equal(await customer.balance(), '970 0 0')
})

test('charges once for a request of a process that was wrongly considered dead', async () => {
  const slow = await startProcess()
  const id = await hold(slow)
  const sweeper = startSweeper()
  assert.equal(await sweeper.watch(DEAD_SECONDS), 1)
  await sweeper.watch(LOOK_SECONDS)
  await customer.settle(id)
  await customer.settle(id)
  assert.equal(await customer.balance(), '970 0 0')
  // With its next heartbeat the process is known again, and its next hold stays open.
  await beat(slow)
  await hold(slow)
  assert.equal(await sweeper.watch(DEAD_SECONDS - LOOK_SECONDS), 0)
})

test('voids a hold once with two sweepers', async () => {
  await hold(await startProcess())
  const sweepers = [startSweeper(), startSweeper()]
  for (const sweeper of sweepers) await sweeper.watch(DEAD_SECONDS - LOOK_SECONDS)
  await Promise.all(sweepers.map((sweeper) => sweeper.watch(LOOK_SECONDS)))
  assert.partialDeepStrictEqual(await newestEntry(), { kind: 'void', seq: 2n })
})

test('keeps the holds of a process that creates holds while its heartbeats fail', async () => {
  const working = await startProcess()
  const sweeper = startSweeper()
  for (let seconds = 0; seconds < 300; seconds += 50) {
    await turnClock(database.db, `${seconds} seconds`)
    await hold(working)
    assert.equal(await sweeper.watch(50), 0)
  }
  assert.equal(await customer.balance(), '400 600 0')
  // Then it dies, and its last hold is a minute old.
  assert.equal(await sweeper.watch(2 * DEAD_SECONDS), 6)
})

test('keeps the holds of a process whose heartbeat waits for a lock', async () => {
  const living = await startProcess()
  await hold(living)
  const sweeper = startSweeper()
  await database.db.transaction(async (tx) => {
    await tx.query('select from instances where id = $1 for update', [living])
    assert.equal(await sweeper.watch(2 * DEAD_SECONDS), 0)
  })
  assert.equal(await sweeper.watch(LOOK_SECONDS), 1)
})

test('writes heartbeats while all connections of the pool are in use', async (t) => {
  const db = openDatabase({ ...settingsOf(database.url), poolSize: 1 }, 'test', () => undefined)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const process = await createTestLedger(database.url, { db })
  const beatOf = async () =>
    (await instanceList(database.db)).find(({ id }) => id === process.instance)?.beat
  const before = await beatOf()
  await db.transaction(async () => {
    t.mock.timers.tick(5_000)
    for (let i = 0; i < 100 && (await beatOf()) === before; i++) await sleep(20)
    assert.notEqual(await beatOf(), before)
  })
  t.mock.timers.reset()
  await process.end()
})

test('goes on while the book of a lost hold is locked', async () => {
  const other = await createLedgerCustomer(ledger)
  await hold(await startProcess())
  await hold(await startProcess(), other)
  const sweeper = startSweeper()
  await sweeper.watch(DEAD_SECONDS - LOOK_SECONDS)
  await database.db.transaction(async (tx) => {
    await tx.query('select from books where id = $1 for update', [customer.book])
    assert.equal(await sweeper.watch(2 * LOOK_SECONDS), 1)
  })
  await sweeper.watch(DEAD_SECONDS)
  assert.equal(await customer.balance(), '1000 0 0')
})

test('finds an overdue hold also after a day without a sweeper', async () => {
  await hold(await startProcess())
  await turnClock(database.db, '1 day')
  assert.equal(await startSweeper().watch(LOOK_SECONDS), 1)
})

test('continues at the mark of the last sweeper, which no open hold is before', async () => {
  const living = await startProcess()
  const long = await hold(living, customer, 2 * HOLD_SECONDS)
  await turnClock(database.db, `${HOLD_SECONDS + 60} seconds`)
  assert.equal(await startSweeper().watch(LOOK_SECONDS), 0)
  const { rows } = await database.db.query('select created_at as at from holds where id = $1', [
    long,
  ])
  assert.deepEqual(await sweepMarkFind(database.db), (rows[0] as { at: Date }).at)
  await turnClock(database.db, `${2 * HOLD_SECONDS + 60} seconds`)
  const sweeper = startSweeper()
  assert.equal(await sweeper.watch(LOOK_SECONDS), 1)
  const { until } = await lookTimes(database.db, { holdSeconds: HOLD_SECONDS, now: FAR_AHEAD })
  const behindMs = until.getTime() - Number(await sweepMarkFind(database.db))
  assert.ok(behindMs >= 0 && behindMs < 10_000, `the mark is ${behindMs} ms behind`)
})

test('finds an overdue hold that was created after the clock was set back', async () => {
  const sweeper = startSweeper()
  await turnClock(database.db, '1 day')
  await sweeper.watch(LOOK_SECONDS)
  await turnClock(database.db, '0')
  await sweeper.watch(LOOK_SECONDS)
  await hold(await startProcess())
  await turnClock(database.db, `${HOLD_SECONDS + 10} seconds`)
  assert.equal(await sweeper.watch(LOOK_SECONDS), 1)
})

test('keeps the hold of a running request when only the database steps ahead', async () => {
  const living = await startProcess()
  const id = await hold(living)
  const sweeper = startSweeper(new Date())
  await sweeper.watch(LOOK_SECONDS)
  await turnClock(database.db, '70 minutes')
  assert.equal(await sweeper.watch(LOOK_SECONDS), 0)
  // By both clocks the hold is overdue.
  assert.equal(await startSweeper().watch(LOOK_SECONDS), 1)
  await customer.settle(id)
})

test('finds an overdue hold that was created between a step back and the next look', async () => {
  const sweeper = startSweeper()
  await sweeper.watch(LOOK_SECONDS)
  await turnClock(database.db, '2 hours')
  await sweeper.watch(LOOK_SECONDS)
  await turnClock(database.db, '0')
  await hold(await startProcess())
  await turnClock(database.db, '1 second')
  await sweeper.watch(LOOK_SECONDS)
  await turnClock(database.db, `${HOLD_SECONDS + 10} seconds`)
  assert.equal(await sweeper.watch(LOOK_SECONDS), 1)
})

test('reports the spool of a process that was lost while the clock ran ahead', async () => {
  const lost = await startProcess()
  await turnClock(database.db, '20 days')
  await startSweeper().watch(DEAD_SECONDS)
  await turnClock(database.db, '0')
  assert.deepEqual(await lostSpools(), [lost])
})

test('goes on with other books while thousands of holds of one cannot be voided', async () => {
  const other = await createLedgerCustomer(ledger)
  const instance = await startProcess()
  const first = await hold(instance)
  // More rows like the first, without their credits: this book is damaged anyway.
  await database.db.query(
    `insert into holds (id, created_at, book_id, instance, worst, floor, granted, fence,
       deadline_at, day, tariff, state)
     select gen_random_uuid(), created_at + i * interval '0.1 ms', book_id, instance, worst, floor,
       granted, fence, deadline_at, day, tariff, state
     from holds, generate_series(1, 5200) as i`,
  )
  await turnClock(database.db, '1 second')
  await hold(instance, other)
  const sweeper = startSweeper(FAR_AHEAD, async (input: VoidInput) => {
    if (input.book === customer.book) throw new Error('invalid page')
    return ledger.void(input)
  })
  await turnClock(database.db, `${HOLD_SECONDS + 60} seconds`)
  assert.equal(await sweeper.watch(3 * LOOK_SECONDS), 1)
  assert.equal(await other.balance(), '1000 0 0')
  await database.db.query('delete from holds where book_id = $1 and id <> $2', [
    customer.book,
    first,
  ])
})

function startSweeper(
  now = FAR_AHEAD,
  voidHold: (input: VoidInput) => Promise<unknown> = ledger.void,
) {
  const clock = { ms: 0, nowMs: () => now.getTime(), spanMs: () => clock.ms }
  const sweeper = createSweeper({
    db: database.db,
    keeper: database.db,
    longReads: openLongReads(settingsOf(database.url), 'test reads'),
    clock,
    log: createLog({ level: 'silent' }),
    holdSeconds: HOLD_SECONDS,
    deadSeconds: DEAD_SECONDS,
    voidHold,
  })
  const state = { hasLooked: false }
  return {
    sleep(seconds: number) {
      clock.ms += seconds * 1_000
    },
    /** Ticks every five seconds for this time; returns how many holds were voided. */
    async watch(seconds: number): Promise<number> {
      let freed = 0
      if (!state.hasLooked) freed += (await sweeper.tick()).freed
      state.hasLooked = true
      for (let passed = 0; passed < seconds; passed += LOOK_SECONDS) {
        clock.ms += LOOK_SECONDS * 1_000
        freed += (await sweeper.tick()).freed
      }
      return freed
    },
  }
}

const beat = (id: InstanceId) =>
  instanceBeat(database.db, { id, role: 'test', spoolDirectory: '/spool' })

/** Spools of the processes started here: by the sweeper's clock the test ledger is dead too. */
async function lostSpools(): Promise<InstanceId[]> {
  const spools = await ledger.lostSpools()
  return spools.filter((one) => one.directory === '/spool').map((one) => one.instance)
}

async function startProcess(): Promise<InstanceId> {
  const instance = newInstanceId()
  await beat(instance)
  return instance
}

async function isKnown(instance: InstanceId): Promise<boolean> {
  return (await instanceList(database.db)).some((one) => one.id === instance)
}

/** A hold of 100 credits by this process. */
async function hold(
  instance: InstanceId,
  { holdInput } = customer,
  seconds = HOLD_SECONDS,
): Promise<HoldId> {
  const input = holdInput()
  const { text, values } = holdVerb(instance, seconds).statement(input)
  const { rows } = await database.db.query(text, [...values])
  assert.equal((rows[0] as { outcome: string }).outcome, 'granted')
  return input.id
}

async function newestEntry() {
  const [newest] = await ledger.statement({ book: customer.book, beforeSeq: null, limit: 1 })
  return newest
}
