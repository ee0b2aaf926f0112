// Tests of the batcher: which operations go in one call, which wait, and that an operation whose
// answer was lost is charged once. With real connections, through a proxy that drops answers.
import assert from 'node:assert/strict'
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, settingsOf } from '../../../test/support/harness.ts'
import type { LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { systemClock } from '../../platform/clock.ts'
import { openClient } from '../../platform/db/db.ts'
import type { Statement } from '../../platform/db/statement.ts'
import type { BookId } from '../../platform/ids.ts'
import { createLog } from '../../platform/log.ts'
import { credits } from '../../units/credits.ts'
import { holdVerb, settleVerb } from '../calls.ts'
import { ledgerSession } from '../ledger.ts'
import type { Batcher } from './batch.ts'
import { createBatcher } from './batch.ts'
import type { Connection } from './connection.ts'
import { createConnection } from './connection.ts'

/** Long enough that only a lost answer exceeds it, also on a slow machine. */
const DEADLINE_MS = 3_000
const log = createLog({ level: 'silent' })
const hold = holdVerb(1n, 3_900)
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof startProxy>>
let ledger: TestLedger
let alice: LedgerCustomer
let bob: LedgerCustomer
let batcher: Batcher
let sent: string[]

before(async () => {
  database = await createTestDatabase()
  proxy = await startProxy(database.url)
  ledger = await createTestLedger(database.url, { log, holdWaitMs: 300 })
})
after(async () => {
  await ledger.end()
  await proxy.stop()
  await database.drop()
})
beforeEach(async () => {
  sent = []
  alice = await createLedgerCustomer(ledger, 10_000)
  bob = await createLedgerCustomer(ledger, 10_000)
  batcher = createBatcher({
    connections: [recordingConnection(proxy.url)],
    laneConnections: [recordingConnection(proxy.url)],
    clock: systemClock,
    log,
  })
})
afterEach(async () => {
  await batcher.close()
  assert.deepEqual(await ledger.audit('all'), [])
})

test('sends a single operation as one row, and waiting ones in arrays of up to 256', async () => {
  await batcher.submit(hold, alice.holdInput(1)).result
  assert.deepEqual(sent, ['hold'])
  const results = await Promise.all(
    Array.from({ length: 300 }, () => batcher.submit(hold, alice.holdInput(1)).result),
  )
  assert.deepEqual(sent, ['hold', 'hold_many of 256', 'hold_many of 44'])
  assert.ok(results.every((result) => result.outcome === 'granted'))
  assert.equal(await alice.balance(), '9699 301 0')
})

test('sends only a full array behind a call in flight', async () => {
  await batcher.submit(hold, alice.holdInput(1)).result
  sent = []
  const inputs = Array.from({ length: 600 }, () => alice.holdInput(1))
  await Promise.all(inputs.map((input) => batcher.submit(hold, input).result))
  const full = 'hold_many of 256'
  assert.deepEqual(sent, [full, `${full}, behind another`, 'hold_many of 88'])
  assert.equal(await alice.balance(), '9399 601 0')
})

test('repeats all calls that were lost with their connection, and charges once', async () => {
  const inputs = Array.from({ length: 512 }, () => alice.holdInput(1))
  await Promise.all(inputs.map((input) => batcher.submit(hold, input).result))
  sent = []
  proxy.lose('cut')
  const settles = inputs.map(
    (input) => batcher.submit(settleVerb, alice.settleInput(input.id, 1)).result,
  )
  const results = await Promise.all(settles)
  assert.equal(proxy.lost(), 1)
  assert.ok(results.every((result) => result.outcome === 'settled'))
  assert.ok(sent.length >= 4, `${sent}`)
  assert.equal(await alice.balance(), '9488 0 0')
})

test('batches operations of a locked book in a lane, while other books continue', async () => {
  const releaseLock = await lock(alice.book)
  const four = Array.from({ length: 4 }, () => batcher.submit(hold, alice.holdInput(1)).result)
  await batcher.submit(hold, bob.holdInput(5)).result
  assert.equal(await bob.balance(), '9995 5 0')
  const later = batcher.submit(hold, alice.holdInput(1)).result
  await batcher.submit(hold, bob.holdInput(5)).result
  assert.equal(await bob.balance(), '9990 10 0')

  await releaseLock()
  const results = await Promise.all([...four, later])
  assert.ok(results.every((result) => result.outcome === 'granted'))
  assert.equal(await alice.balance(), '9995 5 0')
  assert.deepEqual(sent.slice(0, 3), ['hold_many of 5', 'hold_many of 4, waiting', 'hold'])
})

for (const [how, loseAnswer] of [
  ['is lost with its connection', 'cut'],
  ['never arrives', 'silence'],
] as const) {
  test(`repeats an operation by id whose answer ${how}, and charges it once`, async () => {
    const inputs = [alice.holdInput(), alice.holdInput(), bob.holdInput()]
    await Promise.all(inputs.map((input) => batcher.submit(hold, input).result))
    proxy.lose(loseAnswer)
    const results = await Promise.all(
      inputs.map((input) => {
        const customer = input.book === alice.book ? alice : bob
        return batcher.submit(settleVerb, customer.settleInput(input.id)).result
      }),
    )
    assert.equal(proxy.lost(), 1)
    assert.deepEqual(
      results.map((result) => `${result.outcome} ${result.amount / 1_000_000n}`),
      ['settled 30', 'settled 30', 'settled 30'],
    )
    assert.deepEqual(sent.slice(-2), ['settle_many of 3', 'settle_many of 3'])
    assert.equal(await alice.balance(), '9940 0 0')
    assert.equal(await bob.balance(), '9970 0 0')
  })
}

test('repeats an operation whose connection the server ends, and charges it once', async () => {
  const input = alice.holdInput()
  await batcher.submit(hold, input).result
  const releaseLock = await lock(alice.book)
  const settled = batcher.submit(settleVerb, alice.settleInput(input.id)).result
  await until(async () => {
    const { rows } = await database.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  })
  await releaseLock()
  assert.equal((await settled).outcome, 'settled')
  assert.equal(await alice.balance(), '9970 0 0')
})

test('keeps operations and reports isUnavailable while the database is unavailable', async () => {
  proxy.lose('everything')
  await proxy.cutAll()
  const result = batcher.submit(hold, alice.holdInput()).result
  await until(() => batcher.isUnavailable())
  assert.equal([...batcher.pending()].length, 1)
  proxy.lose('nothing')
  assert.equal((await result).outcome, 'granted')
  await batcher.idle()
  assert.equal(batcher.isUnavailable(), false)
  assert.deepEqual([...batcher.pending()], [])
})

test('rejects only the operation that the database refuses', async () => {
  const impossible = { ...alice.holdInput(1), floor: credits(2) }
  const inputs = [alice.holdInput(1), impossible, bob.holdInput(1)]
  const results = await Promise.allSettled(
    inputs.map((input) => batcher.submit(hold, input).result),
  )
  assert.deepEqual(
    results.map((one) => (one.status === 'fulfilled' ? one.value.outcome : one.reason.constraint)),
    ['granted', 'holds_grant_no_more_than_the_worst_case', 'granted'],
  )
  assert.equal(batcher.isUnavailable(), false)
})

test('stops only the book whose page is damaged', async () => {
  const [first, second, third] = [alice.holdInput(), bob.holdInput(), bob.holdInput()]
  await Promise.all([first, second, third].map((input) => batcher.submit(hold, input).result))
  await database.db.query(
    `create function meet_damage() returns trigger language plpgsql as $$
       begin raise exception 'invalid page' using errcode = 'XX001'; end $$;
     create trigger meet_damage before insert on entries for each row
       when (new.book_id = ${alice.book}) execute function meet_damage()`,
  )
  const stuck = batcher.submit(settleVerb, alice.settleInput(first.id)).result
  const beside = batcher.submit(settleVerb, bob.settleInput(second.id)).result
  assert.equal((await beside).outcome, 'settled')
  assert.equal(
    (await batcher.submit(settleVerb, bob.settleInput(third.id)).result).outcome,
    'settled',
  )
  assert.equal(await bob.balance(), '9940 0 0')
  assert.equal([...batcher.pending()].length, 1)
  await database.db.query('drop trigger meet_damage on entries; drop function meet_damage')
  assert.equal((await stuck).outcome, 'settled')
  assert.equal(await alice.balance(), '9970 0 0')
})

test('removes the lane of an operation that was given up, and reports no failure', async () => {
  const releaseLock = await lock(alice.book)
  const operation = batcher.submit(hold, alice.holdInput())
  await until(() => sent.some((name) => name.endsWith('waiting')))
  operation.isDropped = true
  // The lane's wait for the lock times out, and the operation is not sent again.
  await batcher.idle()
  assert.equal(batcher.isUnavailable(), false)
  await releaseLock()
  assert.equal(await alice.balance(), '10000 0 0')
})

test('refuses a hold that waits too long, and voids it in case it was stored', async () => {
  const releaseLock = await lock(alice.book)
  const input = alice.holdInput()
  await assert.rejects(ledger.hold(input), { code: 'ledger_unavailable' })
  await releaseLock()
  await until(async () => {
    const given = `select from holds where id = $1 and state = 'voided' and ending = 'refused'`
    return (await database.db.query(given, [input.id])).rows.length === 1
  })
  await assert.rejects(ledger.hold(input), { name: 'Fault' })
  assert.equal(await alice.balance(), '10000 0 0')
})

/**
 * A connection that records each call: statement, size, whether it waits for locks, and whether
 * another call was still in flight.
 */
function recordingConnection(url: string): Connection {
  const connection = createConnection({
    open: () => openClient(settingsOf(url), 'ledger', ledgerSession),
    deadlineMs: DEADLINE_MS,
  })
  let calls = 0
  return {
    ...connection,
    async run(statement) {
      const waiting = statement.values[0] === true ? ', waiting' : ''
      const behind = calls > 0 ? ', behind another' : ''
      sent.push(`${statement.name}${size(statement)}${waiting}${behind}`)
      calls += 1
      try {
        return await connection.run(statement)
      } finally {
        calls -= 1
      }
    },
  }
}

/** The length of the arrays of a statement, from the header of a binary array. */
function size({ values }: Statement): string {
  const array = values.find((value) => Buffer.isBuffer(value))
  return array === undefined ? '' : ` of ${array.readInt32BE(12)}`
}

/** Locks a book in another transaction; the result releases the lock. */
async function lock(book: BookId): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  const done = database.db.transaction(async (tx) => {
    await tx.query('select from books where id = $1 for update', [book])
    held.resolve()
    await letGo.promise
  })
  await held.promise
  return () => {
    letGo.resolve()
    return done
  }
}

/**
 * A proxy between the ledger and its database. `cut`: drops the next answer and closes its
 * connection. `silence`: drops the next answer and all later ones of its connection.
 * `everything`: closes every new connection.
 */
async function startProxy(url: string) {
  const { port, hostname } = new URL(url)
  const state = { lose: 'nothing', lost: 0 }
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port || 5432), hostname)
    if (state.lose === 'everything') client.destroy()
    let isSilent = false
    client.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', (chunk) => {
      if (isSilent) return
      if (state.lose === 'cut' || state.lose === 'silence') {
        state.lost += 1
        isSilent = true
        if (state.lose === 'cut') client.destroy()
        state.lose = 'nothing'
      } else client.write(chunk)
    })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined) // broken on purpose
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const there = new URL(url)
  there.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const cutAll = async () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: there.href,
    lose(what: 'nothing' | 'cut' | 'silence' | 'everything') {
      state.lose = what
      state.lost = 0
    },
    lost: () => state.lost,
    cutAll,
    async stop() {
      await cutAll()
      server.close()
    },
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 2_000; i++) {
    if (await condition()) return
    await wait(10)
  }
  assert.fail('nothing happened in twenty seconds')
}
