// Tests of a repair after a restore to an earlier moment. A copy of the database, made while no
// ledger runs, is the restored one: what happens afterwards to the original is in the logs only.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  createTestDatabase,
  createTestLedger,
  type TestDatabase,
  type TestLedger,
} from '../../../test/support/harness.ts'
import { createLedgerCustomer, type LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { urlAs } from '../../../tools/program-roles.ts'
import { systemClock } from '../../platform/clock.ts'
import { credits } from '../../units/credits.ts'
import { settleText } from '../settle-text.ts'
import { line } from '../spool/files.ts'

const since = new Date(Date.now() - 3_600_000)
let directory: string
let original: TestDatabase
let ledger: TestLedger
let customer: LedgerCustomer

const logging = () => ({ spoolDirectory: directory, clock: systemClock })

beforeEach(async () => {
  original = await createTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'tollgate-charges-'))
  ledger = await createTestLedger(original.url, logging())
  customer = await createLedgerCustomer(ledger)
})
afterEach(async () => {
  await original.drop()
  await rm(directory, { recursive: true, force: true })
})

/** Runs `work` on the original, and returns a ledger of operators on the database as before it. */
async function restored(work: () => Promise<unknown>, changes: { chargeLogDays?: number } = {}) {
  await ledger.end()
  const copy = await createTestDatabase(undefined, original.name)
  ledger = await createTestLedger(original.url, { ...logging(), ...changes })
  await work()
  await ledger.end()
  const url = urlAs(copy.url, 'tollgate_operator')
  const operator = await createTestLedger(url, { spoolDirectory: directory }, { isStarted: false })
  return {
    ...operator,
    copy,
    scope: { directories: [directory], since },
    async end() {
      assert.deepEqual(await operator.audit('all'), [], 'the audit finds nothing in the end')
      await operator.end()
      await copy.drop()
    },
  }
}

/** A request as the gateway makes one: its settle names the tariff and the caller. */
async function request(priced: number, one = customer, atMs = Date.now()): Promise<void> {
  const input = one.holdInput(100, atMs)
  await ledger.hold(input)
  const { fence, tariff } = input
  const settle = one.settleInput(input.id, priced)
  await ledger.settle({ ...settle, tariff, caller: { key: 'key_1', fence } })
}

const empty = {
  ...{ charges: [], withoutBook: [], fences: [], catalogues: [], unreadLogs: [] },
  ...{ damaged: 0, old: 0 },
}

describe('after a restore to an earlier moment', () => {
  test('charges that the database lost are listed by account, and taken once', async () => {
    const other = await createLedgerCustomer(ledger)
    await request(5)
    const open = await customer.hold()
    const at = await restored(async () => {
      await request(30)
      await request(20)
      await request(7, other)
      await ledger.settle({ ...customer.settleInput(open, 9), tariff: customer.tariff })
    })
    const { read, ...missing } = await at.restore.check(at.scope)
    assert.equal(read, 5)
    const ofBook = (book: bigint) => missing.charges.find((one) => one.book === book)
    assert.deepEqual(ofBook(customer.book), {
      ...{ book: customer.book, charges: 3, credits: credits(59) },
    })
    assert.deepEqual(ofBook(other.book), { book: other.book, charges: 1, credits: credits(7) })
    assert.deepEqual(await at.restore.repair(at.scope), { charged: 4, unsent: 0 })
    const again = await at.restore.check(at.scope)
    assert.deepEqual({ ...again, read: 5 }, { ...empty, read: 5 })
    assert.deepEqual(await at.restore.repair(at.scope), { charged: 0, unsent: 0 })
    const balance = await at.balance(customer.book)
    assert.deepEqual([balance?.available, balance?.held], [credits(1_000 - 5 - 59), 0n])
    await at.end()
  })

  test('without a charge log nothing can list what is lost', async () => {
    const at = await restored(() => request(30), { chargeLogDays: 0 })
    assert.deepEqual(await at.restore.check(at.scope), { ...empty, read: 0 })
    const balance = await at.balance(customer.book)
    assert.equal(balance?.available, credits(1_000), 'the charge is gone')
    await at.end()
  })

  test('a charge takes at most what is left, and the rest is written off', async () => {
    const at = await restored(async () => {
      const second = { book: customer.book, kind: 'purchase', ref: 'second' } as const
      const amount = { amount: credits(5_000), contra: 'clearing', note: '' } as const
      await ledger.db.transaction((tx) => ledger.credit(tx, { ...second, ...amount }))
      for (let i = 0; i < 20; i++) await request(90)
    })
    assert.deepEqual(await at.restore.repair(at.scope), { charged: 20, unsent: 0 })
    const balance = await at.balance(customer.book)
    assert.deepEqual([balance?.available, balance?.debt], [0n, 0n])
    await at.end()
  })

  test('charges in a spool and in quarantine are taken too', async () => {
    const spooled = customer.holdInput()
    const refused = customer.holdInput()
    const text = (id: typeof spooled.id) =>
      settleText({ ...customer.settleInput(id, 11), tariff: customer.tariff })
    const at = await restored(async () => undefined)
    await writeFile(join(directory, '77.spool'), line(text(spooled.id)))
    await at.copy.db.query(
      `insert into quarantine (hold_id, settle, book_id, priced, reason, refused_at, tried_at)
       values ($1, $2, $3, 11000000, 'answered hold_unknown', ledger_now(), ledger_now())`,
      [refused.id, text(refused.id), customer.book],
    )
    const { charges } = await at.restore.check(at.scope)
    assert.deepEqual(charges, [{ book: customer.book, charges: 2, credits: credits(22) }])
    assert.deepEqual(await at.restore.repair(at.scope), { charged: 2, unsent: 0 })
    assert.deepEqual((await at.restore.check(at.scope)).charges, [])
    assert.deepEqual(await at.quarantine.count(), { settles: 0, oldestSeconds: 0 })
    assert.ok(!(await readdir(directory)).includes('77.spool'))
    await at.end()
  })

  test('a charge that an operator wrote off since then is not taken', async () => {
    const rowsOf = async (at: Pick<TestLedger, 'quarantine'>) =>
      at.quarantine.list({ limit: 10, hold: null })
    /** Without its hold, it goes to quarantine; it is in the spool a moment before. */
    const settleRefused = async (count: number) => {
      const { id, tariff } = customer.holdInput()
      await ledger.settle({ ...customer.settleInput(id, 30), tariff })
      while ((await rowsOf(ledger)).length < count) await setImmediate()
    }
    await settleRefused(1)
    const at = await restored(async () => {
      await settleRefused(2)
      for (const row of await rowsOf(ledger)) await ledger.quarantine.writeOff(row)
      await request(7)
    })
    const { charges } = await at.restore.check(at.scope)
    assert.deepEqual(charges, [{ book: customer.book, charges: 1, credits: credits(7) }])
    assert.equal((await rowsOf(at)).length, 1, 'one waits in quarantine again')
    assert.deepEqual(await at.restore.repair(at.scope), { charged: 1, unsent: 0 })
    assert.deepEqual(await rowsOf(at), [])
    assert.equal((await at.balance(customer.book))?.available, credits(1_000 - 7))
    await at.end()
  })

  test('a replaced key is fenced, and the number of a lost book is not given again', async () => {
    let lost: LedgerCustomer | undefined
    const at = await restored(async () => {
      await ledger.db.transaction((tx) => ledger.raiseFence(tx, customer.book))
      lost = await createLedgerCustomer(ledger)
      await request(10, lost)
    })
    const missing = await at.restore.check(at.scope)
    assert.deepEqual(missing.fences, [{ book: customer.book, fence: 1n }])
    assert.deepEqual(missing.withoutBook, [{ book: lost?.book, charges: 1, credits: credits(10) }])
    assert.deepEqual(await at.restore.repair(at.scope), { charged: 0, unsent: 0 })
    await at.db.transaction((tx) => at.restore.raiseFence(tx, customer.book, 1n))
    assert.deepEqual((await at.restore.check(at.scope)).fences, [])
    const { rows } = await at.copy.db.query('select ledger_open() as book')
    assert.ok((rows[0] as { book: bigint }).book > (lost?.book ?? 0n))
    await at.end()
  })

  test('a charge keeps its price list, though its number belongs to another one', async () => {
    const price = { input: 1n, coefficient: 2n, cacheRead: 0n, cacheWrite5m: 0n, cacheWrite1h: 0n }
    const at = await restored(async () => {
      const tariff = await ledger.tariff({
        ...{ catalogueVersion: 2, model: 'later', price: price as never },
      })
      const input = customer.holdInput(100)
      await ledger.hold({ ...input, tariff })
      const settle = customer.settleInput(input.id, 30)
      const priced = { ...settle, priced: 31n as never, parts: null }
      await ledger.settle({ ...priced, tariff })
    })
    await at.copy.db.query(
      `insert into tariffs (catalogue_version, model, coefficient, cache_read, cache_write_5m,
         cache_write_1h) values (1, 'thief of the number', 1, 0, 0, 0)`,
    )
    assert.deepEqual((await at.restore.check(at.scope)).catalogues, [2])
    assert.deepEqual(await at.restore.repair(at.scope), { charged: 1, unsent: 0 })
    const { rows } = await at.copy.db.query(
      `select t.model from entries e join tariffs t on t.id = e.tariff where e.kind = 'charge'
       and e.book_id = $1`,
      [customer.book],
    )
    assert.deepEqual(rows, [{ model: 'later' }])
    await at.end()
  })

  test('who got the number of a lost account pays nothing of it, and keeps the key', async () => {
    const earlierMs = Date.now() - 600_000
    const at = await restored(async () => {
      const lost = await createLedgerCustomer(ledger)
      await ledger.db.query(`update books set created_at = now() - interval '1 hour'`)
      await request(40, lost, earlierMs)
      await ledger.db.transaction((tx) => ledger.raiseFence(tx, lost.book))
    })
    // A gateway's directory was not given, programs start, and somebody registers.
    await at.restore.repair({ ...at.scope, directories: [] })
    const own = await createTestLedger(at.copy.url)
    const next = await createLedgerCustomer(own)
    await at.copy.db.query(
      `update books set created_at = now() + interval '1 hour' where id = $1`,
      [next.book],
    )
    const { charges, withoutBook, fences } = await at.restore.check(at.scope)
    assert.deepEqual(withoutBook, [{ book: next.book, charges: 1, credits: credits(40) }])
    assert.deepEqual([charges, fences], [[], []])
    assert.deepEqual(await at.restore.repair(at.scope), { charged: 0, unsent: 0 })
    assert.equal(await next.balance(), '1000 0 0')
    await own.end()
    await at.end()
  })

  test('a gateway whose log is not given is named', async () => {
    await ledger.end()
    ledger = await createTestLedger(original.url, { ...logging(), role: 'gateway' })
    await request(5)
    const at = await restored(async () => undefined)
    await at.copy.db.query(
      `insert into instances (id, role, host, spool_directory, started_at, beat_at)
       values (7, 'gateway', 'gate-2', '/spool', ledger_now(), ledger_now()),
         (8, 'gateway', 'gate-3', '/spool', ledger_now(), ledger_now() - interval '1 day')`,
    )
    const { unreadLogs } = await at.restore.check(at.scope)
    assert.deepEqual(unreadLogs, [{ host: 'gate-2', directory: '/spool' }])
    await at.end()
  })

  test('a settle that was refused because its hold was given back is not taken', async () => {
    const at = await restored(async () => {
      const input = customer.holdInput()
      const { id } = input
      await ledger.hold(input)
      await ledger.void({
        ...{ id, book: customer.book, tariff: customer.tariff },
        ...{ ending: 'refused', reason: 'a test' },
      })
      await ledger.settle({ ...customer.settleInput(id), tariff: customer.tariff })
      while ((await ledger.quarantine.count()).settles === 0);
    })
    assert.deepEqual((await at.restore.check(at.scope)).charges, [])
    assert.deepEqual(await at.restore.repair(at.scope), { charged: 0, unsent: 0 })
    await at.end()
  })
})
