// The spool: what it acknowledged is read again, whatever happened to the process, the file or the
// disk in between; and a ledger whose spool cannot be written admits nothing.
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
import { createCustomer } from '../../../test/support/customer.ts'
import { createTestDatabase, createTestLedger } from '../../../test/support/harness.ts'
import { mountSmallDisk, unmountSmallDisk } from '../../../test/support/small-disk.ts'
import { createLog } from '../../platform/log.ts'
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

  test('is adopted when its process is gone, with every line in order', async () => {
    const spool = await spoolOf('a')
    await Promise.all(['one', 'two', 'three'].map((text) => spool.append(text)))
    assert.equal(spool.size(), 3)
    await die('a')
    assert.deepEqual(await adoptedBy('b'), ['one', 'two', 'three'])
  })

  test('is left alone while its process lives', async () => {
    await (await spoolOf('a')).append('one')
    assert.deepEqual(await adoptedBy('b'), [])
    assert.deepEqual(await files('a'), ['one'])
  })

  test('passes over a torn last line', async () => {
    await (await spoolOf('a')).append('one')
    await appendFile(await fileOf('a'), '1234abcd the disk lost pow')
    await die('a')
    assert.deepEqual(await adoptedBy('b'), ['one'])
  })

  test('keeps what it writes behind a torn line', async () => {
    const spool = await spoolOf('a')
    await spool.append('one')
    // A disk that was full took half of a line and then had room again.
    await appendFile(await fileOf('a'), '1234abcd half of a li')
    await spool.append('two')
    await die('a')
    assert.deepEqual(await adoptedBy('b'), ['one', 'two'])
  })

  test('passes over a line whose bytes have changed', async () => {
    const spool = await spoolOf('a')
    await spool.append('one')
    await spool.append('two')
    const text = await readFile(await fileOf('a'), 'utf8')
    await writeFile(await fileOf('a'), text.replace('one', 'own'))
    await die('a')
    assert.deepEqual(await adoptedBy('b'), ['two'])
  })

  test('is adopted by one of two claimants', async () => {
    for (const owner of ['a', 'b', 'c']) {
      await (await spoolOf(owner)).append(owner)
      await die(owner)
    }
    const [x, y] = [await spoolOf('x'), await spoolOf('y')]
    const claimed = (await Promise.all([x.adopt(), y.adopt()])).flat()
    assert.deepEqual(claimed.map((ticket) => ticket.text).sort(), ['a', 'b', 'c'])
  })

  test('is adopted again when the one who adopted it dies', async () => {
    await (await spoolOf('a')).append('one')
    await die('a')
    assert.deepEqual(await adoptedBy('b'), ['one'])
    await die('b')
    assert.deepEqual(await adoptedBy('c'), ['one'])
  })

  test('that was claimed from a living process is written anew, the newest line too', async () => {
    const spool = await spoolOf('a')
    await spool.append('one')
    const done = await spool.append('done')
    await spool.done(done)
    // Two containers on one volume do not see each other's processes.
    await die('a')
    assert.deepEqual(await adoptedBy('b'), ['one', 'done'])
    await spool.append('two')
    await die('a')
    assert.deepEqual(await adoptedBy('c'), ['one', 'two'])
  })

  test('is emptied when everything in it is done, and removed at the end', async () => {
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
    assert.equal((await readdir(directory)).length, 1)

    await die('a')
    const heir = await spoolOf('b')
    for (const ticket of await heir.adopt()) await heir.done(ticket)
    assert.deepEqual(await readdir(directory), [])
  })

  test('on a full disk refuses, and goes on when there is room', async (t) => {
    const disk = mountSmallDisk(t, directory)
    if (disk === undefined) return
    const spool = await spoolOf('a')
    await spool.append('one')
    await disk.fill()
    // Longer than what is left of the file's last block.
    await assert.rejects(spool.append('x'.repeat(5_000)), { code: 'ENOSPC' })
    assert.equal(spool.isWritable(), false)
    assert.equal(await spool.probe(), false)
    await disk.free()
    assert.equal(await spool.probe(), true)
    await spool.append('two')
    await die('a')
    assert.deepEqual(await adoptedBy('b'), ['one', 'two'])
  })

  async function adoptedBy(owner: string): Promise<string[]> {
    return (await (await spoolOf(owner)).adopt()).map((ticket) => ticket.text)
  }
})

describe('a ledger', () => {
  test('whose spool cannot be written admits nothing until it can', async (t) => {
    const database = await createTestDatabase()
    t.after(() => database.drop())
    const inTheWay = join(directory, 'volume')
    await writeFile(inTheWay, 'a file where the directory should be')
    const ledger = await createTestLedger(database.url, {
      spoolDirectory: join(inTheWay, 'spool'),
      log,
    })
    t.after(() => ledger.end())
    const customer = await createCustomer(ledger)
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
    const customer = await createCustomer(first)
    const id = await customer.hold()
    await database.db.transaction(async (tx) => {
      await tx.query('select from books where id = $1 for update', [customer.book])
      assert.deepEqual(await customer.settle(id), { isSpooled: true })
      assert.equal(first.health().spooled, 1)
      // As if the process had died here: another one finds its file.
      const [own = ''] = await readdir(directory)
      await copyFile(join(directory, own), join(directory, 'x.999999999.1.spool'))
    })
    await until(() => first.health().spooled === 0)
    const second = await createTestLedger(database.url, { spoolDirectory, log })
    t.after(() => second.end())
    await until(() => second.health().spooled === 0)
    assert.equal(await customer.balance(), '970 0 0')
    assert.deepEqual(await second.audit('all'), [])
  })
})

async function namesOf(owner: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith(`${owner}.`))
}

async function fileOf(owner: string): Promise<string> {
  return join(directory, (await namesOf(owner))[0] ?? '')
}

/** Renames a process's files as if another process, now gone, had written them. */
async function die(owner: string): Promise<void> {
  for (const [i, name] of (await namesOf(owner)).entries()) {
    await rename(join(directory, name), join(directory, `${owner}.999999999.1.${i}.spool`))
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
