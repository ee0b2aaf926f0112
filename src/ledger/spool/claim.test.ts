// Tests of spool files that a process cannot send as a whole: nothing in them is removed, and they
// affect neither other charges nor the start of a process.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger } from '../../../test/support/harness.ts'
import { createLedgerCustomer, type LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { systemClock } from '../../platform/clock.ts'
import { claimCell, type LedgerOptions } from '../ledger.ts'
import { settleText } from '../settle-text.ts'
import { line } from './files.ts'

/** As a newer version might write it: its checksum is right. */
const NEWER = line('["v2",{"settle":1}]')

let database: TestDatabase
let directory: string
let ledgers: TestLedger[]
let customer: LedgerCustomer

beforeEach(async () => {
  database = await createTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'tollgate-claim-'))
  ledgers = []
  const ledger = await start(database, { spoolDirectory: join(directory, 'own') })
  customer = await createLedgerCustomer(ledger)
})
afterEach(async () => {
  await Promise.all(ledgers.map((ledger) => ledger.end()))
  await rm(directory, { recursive: true, force: true })
  await database.drop()
})

async function start(at: TestDatabase, changes: Partial<LedgerOptions>): Promise<TestLedger> {
  const ledger = await createTestLedger(at.url, changes)
  ledgers.push(ledger)
  return ledger
}

/** The line of a charge of 30 that waits. */
async function spooled(): Promise<string> {
  return line(settleText(customer.settleInput(await customer.hold())))
}

async function write(name: string, ...lines: string[]): Promise<void> {
  await writeFile(join(directory, name), lines.join(''))
}

/** The result of a replay that leaves nothing. */
const sent = (files: number) => ({ settles: files, unsent: 0, files, left: 0 })

/** All lines of spool files; a file that is just removed has none. */
async function kept(): Promise<string> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.spool'))
  const read = (name: string) => readFile(join(directory, name), 'utf8').catch(() => '')
  return (await Promise.all(names.map(read))).join('')
}

test('a process starts and charges all others when it cannot read a line', async () => {
  await write('1111.spool', await spooled(), NEWER, await spooled())
  await write('2222.spool', await spooled())
  await write('3333.spool', NEWER)
  for (const _ of ['first', 'second']) {
    const ledger = await start(database, { spoolDirectory: directory })
    await until(async () => (await customer.balance()) === '910 0 0')
    await until(() => ledger.health().spooled === 2)
    await until(async () => (await kept()) === NEWER + NEWER)
    await ledgers.pop()?.end()
  }
  assert.deepEqual(await ledgers[0]?.audit('all'), [])
})

test('a spool is lost until each of its lines is sent', async () => {
  await database.db.query(
    `insert into instances (id, role, host, spool_directory, started_at, beat_at, lost_at)
     values (1111, 'gateway', 'node-7', $1, now(), now(), now() - interval '1 hour')`,
    [directory],
  )
  await write('1111.spool', await spooled(), NEWER)
  assert.deepEqual(await ledgers[0]?.replayDirectory(directory), { ...sent(1), left: 1 })
  assert.equal((await ledgers[0]?.lostSpools())?.length, 1)
  const [name = ''] = (await readdir(directory)).filter((one) => one.endsWith('.spool'))
  await write(name, await spooled())
  assert.deepEqual(await ledgers[0]?.replayDirectory(directory), sent(1))
  assert.deepEqual(await ledgers[0]?.lostSpools(), [])
})

test('the alarm of a process ends when another takes over what it had claimed', async () => {
  await database.db.query(
    `insert into instances (id, role, host, spool_directory, started_at, beat_at, lost_at)
     values (2222, 'gateway', 'node-7', $1, now(), now(), now() - interval '1 hour')`,
    [directory],
  )
  await write('2222-1111-1.spool', await spooled())
  await ledgers[0]?.replayDirectory(directory)
  assert.deepEqual(await ledgers[0]?.lostSpools(), [])
})

test('a directory that is named like a spool file does not stop the others', async () => {
  await write('1111.spool', await spooled())
  await mkdir(join(directory, '9999.spool'))
  for (const files of [1, 0]) {
    const replayed = await ledgers[0]?.replayDirectory(directory)
    assert.deepEqual(replayed, { ...sent(files), left: 1 })
    assert.deepEqual((await readdir(directory)).sort(), ['9999.spool', 'own'])
  }
  assert.equal(await customer.balance(), '970 0 0')
})

test('a spool of another cell stays for that cell', async (t) => {
  const other = await createTestDatabase()
  t.after(() => other.drop())
  await claimCell(other.db, 1)
  const charge = await spooled()
  await write('1111.spool', charge)
  const wrong = await start(other, { cell: 1, spoolDirectory: directory })
  assert.equal(wrong.health().spooled, 1)
  assert.equal((await wrong.quarantine.count()).settles, 0)
  assert.equal(await kept(), charge)
  await ledgers.pop()?.end()
  await ledgers[0]?.replayDirectory(directory)
  assert.equal(await customer.balance(), '970 0 0')
})

test('an operator adopts a spool with a charge that the database refuses for a while', async () => {
  const { db, url } = database
  await mkdir(join(directory, 'lost'))
  await write('lost/1111.spool', await spooled())
  await db.query('alter table entries rename to entries_gone')
  // As op does: without timers of its own.
  const ledger = await createTestLedger(url, { spoolDirectory: directory }, { isStarted: false })
  ledgers.push(ledger)
  const adopted = ledger.replayDirectory(join(directory, 'lost'))
  await until(() => ledger.health().refused.total === 1)
  await db.query('alter table entries_gone rename to entries')
  assert.deepEqual(await adopted, sent(1))
  assert.equal(await customer.balance(), '970 0 0')
})

test('an operator gets the command line back when the database keeps refusing', async () => {
  let aheadMs = 0
  const clock = { ...systemClock, spanMs: () => systemClock.spanMs() + aheadMs }
  await mkdir(join(directory, 'lost'))
  await write('lost/1111.spool', await spooled())
  await database.db.query('alter table entries rename to entries_gone')
  const options = { spoolDirectory: directory, clock }
  const ledger = await createTestLedger(database.url, options, { isStarted: false })
  ledgers.push(ledger)
  const adopted = ledger.replayDirectory(join(directory, 'lost'))
  await until(() => ledger.health().refused.total === 1)
  aheadMs = 60_000
  assert.deepEqual(await adopted, { settles: 0, unsent: 1, files: 1, left: 0 })
  const names = await readdir(join(directory, 'lost'))
  assert.deepEqual(names, [`${ledger.instance}-1111-1.spool`])
  await database.db.query('alter table entries_gone rename to entries')
})

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await condition()) return
    await wait(10)
  }
  assert.fail('nothing happened in five seconds')
}
