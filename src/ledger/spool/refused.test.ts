// Refused settles: a settle that the database does not take is kept on disk, also when its process
// is killed, until the database takes it. Then it is charged exactly once.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createCustomer } from '../../../test/support/customer.ts'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger } from '../../../test/support/harness.ts'
import { systemClock } from '../../platform/clock.ts'
import type { HoldId } from '../../platform/ids.ts'
import { createLog } from '../../platform/log.ts'
import type { SettleAsk } from '../calls.ts'
import type { LedgerOptions } from '../ledger.ts'
import { line } from './files.ts'
import { textOf } from './settle-text.ts'

const log = createLog({ level: 'silent' })
let database: TestDatabase
let directory: string
let ledgers: TestLedger[]
let turned: { ms: number }

beforeEach(async () => {
  turned = { ms: 0 }
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
    clock: { ...systemClock, spanMs: () => systemClock.spanMs() + turned.ms },
    log,
    ...changes,
  })
  ledgers.push(ledger)
  return ledger
}

/** How the database comes to refuse a settle, and how it is mended. */
type Trouble = { readonly cause: string; readonly mend: string }

const raised = (code: string): Trouble => ({
  cause: `create function refuse_entries() returns trigger language plpgsql as $$
      begin raise exception 'a test' using errcode = '${code}'; end $$;
    create trigger refuse_entries before insert on entries for each row
      execute function refuse_entries()`,
  mend: 'drop trigger refuse_entries on entries; drop function refuse_entries',
})

const troubles: Readonly<Record<string, Trouble>> = {
  '42883, its function is missing': {
    cause: 'alter function ledger_settle rename to ledger_settle_gone',
    mend: 'alter function ledger_settle_gone rename to ledger_settle',
  },
  '26000, its prepared statement is gone': raised('26000'),
  '58030, a disk failed': raised('58030'),
  'XX000, an internal error': raised('XX000'),
  'mismatch, the hold is of another book': {
    cause: 'update holds set book_id = book_id + 1',
    mend: 'update holds set book_id = book_id - 1',
  },
  'hold_unknown, the hold is gone': {
    cause: 'create table kept as select * from holds; delete from holds',
    mend: 'insert into holds select * from kept; drop table kept',
  },
  'voided, the hold was given back': {
    cause: `update holds set state = 'voided', ending = 'refused', closed_at = now()`,
    mend: `update holds set state = 'open', ending = null, closed_at = null`,
  },
}

describe('a settle that the database refuses', () => {
  for (const [name, trouble] of Object.entries(troubles)) {
    test(`(${name}) ends its reply, and is charged once after the repair`, async () => {
      const ledger = await start()
      const customer = await createCustomer(ledger)
      const id = await customer.hold()
      await database.db.query(trouble.cause)
      assert.deepEqual(await customer.settle(id), { isSpooled: true })
      assert.equal(await customer.balance(), '900 100 0')
      await database.db.query(trouble.mend)
      turned.ms += 600_000
      await until(async () => (await customer.balance()) === '970 0 0')
      await checkChargedOnce(id)
    })

    test(`(${name}) outlives a killed process, and is charged once by the next`, async () => {
      const ledger = await start()
      const customer = await createCustomer(ledger)
      const id = await customer.hold()
      await database.db.query(trouble.cause)
      await settleAndDie(customer.settleAsk(id))
      await database.db.query(trouble.mend)
      await start()
      await until(async () => (await customer.balance()) === '970 0 0')
      await checkChargedOnce(id)
    })
  }

  test('out of the spool of a dead process stays on disk until it is charged', async () => {
    const ledger = await start()
    const customer = await createCustomer(ledger)
    const id = await customer.hold()
    const trouble = troubles['hold_unknown, the hold is gone'] as Trouble
    await database.db.query(trouble.cause)
    await writeSpool('1.999999999.1.spool', customer.settleAsk(id))
    await start()
    await until(async () => (await endingsOf(directory)).includes('refused'))
    await until(async () => !(await readdir(directory)).some((name) => /\.1\.spool$/.test(name)))
    assert.equal(await customer.balance(), '900 100 0')
    await database.db.query(trouble.mend)
    turned.ms += 600_000
    await until(async () => (await customer.balance()) === '970 0 0')
    await checkChargedOnce(id)
  })
})

async function endingsOf(path: string): Promise<string[]> {
  return (await readdir(path)).map((name) => name.split('.').at(-1) ?? '')
}

/** Writes a settle as the spool of a process that is gone. */
async function writeSpool(name: string, ask: SettleAsk): Promise<void> {
  await writeFile(join(directory, name), line(textOf(ask)))
}

/** Another process settles, hears that its reply may end, and is killed at once. */
async function settleAndDie(ask: SettleAsk): Promise<void> {
  const task = { url: database.url, directory, ask }
  const json = JSON.stringify(task, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
  const harness = join(import.meta.dirname, '../../../test/support/harness.ts')
  const program = `
    import { createTestLedger } from '${harness}'
    const { url, directory, ask } = JSON.parse(process.argv[1], (_, value) =>
      /^[0-9]+n$/.test(value) ? BigInt(value.slice(0, -1)) : value)
    const ledger = await createTestLedger(url, {
      spoolDirectory: directory, spoolAfterMs: 0,
      log: { fatal() {}, error() {}, warn() {}, info() {} },
    })
    const settled = await ledger.settle(ask)
    console.log(JSON.stringify(settled))
    process.kill(process.pid, 'SIGKILL')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, json], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: Buffer[] = []
  const complained: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => complained.push(chunk))
  await once(child, 'close')
  assert.equal(
    Buffer.concat(said).toString().trim(),
    '{"isSpooled":true}',
    Buffer.concat(complained).toString(),
  )
}

/** One charge of 30, an audit without findings, and nothing left on disk. */
async function checkChargedOnce(id: HoldId): Promise<void> {
  const { rows } = await database.db.query(
    `select amount from entries where hold_id = $1 and kind = 'charge'`,
    [id],
  )
  assert.deepEqual(rows, [{ amount: -30_000_000n }])
  assert.deepEqual(await ledgers[0]?.audit('all'), [])
  await Promise.all(ledgers.splice(0).map((one) => one.end()))
  await until(async () => (await readdir(directory)).length === 0)
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await isSo()) return
    await wait(10)
  }
  assert.fail('nothing happened in five seconds')
}
