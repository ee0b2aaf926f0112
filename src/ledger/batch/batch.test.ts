// The batcher: who travels with whom, who waits for whom, and that an operation whose answer was
// lost is charged once all the same. Real connections, some through a proxy that loses answers.
import assert from 'node:assert/strict'
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Customer } from '../../../test/support/customer.ts'
import { createCustomer } from '../../../test/support/customer.ts'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, settingsOf } from '../../../test/support/harness.ts'
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

const log = createLog({ level: 'silent' })
const hold = holdVerb(1n, 3_900)
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof startProxy>>
let ledger: TestLedger
let alice: Customer
let bob: Customer
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
  alice = await createCustomer(ledger, 10_000)
  bob = await createCustomer(ledger, 10_000)
  batcher = createBatcher({
    connections: [overheard(proxy.url)],
    laneConnections: [overheard(proxy.url)],
    clock: systemClock,
    log,
  })
})
afterEach(async () => {
  await batcher.close()
  assert.deepEqual(await ledger.audit('all'), [])
})

test('an operation alone goes as one row, what waits together in arrays of 256', async () => {
  await batcher.submit(hold, alice.holdAsk(1)).reply
  assert.deepEqual(sent, ['hold'])
  const replies = await Promise.all(
    Array.from({ length: 300 }, () => batcher.submit(hold, alice.holdAsk(1)).reply),
  )
  assert.deepEqual(sent, ['hold', 'hold_many of 256', 'hold_many of 44'])
  assert.ok(replies.every((reply) => reply.outcome === 'granted'))
  assert.equal(await alice.balance(), '9699 301 0')
})

test('behind a call under way goes a full array, and nothing less', async () => {
  await batcher.submit(hold, alice.holdAsk(1)).reply
  sent = []
  const asks = Array.from({ length: 600 }, () => alice.holdAsk(1))
  await Promise.all(asks.map((ask) => batcher.submit(hold, ask).reply))
  const full = 'hold_many of 256'
  assert.deepEqual(sent, [full, `${full}, behind another`, 'hold_many of 88'])
  assert.equal(await alice.balance(), '9399 601 0')
})

test('calls that are lost with their connection are all repeated, and charge once', async () => {
  const asks = Array.from({ length: 512 }, () => alice.holdAsk(1))
  await Promise.all(asks.map((ask) => batcher.submit(hold, ask).reply))
  sent = []
  proxy.lose('cut')
  const settles = asks.map((ask) => batcher.submit(settleVerb, alice.settleAsk(ask.id, 1)).reply)
  const replies = await Promise.all(settles)
  assert.equal(proxy.lost(), 1)
  assert.ok(replies.every((reply) => reply.outcome === 'settled'))
  assert.ok(sent.length >= 4, `${sent}`)
  assert.equal(await alice.balance(), '9488 0 0')
})

test('a locked book waits in a lane of its own, batched, while others go on', async () => {
  const strangerIsDone = await lock(alice.book)
  const four = Array.from({ length: 4 }, () => batcher.submit(hold, alice.holdAsk(1)).reply)
  await batcher.submit(hold, bob.holdAsk(5)).reply
  assert.equal(await bob.balance(), '9995 5 0')
  const later = batcher.submit(hold, alice.holdAsk(1)).reply
  await batcher.submit(hold, bob.holdAsk(5)).reply
  assert.equal(await bob.balance(), '9990 10 0')

  await strangerIsDone()
  const replies = await Promise.all([...four, later])
  assert.ok(replies.every((reply) => reply.outcome === 'granted'))
  assert.equal(await alice.balance(), '9995 5 0')
  assert.deepEqual(sent.slice(0, 3), ['hold_many of 5', 'hold_many of 4, waiting', 'hold'])
})

for (const [how, loseAnswer] of [
  ['is lost with its connection', 'cut'],
  ['never comes', 'silence'],
] as const) {
  test(`an operation whose answer ${how} is repeated by id and charged once`, async () => {
    const asks = [alice.holdAsk(), alice.holdAsk(), bob.holdAsk()]
    await Promise.all(asks.map((ask) => batcher.submit(hold, ask).reply))
    proxy.lose(loseAnswer)
    const replies = await Promise.all(
      asks.map((ask) => {
        const customer = ask.book === alice.book ? alice : bob
        return batcher.submit(settleVerb, customer.settleAsk(ask.id)).reply
      }),
    )
    assert.equal(proxy.lost(), 1)
    assert.deepEqual(
      replies.map((reply) => `${reply.outcome} ${reply.amount / 1_000_000n}`),
      ['settled 30', 'settled 30', 'settled 30'],
    )
    assert.deepEqual(sent.slice(-2), ['settle_many of 3', 'settle_many of 3'])
    assert.equal(await alice.balance(), '9940 0 0')
    assert.equal(await bob.balance(), '9970 0 0')
  })
}

test('an operation whose connection the server ends is repeated and charged once', async () => {
  const ask = alice.holdAsk()
  await batcher.submit(hold, ask).reply
  const strangerIsDone = await lock(alice.book)
  const settled = batcher.submit(settleVerb, alice.settleAsk(ask.id)).reply
  await until(async () => {
    const { rows } = await database.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  })
  await strangerIsDone()
  assert.equal((await settled).outcome, 'settled')
  assert.equal(await alice.balance(), '9970 0 0')
})

test('while the database is away operations wait, and the batcher says so', async () => {
  proxy.lose('everything')
  await proxy.cutAll()
  const reply = batcher.submit(hold, alice.holdAsk()).reply
  await until(() => batcher.isAway())
  assert.equal([...batcher.pending()].length, 1)
  proxy.lose('nothing')
  assert.equal((await reply).outcome, 'granted')
  await batcher.idle()
  assert.equal(batcher.isAway(), false)
  assert.deepEqual([...batcher.pending()], [])
})

test('an element that the database refuses does not hurt its neighbours', async () => {
  const impossible = { ...alice.holdAsk(1), floor: credits(2) }
  const asks = [alice.holdAsk(1), impossible, bob.holdAsk(1)]
  const replies = await Promise.allSettled(asks.map((ask) => batcher.submit(hold, ask).reply))
  assert.deepEqual(
    replies.map((one) => (one.status === 'fulfilled' ? one.value.outcome : one.reason.constraint)),
    ['granted', 'holds_grant_no_more_than_the_worst_case', 'granted'],
  )
  assert.equal(batcher.isAway(), false)
})

test('a damaged page stops the book that needs it, and no other', async () => {
  const [first, second, third] = [alice.holdAsk(), bob.holdAsk(), bob.holdAsk()]
  await Promise.all([first, second, third].map((ask) => batcher.submit(hold, ask).reply))
  await database.db.query(
    `create function meet_damage() returns trigger language plpgsql as $$
       begin raise exception 'invalid page' using errcode = 'XX001'; end $$;
     create trigger meet_damage before insert on entries for each row
       when (new.book_id = ${alice.book}) execute function meet_damage()`,
  )
  const stuck = batcher.submit(settleVerb, alice.settleAsk(first.id)).reply
  const beside = batcher.submit(settleVerb, bob.settleAsk(second.id)).reply
  assert.equal((await beside).outcome, 'settled')
  assert.equal((await batcher.submit(settleVerb, bob.settleAsk(third.id)).reply).outcome, 'settled')
  assert.equal(await bob.balance(), '9940 0 0')
  assert.equal([...batcher.pending()].length, 1)
  await database.db.query('drop trigger meet_damage on entries; drop function meet_damage')
  assert.equal((await stuck).outcome, 'settled')
  assert.equal(await alice.balance(), '9970 0 0')
})

test('an operation given up on leaves its lane empty, and nothing is away', async () => {
  const strangerIsDone = await lock(alice.book)
  const operation = batcher.submit(hold, alice.holdAsk())
  await until(() => sent.some((name) => name.endsWith('waiting')))
  operation.isDropped = true
  // The lane's own wait for the lock ends, and the operation is not sent again.
  await batcher.idle()
  assert.equal(batcher.isAway(), false)
  await strangerIsDone()
  assert.equal(await alice.balance(), '10000 0 0')
})

test('a hold that waits too long is refused, and undone in case it was made', async () => {
  const strangerIsDone = await lock(alice.book)
  const ask = alice.holdAsk()
  await assert.rejects(ledger.hold(ask), { code: 'ledger_unavailable' })
  await strangerIsDone()
  await until(async () => {
    const given = `select from holds where id = $1 and state = 'voided' and ending = 'given_up'`
    return (await database.db.query(given, [ask.id])).rows.length === 1
  })
  await assert.rejects(ledger.hold(ask), { name: 'Fault' })
  assert.equal(await alice.balance(), '10000 0 0')
})

/**
 * A connection that notes what it sends: statement, size, whether it waits for locks, and whether
 * another call was still under way.
 */
function overheard(url: string): Connection {
  const connection = createConnection({
    open: () => openClient(settingsOf(url), 'ledger', ledgerSession),
    deadlineMs: 500,
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

/** The length of the arrays of a statement, as the head of a binary one says it. */
function size({ values }: Statement): string {
  const array = values.find((value) => Buffer.isBuffer(value))
  return array === undefined ? '' : ` of ${array.readInt32BE(12)}`
}

/** A stranger locks a book; the result lets go of it. */
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
 * Stands between the ledger and its database. `cut`: the next answer is swallowed and its
 * connection broken. `silence`: the next answer is swallowed, and all that follows on its
 * connection. `everything`: nobody gets through.
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

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await isSo()) return
    await wait(10)
  }
  assert.fail('nothing happened in five seconds')
}
