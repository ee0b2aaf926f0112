// Files of refused settles: each is on disk before its refusal is accepted, is listed once, and
// stays until its settle commits or an operator removes it, also when the disk is full.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Customer } from '../../../test/support/customer.ts'
import { createCustomer } from '../../../test/support/customer.ts'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger } from '../../../test/support/harness.ts'
import { mountSmallDisk, unmountSmallDisk } from '../../../test/support/small-disk.ts'
import { systemClock } from '../../platform/clock.ts'
import { type HoldId, newHoldId } from '../../platform/ids.ts'
import { createLog } from '../../platform/log.ts'
import type { LedgerOptions, RefusedSettle } from '../ledger.ts'
import { line } from './files.ts'
import { textOf } from './settle-text.ts'

const log = createLog({ level: 'silent' })
let database: TestDatabase
let directory: string
let ledgers: TestLedger[]
let turned: { ms: number }

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollgate-refused-'))
  ledgers = []
  turned = { ms: 0 }
})
afterEach(async () => {
  await Promise.all(ledgers.map((ledger) => ledger.end()))
  unmountSmallDisk(directory)
  await rm(directory, { recursive: true, force: true })
})

async function start(changes: Partial<LedgerOptions> = {}): Promise<TestLedger> {
  const ledger = await createTestLedger(database.url, {
    spoolDirectory: directory,
    clock: { ...systemClock, spanMs: () => systemClock.spanMs() + turned.ms },
    log,
    ...changes,
  })
  ledgers.push(ledger)
  return ledger
}

/** A hold that the database does not know: its settle answers `hold_unknown`. */
const unknownHold = () => newHoldId(0, Date.now())

test('a settle that is refused twice, and by two processes, is listed once', async () => {
  const [first, second] = [await start(), await start()]
  const customer = await createCustomer(first)
  const id = unknownHold()
  for (const ledger of [first, first, second]) await ledger.settle(customer.settleAsk(id))
  const [one, ...more] = await settlesOf(first)
  assert.deepEqual(more, [])
  assert.equal(one?.hold, id)
  const { book, priced, ending, reason } = one?.known ?? {}
  assert.deepEqual(
    { book, priced, ending, reason },
    {
      book: customer.book,
      priced: 30_000_000n,
      ending: 'complete',
      reason: 'answered hold_unknown',
    },
  )
  assert.deepEqual(first.health().refused, { waiting: 1, total: 2 })
  assert.deepEqual(second.health().refused, { waiting: 1, total: 1 })
})

test('two settles of one hold that differ are both kept', async () => {
  const ledger = await start()
  const customer = await createCustomer(ledger)
  const id = unknownHold()
  await customer.settle(id, 30)
  await customer.settle(id, 40)
  const priced = (await settlesOf(ledger)).map(({ known }) => known?.priced)
  assert.deepEqual(priced.toSorted(), [30_000_000n, 40_000_000n])
})

test('what an operator removes is gone, and is not charged any more', async () => {
  const ledger = await start()
  const customer = await createCustomer(ledger)
  const kept = await refusedSettle(customer)
  const removed = await refusedSettle(customer)
  await ledger.removeRefused(removed)
  assert.deepEqual(
    (await settlesOf(ledger)).map(({ hold }) => hold),
    [kept],
  )
  await reopen()
  turned.ms += 600_000
  await until(async () => (await customer.balance()) === '870 100 0')
  await until(() => ledger.health().refused.waiting === 0)
  assert.deepEqual(await settlesOf(ledger), [])
})

test('a file of a dead process is claimed once, and a half-written one is dropped', async () => {
  const writer = await start()
  const customer = await createCustomer(writer)
  const id = await refusedSettle(customer)
  const [name = ''] = await refusedNames()
  const [, , , ...key] = name.split('.')
  await rename(join(directory, name), join(directory, `1.999999999.1.${key.join('.')}`))
  await writeFile(join(directory, `1.999999999.1.${unknownHold()}.0.refused.half`), 'half')
  const both = await Promise.all([start(), start()])
  assert.deepEqual(both.map((one) => one.health().refused.waiting).toSorted(), [0, 1])
  assert.equal((await refusedNames()).length, 1)
  await reopen()
  turned.ms += 600_000
  await until(async () => (await customer.balance()) === '970 0 0')
  assert.equal((await writer.request(id))?.state, 'settled')
})

test('a damaged file is listed, and nobody but an operator removes it', async () => {
  const ledger = await start()
  const customer = await createCustomer(ledger)
  const damaged = await refusedSettle(customer)
  const [name = ''] = await refusedNames()
  const text = await readFile(join(directory, name), 'utf8')
  await writeFile(join(directory, name), text.replace('complete', 'cxmplete'))
  await refusedSettle(customer)
  await reopen()
  turned.ms += 600_000
  // The round that charges the other one has read this one too.
  await until(async () => (await customer.balance()) === '870 100 0')
  assert.deepEqual(await settlesOf(ledger), [{ hold: damaged, known: undefined }])
  await ledger.removeRefused(damaged)
  assert.deepEqual(await settlesOf(ledger), [])
})

test('on a full disk its reply waits and nobody is admitted, until there is room', async (t) => {
  const disk = mountSmallDisk(t, directory)
  if (disk === undefined) return
  const ledger = await start()
  const customer = await createCustomer(ledger)
  await disk.fill()
  const settled = customer.settle(unknownHold())
  const reply = { hasEnded: false }
  void settled.then(() => {
    reply.hasEnded = true
  })
  await until(() => !ledger.health().isSpoolWritable)
  await assert.rejects(customer.hold(), { code: 'ledger_unavailable' })
  assert.equal(reply.hasEnded, false)
  assert.equal(ledger.health().refused.waiting, 1)
  assert.deepEqual(await refusedNames(), [])
  await disk.free()
  assert.deepEqual(await settled, { isSpooled: true })
  assert.equal((await refusedNames()).length, 1)
  await customer.hold()
})

test('a settle stays in the spool until it is kept among the refused', async (t) => {
  const disk = mountSmallDisk(t, directory)
  if (disk === undefined) return
  const customer = await createCustomer(await start())
  const spooled = line(textOf(customer.settleAsk(unknownHold())))
  await writeFile(join(directory, '1.999999999.1.spool'), spooled)
  await disk.fill()
  const heir = await start()
  await until(() => heir.health().refused.total === 1)
  const spools = () => filesWith('.1.spool')
  assert.equal((await spools()).length, 1, 'the disk has not taken it elsewhere')
  assert.deepEqual(await refusedNames(), [])
  await disk.free()
  await until(async () => (await refusedNames()).length === 1)
  await until(async () => (await spools()).length === 0)
})

test('a place where no process has its spool is not taken for one without refusals', async () => {
  const ledger = await start()
  assert.deepEqual(await ledger.refused(), { directory, settles: [] })
  await ledger.end()
  ledgers = []
  const unseen = 'no process has its spool there'
  assert.deepEqual(await ledger.refused(), { directory, unseen })
  await rm(directory, { recursive: true })
  const gone = await ledger.refused()
  assert.match('unseen' in gone ? gone.unseen : '', /^ENOENT/)
})

async function settlesOf(ledger: TestLedger): Promise<readonly RefusedSettle[]> {
  const listed = await ledger.refused()
  assert.ok('settles' in listed)
  return listed.settles
}

/** A settle that the database refuses until `reopen`. */
async function refusedSettle(customer: Customer): Promise<HoldId> {
  const id = await customer.hold()
  await database.db.query('update holds set book_id = -book_id where id = $1', [id])
  assert.deepEqual(await customer.settle(id), { isSpooled: true })
  return id
}

async function reopen(): Promise<void> {
  await database.db.query('update holds set book_id = -book_id where book_id < 0')
}

async function filesWith(ending: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.endsWith(ending))
}

function refusedNames(): Promise<string[]> {
  return filesWith('.refused')
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await isSo()) return
    await wait(10)
  }
  assert.fail('nothing happened in five seconds')
}
