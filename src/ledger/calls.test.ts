// Tests of the array statements: order of the results, locked books, and what an array must not
// contain. The table tests in ledger.test.ts compare arrays with single rows.
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

test('refuses an array that contains an id twice, and stores nothing of it', async () => {
  const rich = await bookWith(1_000n)
  const poor = await bookWith(10n)
  const [open, fresh, dear] = [newId(), newId(), newId()]
  await many(hold, [holdInput(rich, open, 10n)])

  const doubled = [
    [holdInput(rich, fresh, 10n), holdInput(rich, fresh, 10n)],
    // 9 of 10 available is more than half, so these holds are decided one after the other.
    [holdInput(rich, fresh, 10n), holdInput(poor, dear, 9n), holdInput(poor, dear, 9n)],
    [holdInput(rich, open, 10n), holdInput(rich, open, 10n)],
  ]
  for (const inputs of doubled) await assert.rejects(many(hold, inputs), { code: 'TG002' })
  const settle = settleInput(rich, open, 1n)
  await assert.rejects(many(settleVerb, [settle, settle]), { code: 'TG002' })
  const back = voidInput(rich, open)
  await assert.rejects(many(voids, [back, back]), { code: 'TG002' })

  assert.deepEqual(await holdsOf(rich), [{ id: open, state: 'open' }])
  assert.deepEqual(await holdsOf(poor), [])
})

test('refuses an array of more than 256 operations', async () => {
  const book = await bookWith(1_000n)
  const ids = Array.from({ length: 257 }, newId)
  const tooMany = { code: '54000' }
  await assert.rejects(
    many(
      hold,
      ids.map((id) => holdInput(book, id, 1n)),
    ),
    tooMany,
  )
  await assert.rejects(
    many(
      settleVerb,
      ids.map((id) => settleInput(book, id, 1n)),
    ),
    tooMany,
  )
  await assert.rejects(
    many(
      voids,
      ids.map((id) => voidInput(book, id)),
    ),
    tooMany,
  )
  assert.deepEqual(await holdsOf(book), [])
})

test('skips a locked book, and returns results in the order of the operations', async () => {
  const [busy, free] = [await bookWith(100n), await bookWith(100n)]
  const [first, second, third] = [newId(), newId(), newId()]
  await many(hold, [holdInput(busy, first, 10n), holdInput(free, second, 20n)])

  await database.db.transaction(async (tx) => {
    await tx.query('select from books where id = $1 for update', [busy])
    const holds = [holdInput(busy, newId(), 10n), holdInput(free, third, 90n)]
    assert.deepEqual(
      (await many(hold, holds, false)).map((result) => `${result.outcome} ${result.granted}`),
      ['busy 10', 'granted 40'],
    )
    const settles = [settleInput(busy, first, 5n), settleInput(free, second, 15n)]
    for (const _ of ['settled', 'repeated']) {
      const [left, settled] = await many(settleVerb, settles, false)
      assert.equal(left?.outcome, 'busy')
      assert.deepEqual(settled, { outcome: 'settled', amount: 15n, available: 45n })
    }
    const undone = await many(voids, [voidInput(busy, first), voidInput(free, third)], false)
    assert.deepEqual(undone, [{ outcome: 'busy' }, { outcome: 'voided' }])
  })
  assert.deepEqual(await holdsOf(busy), [{ id: first, state: 'open' }])
})

test('reports an unknown book or hold and runs the rest of the array', async () => {
  const book = await bookWith(100n)
  const unknownBook = (1n << 39n) as BookId
  const [first, second] = [newId(), newId()]
  const holds = [
    holdInput(unknownBook, newId(), 1n),
    holdInput(book, first, 10n),
    holdInput(book, second, 10n),
  ]
  assert.deepEqual(
    (await many(hold, holds, false)).map((result) => result.outcome),
    ['book_unknown', 'granted', 'granted'],
  )
  const settles = [
    settleInput(unknownBook, newId(), 1n),
    settleInput(book, first, 3n),
    settleInput(book, newId(), 1n),
    settleInput(book, second, 4n),
  ]
  assert.deepEqual(
    (await many(settleVerb, settles)).map((result) => `${result.outcome} ${result.amount}`),
    ['book_unknown 0', 'settled 3', 'hold_unknown 0', 'settled 4'],
  )
})

test('writes off the part of a price above its grant, and charges the others in full', async () => {
  const books = [await bookWith(1_000n), await bookWith(1_000n)] as const
  const ids = [newId(), newId(), newId(), newId()] as const
  const inputs = ids.map((id, i) => holdInput(books[i < 3 ? 0 : 1], id, 10n))
  await many(hold, inputs)
  const prices = [5n, 12n, 10n, 99n]
  const settles = inputs.map(({ book, id }, i) => settleInput(book, id, prices[i] as bigint))
  const amounts = ['settled 5', 'settled 10', 'settled 10', 'settled 10']
  for (const _ of ['settled', 'repeated']) {
    const results = await many(settleVerb, settles)
    assert.deepEqual(
      results.map((result) => `${result.outcome} ${result.amount}`),
      amounts,
    )
  }
  const { rows } = await database.db.query(
    `select concat_ws(' ', amount, written_off, balance) as entry, at = min(at) over () as is_same
     from entries where hold_id = any ($1) order by book_id, seq`,
    [ids],
  )
  // Equal times show that one statement wrote all entries; single settles would differ.
  const entries = ['-5 0 995', '-10 2 985', '-10 0 975', '-10 89 990']
  assert.deepEqual(
    rows,
    entries.map((entry) => ({ entry, is_same: true })),
  )
})

test('throws for a number or an id that does not fit its column', () => {
  const book = 1n as BookId
  const tooMuch = { ...settleInput(book, newId(), 1n), priced: (1n << 63n) as Credits }
  assert.throws(() => settleVerb.arrayStatement([tooMuch], false), RangeError)
  const noTariff = { ...holdInput(book, newId(), 1n), tariff: 2 ** 31 }
  assert.throws(() => hold.arrayStatement([noTariff], false), RangeError)
  const noId = {
    ...holdInput(book, newId(), 1n),
    id: '01a1dc80-f000-7000-8000-00000000000g' as HoldId,
  }
  assert.throws(() => hold.arrayStatement([noId], false), RangeError)
})

test('a settle reads only the rows of its array, even with a plan for a small table', async () => {
  const book = await bookWith(1_000n)
  const ids = Array.from({ length: 200 }, newId)
  const client = openClient(settingsOf(database.url), 'ledger', ledgerSession)
  await client.connect()
  const send = ({ text, values }: Statement) => client.query(text, [...values])
  await send(
    hold.arrayStatement(
      ids.map((id) => holdInput(book, id, 1n)),
      true,
    ),
  )
  await client.query('begin')
  const settles = ids.slice(0, 3).map((id) => settleInput(book, id, 1n))
  await send(settleVerb.arrayStatement(settles, true))
  const { rows } = await client.query(
    `select sum(seq_tup_read + idx_tup_fetch)::int4 as reads from pg_stat_xact_user_tables
     where relname ~ '^holds_'`,
  )
  await client.query('rollback')
  await client.end()
  assert.deepEqual(rows, [{ reads: 3 }])
})

test('stores quotes, backslashes and braces in a message id unchanged', async () => {
  const book = await bookWith(100n)
  const ids = ['null', 'a"b', 'c\\d', '{e,f}', ''].map((messageId) => ({ id: newId(), messageId }))
  await many(
    hold,
    ids.map(({ id }) => holdInput(book, id, 1n)),
  )
  await many(
    settleVerb,
    ids.map(({ id, messageId }) => ({ ...settleInput(book, id, 1n), messageId })),
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

async function many<Input, Result>(
  verb: Verb<Input, Result>,
  inputs: Input[],
  isWaiting = true,
): Promise<Result[]> {
  // Waits by default: PostgreSQL reports a call's error before it releases that call's locks.
  return verb.readResults(await connection.run(verb.arrayStatement(inputs, isWaiting)), inputs)
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

function holdInput(book: BookId, id: HoldId, worst: bigint) {
  return { id, book, tariff: 1, fence: 0n, worst: micro(worst), floor: micro(1n) }
}

function settleInput(book: BookId, id: HoldId, priced: bigint) {
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

function voidInput(book: BookId, id: HoldId) {
  return { id, book, tariff: 1, ending: 'refused' as const, reason: 'a test' }
}
