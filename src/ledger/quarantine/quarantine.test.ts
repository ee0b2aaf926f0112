// Tests of refused settles: a settle that the database refuses is kept, on disk or in quarantine,
// also when its process is killed, until the database accepts it. Then it is charged exactly once.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import { createLedgerCustomer, type LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { systemClock } from '../../platform/clock.ts'
import type { HoldId } from '../../platform/ids.ts'
import { createLog } from '../../platform/log.ts'
import { credits } from '../../units/credits.ts'
import { ONE } from '../../units/price.ts'
import { noTokens, tokens } from '../../units/tokens.ts'
import type { SettleInput } from '../calls.ts'
import type { LedgerOptions } from '../ledger.ts'
import { settleText } from '../settle-text.ts'
import { line } from '../spool/files.ts'

const log = createLog({ level: 'silent' })
let database: TestDatabase
let directory: string
let ledgers: TestLedger[]
let clockOffset: { ms: number }

beforeEach(async () => {
  clockOffset = { ms: 0 }
  database = await createTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'tollgate-refused-'))
  ledgers = []
})
afterEach(async () => {
  await Promise.all(ledgers.map((ledger) => ledger.end()))
  await rm(directory, { recursive: true, force: true })
  await database.drop()
})

async function start(changes: Partial<LedgerOptions> = {}): Promise<TestLedger> {
  const ledger = await createTestLedger(database.url, {
    spoolDirectory: directory,
    spoolAfterMs: 0,
    clock: { ...systemClock, spanMs: () => systemClock.spanMs() + clockOffset.ms },
    log,
    ...changes,
  })
  ledgers.push(ledger)
  return ledger
}

/** SQL that makes the database refuse a settle, and SQL that repairs it. */
type Failure = { readonly cause: string; readonly repair: string }

const raised = (code: string): Failure => ({
  cause: `create function refuse_entries() returns trigger language plpgsql as $$
      begin raise exception 'a test' using errcode = '${code}'; end $$;
    create trigger refuse_entries before insert on entries for each row
      execute function refuse_entries()`,
  repair: 'drop trigger refuse_entries on entries; drop function refuse_entries',
})

const failures: Readonly<Record<string, Failure>> = {
  '42883, its function is missing': {
    cause: 'alter function ledger_settle_request rename to ledger_settle_gone',
    repair: 'alter function ledger_settle_gone rename to ledger_settle_request',
  },
  '26000, its prepared statement is gone': raised('26000'),
  '58030, a disk failed': raised('58030'),
  'XX000, an internal error': raised('XX000'),
  'mismatch, the hold is of another book': {
    cause: 'update holds set book_id = book_id + 1',
    repair: 'update holds set book_id = book_id - 1',
  },
  'hold_unknown, the hold is gone': {
    cause: 'create table kept as select * from holds; delete from holds',
    repair: 'insert into holds select * from kept; drop table kept',
  },
  'voided, the hold was given back': {
    cause: `update holds set state = 'voided', ending = 'refused', closed_at = now()`,
    repair: `update holds set state = 'open', ending = null, closed_at = null`,
  },
}

/** Settles of other customers commit while one is refused. */
async function chargeAnother(ledger: TestLedger): Promise<void> {
  const other = await createLedgerCustomer(ledger)
  await other.settle(await other.hold())
  await until(async () => (await other.balance()) === '970 0 0')
}

/** A hold that the database has lost, so that its settle goes to quarantine at once. */
async function startWithoutHold() {
  const ledger = await start()
  const customer = await createLedgerCustomer(ledger)
  const id = await customer.hold()
  const failure = failures['hold_unknown, the hold is gone'] as Failure
  await database.db.query(failure.cause)
  return { ledger, customer, id, failure }
}

/** What the worker's job does each minute. */
const retryDue = async () => (await ledgers[0]?.quarantine.retryDue()) ?? []
const waiting = async () => (await ledgers[0]?.quarantine.count())?.settles

/**
 * Turns both clocks on, again and again: the refusal may be noted, in the spool or in quarantine,
 * after they were turned, and the settle is then not due.
 */
async function retryUntilCharged(customer: LedgerCustomer): Promise<void> {
  let tries = 0
  await until(async () => {
    if (tries++ % 100 === 0) {
      clockOffset.ms += 60_000
      await turnClock(database.db, `${10 + tries / 10} minutes`)
    }
    await retryDue()
    return (await customer.balance()) === '970 0 0'
  })
}

describe('a settle that the database refuses', () => {
  for (const [name, failure] of Object.entries(failures)) {
    test(`(${name}) lets its reply end, and is charged once after the repair`, async () => {
      const ledger = await start()
      const customer = await createLedgerCustomer(ledger)
      const id = await customer.hold()
      await database.db.query(failure.cause)
      assert.deepEqual(await customer.settle(id), { isSpooled: true })
      assert.equal(await customer.balance(), '900 100 0')
      await database.db.query(failure.repair)
      await retryUntilCharged(customer)
      await checkChargedOnce(id)
    })

    test(`(${name}) survives a kill of its process, and the next charges it once`, async () => {
      const ledger = await start()
      const customer = await createLedgerCustomer(ledger)
      const id = await customer.hold()
      await database.db.query(failure.cause)
      await settleAndDie(customer.settleInput(id))
      await database.db.query(failure.repair)
      await start()
      await retryUntilCharged(customer)
      await checkChargedOnce(id)
    })
  }

  test('is in quarantine after ten minutes in which others were charged, not before', async () => {
    const ledger = await start()
    const customer = await createLedgerCustomer(ledger)
    const id = await customer.hold()
    await database.db.query(refuseBook(customer.book, '42501'))
    assert.deepEqual(await customer.settle(id), { isSpooled: true })
    clockOffset.ms += 590_000
    await chargeAnother(ledger)
    await wait(600) // two ticks
    assert.equal(await waiting(), 0)
    clockOffset.ms += 60_000
    await chargeAnother(ledger)
    await until(async () => (await waiting()) === 1)
    await until(() => ledger.health().spooled === 0)
    const [row] = await ledger.quarantine.list({ limit: 10, hold: null })
    assert.equal(row?.hold, id)
    assert.match(row?.reason ?? '', /^42501 .*a test/)
    await database.db.query(stopRefusing)
    await turnClock(database.db, '10 minutes')
    assert.deepEqual(await retryDue(), [{ row, outcome: 'charged', charged: credits(30) }])
    await checkChargedOnce(id)
  })

  test('is in quarantine also with more passes than fit into an index', async () => {
    const { ledger, customer, id, failure } = await startWithoutHold()
    const counts = { ...noTokens, output: tokens(1) }
    const price = {
      input: ONE,
      coefficient: ONE,
      cacheRead: ONE,
      cacheWrite5m: ONE,
      cacheWrite1h: ONE,
    }
    // Random names, which PostgreSQL cannot compress.
    const pass = () => ({ model: randomUUID(), list: '', price, counts })
    const passes = Array.from({ length: 200 }, pass)
    const settle = { ...customer.settleInput(id), priced: credits(230), parts: { passes } }
    assert.deepEqual(await ledger.settle(settle), { isSpooled: true })
    await until(async () => (await waiting()) === 1)
    await until(() => ledger.health().spooled === 0)
    await database.db.query(failure.repair)
    const [row] = await ledger.quarantine.list({ limit: 10, hold: id })
    await turnClock(database.db, '10 minutes')
    assert.deepEqual(await retryDue(), [{ row, outcome: 'charged', charged: credits(100) }])
    assert.equal(await customer.balance(), '900 0 0')
  })

  test('is not in quarantine when every settle was refused', async () => {
    const ledger = await start()
    const customer = await createLedgerCustomer(ledger)
    const id = await customer.hold()
    const failure = raised('42501')
    await database.db.query(failure.cause)
    assert.deepEqual(await customer.settle(id), { isSpooled: true })
    clockOffset.ms += 1_200_000
    await wait(600)
    clockOffset.ms += 60_000
    await wait(600)
    assert.equal(await waiting(), 0)
    await database.db.query(failure.repair)
    clockOffset.ms += 60_000
    await until(async () => (await customer.balance()) === '970 0 0')
    await checkChargedOnce(id)
  })

  test('on a damaged page is in quarantine after ten minutes in which others were', async () => {
    const ledger = await start()
    const customer = await createLedgerCustomer(ledger)
    const id = await customer.hold()
    await database.db.query(refuseBook(customer.book, 'XX001'))
    assert.deepEqual(await customer.settle(id), { isSpooled: true })
    // Twice: the first refusal in the book's own lane starts the ten minutes.
    await wait(600)
    clockOffset.ms += 610_000
    await chargeAnother(ledger)
    await until(async () => (await waiting()) === 1)
    await database.db.query(stopRefusing)
    await turnClock(database.db, '10 minutes')
    await retryDue()
    await checkChargedOnce(id)
  })

  test('waits in the spool while the quarantine cannot be written', async () => {
    const { ledger, customer, id, failure } = await startWithoutHold()
    await database.db.query('alter table quarantine rename to quarantine_gone')
    assert.deepEqual(await customer.settle(id), { isSpooled: true })
    assert.equal(ledger.health().spooled, 1)
    assert.equal(ledger.health().refused.waiting, 1)
    await database.db.query('alter table quarantine_gone rename to quarantine')
    await until(() => ledger.health().spooled === 0)
    assert.equal(await waiting(), 1)
    await database.db.query(failure.repair)
    await turnClock(database.db, '10 minutes')
    await retryDue()
    await checkChargedOnce(id)
  })

  test('is sent again after a migration, without waiting', async () => {
    const { customer, id, failure } = await startWithoutHold()
    await customer.settle(id)
    await until(async () => (await waiting()) === 1)
    assert.deepEqual(await retryDue(), [])
    await database.db.query(failure.repair)
    await database.db.query(`insert into kysely_migration values ('9999-a-repair', now())`)
    assert.equal((await retryDue()).length, 1)
    await checkChargedOnce(id)
  })

  test('of an older version, in a file of its own, is charged too', async () => {
    const ledger = await start()
    const customer = await createLedgerCustomer(ledger)
    const id = await customer.hold()
    const settle = settleText(customer.settleInput(id))
    const record = JSON.stringify({ hold: id, settle, reason: '42883 gone', atMs: 0 })
    const name = `1.999999999.1.${id}.0a0b0c0d.refused`
    await writeFile(join(directory, name), line(record))
    await start()
    await until(async () => (await customer.balance()) === '970 0 0')
    await checkChargedOnce(id)
  })

  test('and is written off is not sent again', async () => {
    const { ledger, customer, id, failure } = await startWithoutHold()
    await customer.settle(id)
    await until(async () => (await waiting()) === 1)
    const [row] = await ledger.quarantine.list({ limit: 10, hold: id })
    assert.ok(row !== undefined)
    await ledger.quarantine.writeOff(row)
    await database.db.query(failure.repair)
    await turnClock(database.db, '10 minutes')
    assert.deepEqual([await retryDue(), await ledger.quarantine.retry(id)], [[], []])
    assert.equal(await customer.balance(), '900 100 0')
  })
})

/** A trigger that refuses the entries of one book. */
const refuseBook = (book: bigint, code: string) =>
  `create function refuse_book() returns trigger language plpgsql as $$
     begin raise exception 'a test' using errcode = '${code}'; end $$;
   create trigger refuse_book before insert on entries for each row
     when (new.book_id = ${book}) execute function refuse_book()`
const stopRefusing = 'drop trigger refuse_book on entries; drop function refuse_book'

/** Starts a process that settles, prints the result and kills itself at once. */
async function settleAndDie(input: SettleInput): Promise<void> {
  const task = { url: database.url, directory, input }
  const json = JSON.stringify(task, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
  const harness = join(import.meta.dirname, '../../../test/support/harness.ts')
  const program = `
    import { createTestLedger } from '${harness}'
    const { url, directory, input } = JSON.parse(process.argv[1], (_, value) =>
      /^[0-9]+n$/.test(value) ? BigInt(value.slice(0, -1)) : value)
    const ledger = await createTestLedger(url, {
      spoolDirectory: directory, spoolAfterMs: 0,
      log: { fatal() {}, error() {}, warn() {}, info() {} },
    })
    const settled = await ledger.settle(input)
    console.log(JSON.stringify(settled))
    process.kill(process.pid, 'SIGKILL')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, json], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  await once(child, 'close')
  assert.equal(
    Buffer.concat(stdout).toString().trim(),
    '{"isSpooled":true}',
    Buffer.concat(stderr).toString(),
  )
}

/** One charge of 30, an audit without findings, and nothing left in the spool. */
async function checkChargedOnce(id: HoldId): Promise<void> {
  const { rows } = await database.db.query(
    `select amount from entries where hold_id = $1 and kind = 'charge'`,
    [id],
  )
  assert.deepEqual(rows, [{ amount: -30_000_000n }])
  assert.deepEqual(await ledgers[0]?.audit('all'), [])
  await Promise.all(ledgers.splice(0).map((one) => one.end()))
  const isLeft = (name: string) => /\.(?:spool|lock)$/.test(name)
  await until(async () => !(await readdir(directory)).some(isLeft))
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await condition()) return
    await wait(10)
  }
  assert.fail('nothing happened in five seconds')
}
