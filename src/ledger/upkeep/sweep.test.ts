// The sweeper: whom it takes for dead, and that a wrong guess loses nothing. Its clock is turned by
// hand; the processes it watches are rows that beat, or do not.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { Customer } from '../../../test/support/customer.ts'
import { createCustomer } from '../../../test/support/customer.ts'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import type { HoldId, InstanceId } from '../../platform/ids.ts'
import { newInstanceId } from '../../platform/ids.ts'
import { createLog } from '../../platform/log.ts'
import { holdVerb } from '../calls.ts'
import { createSweeper } from './sweep.ts'
import { instanceBeat, instanceList } from './upkeep.ts'

const DEAD_SECONDS = 60
const HOLD_SECONDS = 3_900
/** How often the tests' sweepers look: well within the gap of 15 seconds they forgive. */
const LOOK_SECONDS = 5

let database: TestDatabase
let ledger: TestLedger
let customer: Customer

beforeEach(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
  customer = await createCustomer(ledger)
})
afterEach(async () => {
  assert.deepEqual(await ledger.audit('all'), [])
  await ledger.end()
  await database.drop()
})

test('a process that stands still for a minute is dead, and its holds are freed', async () => {
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

test('a process that beats within the minute keeps its holds', async () => {
  const living = await startProcess()
  await hold(living)
  const sweeper = startSweeper()
  for (let seconds = 0; seconds < 300; seconds += 50) {
    assert.equal(await sweeper.watch(50), 0)
    await instanceBeat(database.db, living, 'test')
  }
  assert.equal(await customer.balance(), '900 100 0')
})

test('a sweeper that has just started knows nothing about the dead', async () => {
  const lost = await startProcess()
  await hold(lost)
  // Long silent by the database's clock, which nobody asks.
  await turnClock(database.db, '1 hour')
  assert.equal(await startSweeper().watch(DEAD_SECONDS - LOOK_SECONDS), 0)
})

test('a gap in its own watch makes a sweeper count anew', async () => {
  await hold(await startProcess())
  const sweeper = startSweeper()
  assert.equal(await sweeper.watch(DEAD_SECONDS - LOOK_SECONDS), 0)
  sweeper.sleep(20)
  assert.equal(await sweeper.watch(DEAD_SECONDS), 0)
  assert.equal(await sweeper.watch(LOOK_SECONDS), 1)
})

test('a hold that outlives its deadline is freed though its process beats', async () => {
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

test('a process taken for dead by mistake still charges what it served, once', async () => {
  const slow = await startProcess()
  const id = await hold(slow)
  const sweeper = startSweeper()
  assert.equal(await sweeper.watch(DEAD_SECONDS), 1)
  await sweeper.watch(LOOK_SECONDS)
  await customer.settle(id)
  await customer.settle(id)
  assert.equal(await customer.balance(), '970 0 0')
  // It beats on, is known again, and its next hold stands.
  await instanceBeat(database.db, slow, 'test')
  await hold(slow)
  assert.equal(await sweeper.watch(DEAD_SECONDS - LOOK_SECONDS), 0)
})

test('two sweepers free a hold once', async () => {
  await hold(await startProcess())
  const sweepers = [startSweeper(), startSweeper()]
  for (const sweeper of sweepers) await sweeper.watch(DEAD_SECONDS - LOOK_SECONDS)
  await Promise.all(sweepers.map((sweeper) => sweeper.watch(LOOK_SECONDS)))
  assert.partialDeepStrictEqual(await newestEntry(), { kind: 'void', seq: 2n })
})

function startSweeper() {
  const clock = { ms: 0, nowMs: () => 0, spanMs: () => clock.ms }
  const sweeper = createSweeper({
    db: database.db,
    clock,
    log: createLog({ level: 'silent' }),
    holdSeconds: HOLD_SECONDS,
    deadSeconds: DEAD_SECONDS,
    voidHold: ledger.void,
  })
  const state = { hasLooked: false }
  return {
    sleep(seconds: number) {
      clock.ms += seconds * 1_000
    },
    /** Looks every few seconds, the last time after so many; says how many holds it freed. */
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

async function startProcess(): Promise<InstanceId> {
  const instance = newInstanceId()
  await instanceBeat(database.db, instance, 'test')
  return instance
}

async function isKnown(instance: InstanceId): Promise<boolean> {
  return (await instanceList(database.db)).some((one) => one.id === instance)
}

/** A hold of 100 credits by some process. */
async function hold(instance: InstanceId): Promise<HoldId> {
  const ask = customer.holdAsk()
  const { text, values } = holdVerb(instance, HOLD_SECONDS).one(ask)
  const { rows } = await database.db.query(text, [...values])
  assert.equal((rows[0] as { outcome: string }).outcome, 'granted')
  return ask.id
}

async function newestEntry() {
  const [newest] = await ledger.statement({ book: customer.book, beforeSeq: null, limit: 1 })
  return newest
}
