// Tests of the spool: every acknowledged record is read again after failures of the process, the
// file or the disk; and a ledger whose spool is not writable accepts no holds.
import assert from 'node:assert/strict'
import {
  appendFile,
  copyFile,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createTestDatabase, createTestLedger } from '../../../test/support/harness.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { mountSmallDisk, unmountSmallDisk } from '../../../test/support/small-disk.ts'
import { createLog } from '../../platform/log.ts'
import { credits } from '../../units/credits.ts'
import { ONE } from '../../units/price.ts'
import { settleText } from '../settle-text.ts'
import { line } from './files.ts'
import type { Spool } from './spool.ts'
import { createSpool } from './spool.ts'

const log = createLog({ level: 'silent' })
let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollgate-spool-'))
})
afterEach(async () => {
  unmountSmallDisk(directory)
  await rm(directory, { recursive: true, force: true })
})

describe('a spool', () => {
  const spools: Spool[] = []
  const spoolOf = async (owner: string) => {
    const spool = await createSpool({ directory, owner, log })
    spools.push(spool)
    return spool
  }
  afterEach(() => Promise.all(spools.splice(0).map((spool) => spool.close())))

  test('is claimed when its process is dead, with every line in order', async () => {
    const spool = await spoolOf('a')
    await Promise.all(['one', 'two', 'three'].map((text) => spool.append(text)))
    assert.equal(spool.size(), 3)
    await markDead('a')
    assert.deepEqual(await claimedBy('b'), ['one', 'two', 'three'])
  })

  test('of an older version is claimed when its process number is free', async () => {
    await writeFile(join(directory, '7.999999999.1.spool'), line('one'))
    await writeFile(join(directory, `8.${process.pid}.${await startedAt()}.spool`), line('two'))
    assert.deepEqual(await claimedBy('b'), ['one'])
  })

  test('is not claimed while its process lives', async () => {
    await (await spoolOf('a')).append('one')
    assert.deepEqual(await claimedBy('b'), [])
    assert.deepEqual(await files('a'), ['one'])
  })

  test('skips a partly written last line', async () => {
    await (await spoolOf('a')).append('one')
    await appendFile(await fileOf('a'), '1234abcd the disk lost pow')
    await markDead('a')
    assert.deepEqual(await claimedBy('b'), ['one'])
  })

  test('keeps records after a partly written line', async () => {
    const spool = await spoolOf('a')
    await spool.append('one')
    // A full disk stored half of a line; afterwards it had room again.
    await appendFile(await fileOf('a'), '1234abcd half of a li')
    await spool.append('two')
    await markDead('a')
    assert.deepEqual(await claimedBy('b'), ['one', 'two'])
  })

  test('keeps a line whose bytes have changed, in a file that stays', async () => {
    const spool = await spoolOf('a')
    await spool.append('one')
    await spool.append('two')
    const text = await readFile(await fileOf('a'), 'utf8')
    await writeFile(await fileOf('a'), text.replace('one', 'own'))
    await markDead('a')
    assert.deepEqual(await claimedBy('b'), ['two'])
    assert.deepEqual(await files('keptb'), ['own'])
  })

  test('is claimed by one of two processes', async () => {
    for (const owner of ['a', 'b', 'c']) {
      await (await spoolOf(owner)).append(owner)
      await markDead(owner)
    }
    const [x, y] = [await spoolOf('x'), await spoolOf('y')]
    const claimed = (await Promise.all([x.claimOrphans(), y.claimOrphans()])).flatMap(
      (one) => one.tickets,
    )
    assert.deepEqual(claimed.map((ticket) => ticket.text).sort(), ['a', 'b', 'c'])
  })

  test('is claimed again when the process that claimed it dies', async () => {
    await (await spoolOf('a')).append('one')
    await markDead('a')
    assert.deepEqual(await claimedBy('b'), ['one'])
    await markDead('b')
    assert.deepEqual(await claimedBy('c'), ['one'])
  })

  test('is written again, with its newest line, when a living process lost it', async () => {
    const spool = await spoolOf('a')
    await spool.append('one')
    const done = await spool.append('done')
    await spool.done(done)
    // Two containers on one volume do not see each other's processes.
    await markDead('a')
    assert.deepEqual(await claimedBy('b'), ['one', 'done'])
    await spool.append('two')
    await markDead('a')
    assert.deepEqual(await claimedBy('c'), ['one', 'two'])
  })

  test('is emptied when all its records are done, and removed at close', async () => {
    const spool = await spoolOf('a')
    const tickets = [await spool.append('one'), await spool.append('two')]
    for (const ticket of tickets) {
      assert.deepEqual(await files('a'), ['one', 'two'])
      await spool.done(ticket)
    }
    assert.deepEqual(await files('a'), [])
    assert.equal(spool.size(), 0)
    await spool.append('three')
    assert.deepEqual(await files('a'), ['three'])
    await spool.close()
    assert.deepEqual(await readdir(directory), ['a.spool'])

    const successor = await spoolOf('b')
    for (const ticket of (await successor.claimOrphans()).tickets) await successor.done(ticket)
    assert.deepEqual(await readdir(directory), ['b.lock'])
    await successor.close()
    assert.deepEqual(await readdir(directory), [])
  })

  test('rejects records on a full disk, and continues when there is room', async (t) => {
    const disk = mountSmallDisk(t, directory)
    if (disk === undefined) return
    const spool = await spoolOf('a')
    await spool.append('one')
    await disk.fill()
    // Longer than the free part of the file's last block.
    await assert.rejects(spool.append('x'.repeat(5_000)), { code: 'ENOSPC' })
    assert.equal(spool.isWritable(), false)
    assert.equal(await spool.probe(), false)
    await disk.free()
    assert.equal(await spool.probe(), true)
    await spool.append('two')
    await markDead('a')
    assert.deepEqual(await claimedBy('b'), ['one', 'two'])
    assert.deepEqual(await files('keptb'), [], 'nothing of the rejected record is left')
  })

  async function claimedBy(owner: string): Promise<string[]> {
    return (await (await spoolOf(owner)).claimOrphans()).tickets.map((ticket) => ticket.text)
  }
})

describe('a ledger', () => {
  test('refuses holds until its spool is writable', async (t) => {
    const database = await createTestDatabase()
    t.after(() => database.drop())
    const inTheWay = join(directory, 'volume')
    await writeFile(inTheWay, 'a file where the directory should be')
    const ledger = await createTestLedger(database.url, {
      spoolDirectory: join(inTheWay, 'spool'),
      log,
    })
    t.after(() => ledger.end())
    const customer = await createLedgerCustomer(ledger)
    await assert.rejects(customer.hold(), { code: 'ledger_unavailable' })
    await rm(inTheWay)
    await until(() => ledger.health().isSpoolWritable)
    await customer.hold()
  })

  test('spools a settle that cannot commit, and charges it once when it can', async (t) => {
    const database = await createTestDatabase()
    t.after(() => database.drop())
    const spoolDirectory = directory
    const first = await createTestLedger(database.url, { spoolDirectory, spoolAfterMs: 0, log })
    t.after(() => first.end())
    const customer = await createLedgerCustomer(first)
    const id = await customer.hold()
    await database.db.transaction(async (tx) => {
      await tx.query('select from books where id = $1 for update', [customer.book])
      assert.deepEqual(await customer.settle(id), { isSpooled: true })
      assert.equal(first.health().spooled, 1)
      // As if the process had died here: another one finds its file.
      const own = `${first.instance}.spool`
      await copyFile(join(directory, own), join(directory, 'x.999999999.1.spool'))
    })
    await until(() => first.health().spooled === 0)
    const second = await createTestLedger(database.url, { spoolDirectory, log })
    t.after(() => second.end())
    await until(() => second.health().spooled === 0)
    assert.equal(await customer.balance(), '970 0 0')
    assert.deepEqual(await second.audit('all'), [])
  })

  test('charges lines of the version before, and lines with parts and details', async (t) => {
    const database = await createTestDatabase()
    t.after(() => database.drop())
    const ledger = await createTestLedger(database.url, { log })
    t.after(() => ledger.end())
    const customer = await createLedgerCustomer(ledger)
    const [old, fresh] = [await customer.hold(), await customer.hold()]
    const tariff = await ledger.tariff({
      ...{ catalogueVersion: 1, model: 'model', list: 'speed=fast' },
      price: { input: ONE, coefficient: ONE, cacheRead: ONE, cacheWrite5m: ONE, cacheWrite1h: ONE },
    })
    const uses = [{ feature: 'web_search', count: 2, each: credits(5) }]
    const details = { stopReason: 'end_turn', status: 200 }
    const settle = { ...customer.settleInput(fresh), priced: credits(40), tariff, details }
    const counts = '["29","1","0","0","0"]'
    const lines = [
      `["${old}","${customer.book}",${counts},"30000000","complete",false,"msg_${old}"]`,
      settleText({ ...settle, parts: { uses } }),
    ]
    await writeFile(join(directory, 'x.999999999.1.spool'), lines.map(line).join(''))
    for (const _ of ['once', 'and again']) {
      await ledger.replayDirectory(directory)
      assert.equal(await customer.balance(), '930 0 0')
    }
    const [second, first] = await ledger.statement({
      ...{ book: customer.book, beforeSeq: null, limit: 2 },
    })
    assert.deepEqual([first?.list, first?.parts, first?.details], ['', null, {}])
    assert.deepEqual(
      [second?.list, second?.parts, second?.details],
      ['speed=fast', { uses }, details],
    )
    assert.deepEqual(await ledger.audit('all'), [])
  })
})

/** As versions before 0.2 named the start of a process. */
async function startedAt(): Promise<string> {
  const text = await readFile('/proc/self/stat', 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

async function namesOf(owner: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) =>
    new RegExp(`^${owner}\\b.*\\.spool$`).test(name),
  )
}

async function fileOf(owner: string): Promise<string> {
  return join(directory, (await namesOf(owner))[0] ?? '')
}

/** Renames a process's files as if another process, whose lock is free, had written them. */
async function markDead(owner: string): Promise<void> {
  for (const [i, name] of (await namesOf(owner)).entries()) {
    await rename(join(directory, name), join(directory, `dead${owner}-${owner}-${i}.spool`))
  }
}

/** The texts in a process's files. */
async function files(owner: string): Promise<string[]> {
  const all = await Promise.all(
    (await namesOf(owner)).map((name) => readFile(join(directory, name), 'utf8')),
  )
  return all
    .join('')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(9))
}

async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !isSo(); i++) await wait(10)
  assert.ok(isSo(), 'nothing happened in five seconds')
}
