// What accounts of one payer have in common is stored as keyed digests and shown to a person; it
// refuses nothing, and it is deleted with the account.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments()
})
after(() => at.room.end())

async function paid(book: BookId, method: 'card' | 'sbp' = 'card') {
  const order = await at.room.buy(book, { method })
  await at.room.sim('pay', { orderId: order.id })
  await at.room.payments.check(order.id)
  assert.equal((await at.room.ledger.balance(book))?.available !== 0n, true)
  return order.id
}

async function newBooks(count: number): Promise<BookId[]> {
  const books: BookId[] = []
  while (books.length < count) books.push(await at.room.newBook())
  return books
}

test('lists accounts that share a card, with counts and times, and refuses none', async () => {
  const [one, two] = (await newBooks(2)) as [BookId, BookId]
  for (const book of [one, two, two]) await paid(book)
  const { cards } = await at.room.payments.signals(30)
  assert.equal(cards.length, 1)
  assert.deepEqual([cards[0]?.books, cards[0]?.payments], [[one, two], 3])
  assert.match(cards[0]?.card ?? '', /^[0-9a-f]{12}$/)
  assert.ok((cards[0]?.first ?? 0) < (cards[0]?.last ?? 0))
  assert.equal((await at.room.ledger.balance(two))?.available, 2n * pack.credits)
})

test('stores neither digits nor dates of a card', async () => {
  const book = await at.room.newBook()
  const order = await paid(book)
  const { rows } = await at.room.db.query(
    `select card_digest, bank, row_to_json(p)::text as text
     from payment_payers p where order_id = $1`,
    [order],
  )
  const [row] = rows as { card_digest: Buffer; bank: null; text: string }[]
  assert.deepEqual([row?.card_digest.length, row?.bank], [32, null])
  assert.doesNotMatch(row?.text.replace(row.card_digest.toString('hex'), '') ?? '', /555555|2030/)
})

test('another key gives another digest', async () => {
  const { createDigests } = await import('../digests.ts')
  const { Masked } = await import('../../platform/masked.ts')
  const of = (key: string) => createDigests(new Masked(key)).address('anna@example.org')
  assert.deepEqual(of('a'), of('a'))
  assert.notDeepEqual(of('a'), of('b'))
})

test('lists a bank with a promo code from three accounts on', async () => {
  const { code } = await at.room.payments.createPromo({
    ...{ code: 'BANK-1', credits: credits(1), redemptionsMax: 9, by: 'anna', note: '' },
    startsAt: new Date(Date.now() - 60_000),
    endsAt: new Date(Date.now() + 3_600_000),
  })
  const books = await newBooks(3)
  for (const [i, book] of books.entries()) {
    assert.deepEqual((await at.room.payments.signals(30)).banks, [], `${i} accounts`)
    await paid(book, 'sbp')
    await at.room.payments.redeem(book, code)
  }
  const { banks } = await at.room.payments.signals(30)
  assert.deepEqual(
    banks.map((one) => [one.bank, one.code, one.books, one.payments]),
    [['100000000111', 'BANK-1', books, 3]],
  )
})

test('lists owners with two refunds, and those who tried five codes', async () => {
  const [refunder, guesser] = (await newBooks(2)) as [BookId, BookId]
  const refund = async () => {
    const order = await paid(refunder)
    const asked = { attempt: 'once', by: 'owner', reason: 'asked' }
    await at.room.payments.requestRefund({ order, book: refunder, ...asked })
  }
  await refund()
  assert.deepEqual((await at.room.payments.signals(30)).refunds, [])
  await refund()
  for (let i = 0; i < 5; i++) {
    await assert.rejects(at.room.payments.redeem(guesser, `GUESS-${i}`))
  }
  const { refunds, tries } = await at.room.payments.signals(30)
  assert.deepEqual(
    refunds.map((one) => [one.book, one.refunds, one.amount]),
    [[refunder, 2, 2n * pack.priceKopecks]],
  )
  assert.deepEqual(
    tries.map((one) => [one.book, one.tries]),
    [[guesser, 5]],
  )
})

test('erasing an account deletes what links it to a payer, and 180 days delete all', async () => {
  const book = await at.room.newBook()
  const order = await paid(book)
  const stored = async () => (await at.room.payments.copy(book).payers()).map((one) => one.order)
  assert.deepEqual(await stored(), [order])
  await at.room.db.transaction((tx) => at.room.payments.erase(tx, book))
  assert.deepEqual(await stored(), [])
  await turnClock(at.room.db, '181 days')
  await at.room.payments.jobs.forget()
  const { rows } = await at.room.db.query('select from payment_payers')
  assert.equal(rows.length, 0)
  await turnClock(at.room.db, '0')
})
