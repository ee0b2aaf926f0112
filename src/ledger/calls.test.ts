// The array forms as they travel: places of answers, busy books, and what no array may contain.
// That arrays mean the same as single rows is shown by the tables of ledger.test.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestDatabase } from '../../test/support/harness.ts'
import { createTestDatabase, settingsOf } from '../../test/support/harness.ts'
import { openClient } from '../platform/db/db.ts'
import type { Statement } from '../platform/db/statement.ts'
import type { BookId, HoldId } from '../platform/ids.ts'
import { newHoldId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import { micro } from '../units/credits.ts'
import { noTokens, tokens } from '../units/tokens.ts'
import type { Connection } from './batch/connection.ts'
import { createConnection } from './batch/connection.ts'
import type { Verb } from './calls.ts'
import { holdVerb, settleVerb, voidVerb } from './calls.ts'
import { ledgerSession } from './ledger.ts'

const hold = holdVerb(1n, 60)
const voids = voidVerb(1n)
let database: TestDatabase
let connection: Connection

before(async () => {
  database = await createTestDatabase()
  connection = createConnection({
    open: () => openClient(settingsOf(database.url), 'test', ledgerSession),
    deadlineMs: 5_000,
  })
  await database.db.query(
    `insert into tariffs
       (catalogue_version, model, coefficient, cache_read, cache_write_5m, cache_write_1h)
     values (1, 'model', 1000000, 1000000, 1000000, 1000000)`,
  )
})
after(async () => {
  await connection.close()
  await database.drop()
})

test('an id twice in one array is refused, and the array leaves nothing behind', async () => {
  const rich = await bookWith(1_000n)
  const poor = await bookWith(10n)
  const [open, fresh, dear] = [newId(), newId(), newId()]
  await many(hold, [holdAsk(rich, open, 10n)])

  const doubled = [
    [holdAsk(rich, fresh, 10n), holdAsk(rich, fresh, 10n)],
    // Nine of ten is above half: decided one after the other.
    [holdAsk(rich, fresh, 10n), holdAsk(poor, dear, 9n), holdAsk(poor, dear, 9n)],
    [holdAsk(rich, open, 10n), holdAsk(rich, open, 10n)],
  ]
  for (const asks of doubled) await assert.rejects(many(hold, asks), { code: 'TG002' })
  const settle = settleAsk(rich, open, 1n)
  await assert.rejects(many(settleVerb, [settle, settle]), { code: 'TG002' })
  const back = voidAsk(rich, open)
  await assert.rejects(many(voids, [back, back]), { code: 'TG002' })

  assert.deepEqual(await holdsOf(rich), [{ id: open, state: 'open' }])
  assert.deepEqual(await holdsOf(poor), [])
})

test('an array of more than 256 operations is refused', async () => {
  const book = await bookWith(1_000n)
  const ids = Array.from({ length: 257 }, newId)
  const tooMany = { code: '54000' }
  await assert.rejects(
    many(
      hold,
      ids.map((id) => holdAsk(book, id, 1n)),
    ),
    tooMany,
  )
  await assert.rejects(
    many(
      settleVerb,
      ids.map((id) => settleAsk(book, id, 1n)),
    ),
    tooMany,
  )
  await assert.rejects(
    many(
      voids,
      ids.map((id) => voidAsk(book, id)),
    ),
    tooMany,
  )
  assert.deepEqual(await holdsOf(book), [])
})

test('a busy book is left out, and every answer stands in the place of its operation', async () => {
  const [busy, free] = [await bookWith(100n), await bookWith(100n)]
  const [first, second, third] = [newId(), newId(), newId()]
  await many(hold, [holdAsk(busy, first, 10n), holdAsk(free, second, 20n)])

  await database.db.transaction(async (tx) => {
    await tx.query('select from books where id = $1 for update', [busy])
    const holds = [holdAsk(busy, newId(), 10n), holdAsk(free, third, 70n)]
    assert.deepEqual(
      (await many(hold, holds, false)).map((reply) => `${reply.outcome} ${reply.granted}`),
      ['busy 10', 'granted 40'],
    )
    const settles = [settleAsk(busy, first, 5n), settleAsk(free, second, 15n)]
    for (const _ of ['settled', 'repeated']) {
      const [left, settled] = await many(settleVerb, settles, false)
      assert.equal(left?.outcome, 'busy')
      assert.deepEqual(settled, { outcome: 'settled', amount: 15n, available: 45n })
    }
    const undone = await many(voids, [voidAsk(busy, first), voidAsk(free, third)], false)
    assert.deepEqual(undone, [{ outcome: 'busy' }, { outcome: 'voided' }])
  })
  assert.deepEqual(await holdsOf(busy), [{ id: first, state: 'open' }])
})

test('one unknown book or hold in an array does not hurt its neighbours', async () => {
  const book = await bookWith(100n)
  const nobody = (1n << 39n) as BookId
  const [first, second] = [newId(), newId()]
  const holds = [
    holdAsk(nobody, newId(), 1n),
    holdAsk(book, first, 10n),
    holdAsk(book, second, 10n),
  ]
  assert.deepEqual(
    (await many(hold, holds, false)).map((reply) => reply.outcome),
    ['book_unknown', 'granted', 'granted'],
  )
  const settles = [
    settleAsk(nobody, newId(), 1n),
    settleAsk(book, first, 3n),
    settleAsk(book, newId(), 1n),
    settleAsk(book, second, 4n),
  ]
  assert.deepEqual(
    (await many(settleVerb, settles)).map((reply) => `${reply.outcome} ${reply.amount}`),
    ['book_unknown 0', 'settled 3', 'hold_unknown 0', 'settled 4'],
  )
})

test('a price above its grant is written off, and takes nothing from its neighbours', async () => {
  const books = [await bookWith(1_000n), await bookWith(1_000n)] as const
  const ids = [newId(), newId(), newId(), newId()] as const
  const asks = ids.map((id, i) => holdAsk(books[i < 3 ? 0 : 1], id, 10n))
  await many(hold, asks)
  const prices = [5n, 12n, 10n, 99n]
  const settles = asks.map(({ book, id }, i) => settleAsk(book, id, prices[i] as bigint))
  const amounts = ['settled 5', 'settled 10', 'settled 10', 'settled 10']
  for (const _ of ['settled', 'repeated']) {
    const replies = await many(settleVerb, settles)
    assert.deepEqual(
      replies.map((reply) => `${reply.outcome} ${reply.amount}`),
      amounts,
    )
  }
  const { rows } = await database.db.query(
    `select concat_ws(' ', amount, written_off, balance) as entry, at = min(at) over () as is_same
     from entries where hold_id = any ($1) order by book_id, seq`,
    [ids],
  )
  // Of one moment: done one by one, each would have its own.
  const entries = ['-5 0 995', '-10 2 985', '-10 0 975', '-10 89 990']
  assert.deepEqual(
    rows,
    entries.map((entry) => ({ entry, is_same: true })),
  )
})

test('a number that its column cannot hold is refused here, not cut to size', () => {
  const book = 1n as BookId
  const tooMuch = { ...settleAsk(book, newId(), 1n), priced: (1n << 63n) as Credits }
  assert.throws(() => settleVerb.many([tooMuch], false), RangeError)
  const noTariff = { ...holdAsk(book, newId(), 1n), tariff: 2 ** 31 }
  assert.throws(() => hold.many([noTariff], false), RangeError)
  const noId = {
    ...holdAsk(book, newId(), 1n),
    id: '01a1dc80-f000-7000-8000-00000000000g' as HoldId,
  }
  assert.throws(() => hold.many([noId], false), RangeError)
})

test('an array reads the rows it is about, also by a plan made while there were few', async () => {
  const book = await bookWith(1_000n)
  const ids = Array.from({ length: 200 }, newId)
  const client = openClient(settingsOf(database.url), 'ledger', ledgerSession)
  await client.connect()
  const send = ({ text, values }: Statement) => client.query(text, [...values])
  await send(
    hold.many(
      ids.map((id) => holdAsk(book, id, 1n)),
      true,
    ),
  )
  await client.query('begin')
  const settles = ids.slice(0, 3).map((id) => settleAsk(book, id, 1n))
  await send(settleVerb.many(settles, true))
  const { rows } = await client.query(
    `select sum(seq_tup_read + idx_tup_fetch)::int4 as reads from pg_stat_xact_user_tables
     where relname ~ '^holds_'`,
  )
  await client.query('rollback')
  await client.end()
  assert.deepEqual(rows, [{ reads: 3 }])
})

test('text from outside passes an array unharmed', async () => {
  const book = await bookWith(100n)
  const ids = ['null', 'a"b', 'c\\d', '{e,f}', ''].map((messageId) => ({ id: newId(), messageId }))
  await many(
    hold,
    ids.map(({ id }) => holdAsk(book, id, 1n)),
  )
  await many(
    settleVerb,
    ids.map(({ id, messageId }) => ({ ...settleAsk(book, id, 1n), messageId })),
  )
  const { rows } = await database.db.query(
    `select message_id from entries where book_id = $1 and kind = 'charge' order by seq`,
    [book],
  )
  assert.deepEqual(
    rows,
    ids.map(({ messageId }) => ({ message_id: messageId })),
  )
})

async function many<Ask, Reply>(
  verb: Verb<Ask, Reply>,
  asks: Ask[],
  isWaiting = true,
): Promise<Reply[]> {
  // Waiting: a server that refuses answers before it lets go of its locks.
  return verb.readMany(await connection.run(verb.many(asks, isWaiting)), asks)
}

async function bookWith(amount: bigint): Promise<BookId> {
  const { rows } = await database.db.query('select ledger_open() as id')
  const { id } = rows[0] as { id: BookId }
  const credit = `select ledger_credit($1, 'purchase', $2, $3, 'clearing', '')`
  await database.db.query(credit, [id, `p${id}`, amount])
  return id
}

async function holdsOf(book: BookId) {
  const text = 'select id, state from holds where book_id = $1 order by id'
  return (await database.db.query(text, [book])).rows
}

function newId(): HoldId {
  return newHoldId(0, Date.now())
}

function holdAsk(book: BookId, id: HoldId, worst: bigint) {
  return { id, book, tariff: 1, fence: 0n, worst: micro(worst), floor: micro(1n) }
}

function settleAsk(book: BookId, id: HoldId, priced: bigint) {
  return {
    id,
    book,
    counts: { ...noTokens, input: tokens(priced) },
    priced: micro(priced),
    ending: 'complete' as const,
    isEstimated: false,
    messageId: null,
  }
}

function voidAsk(book: BookId, id: HoldId) {
  return { id, book, tariff: 1, ending: 'refused' as const, reason: 'a test' }
}
