// What ends automatic top-ups: a refund, a dispute, a deleted card, a changed pack. After each the
// card is not charged again, an unsent order is canceled, and an e-mail tells the owner why.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { kopecks } from '../../units/kopecks.ts'

/** What the shop sells, and the language of every owner; tests change them. */
const shop = { price: pack.priceKopecks, credits: pack.credits }
const owners = { language: 'ru' as 'ru' | 'en', closed: undefined as BookId | undefined }
const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments({
    payments: {
      hasTopUps: true,
      packOf: (id) =>
        id === pack.id ? { ...pack, priceKopecks: shop.price, credits: shop.credits } : undefined,
      ownerOf: async (book) =>
        book === owners.closed
          ? undefined
          : {
              ...{ email: `${book}@example.org`, language: owners.language },
              createdAt: new Date(0),
            },
    },
  })
})
after(async () => {
  assert.deepEqual(await at.room.ledger.audit('all'), [], 'the books tie out in the end')
  await at.room.end()
})
beforeEach(async () => {
  Object.assign(shop, { price: pack.priceKopecks, credits: pack.credits })
  owners.language = 'ru'
  await at.room.sim('faults', {}, 'DELETE')
  await turnClock(at.room.db, '0')
})

/** Agrees to the terms that the page shows: the shop's, unless they have changed since. */
async function agree(book: BookId, threshold = 1_000_000, seen = { ...shop }): Promise<void> {
  const { topUps } = at.room.payments
  await topUps.turnOn({
    ...{ priceKopecks: seen.price, credits: seen.credits },
    ...{ book, packId: pack.id, version: topUps.consentVersion, address: '203.0.113.7' },
    threshold: credits(threshold),
    dayCeilingKopecks: kopecks(5n * pack.priceKopecks),
    monthCeilingKopecks: kopecks(5n * pack.priceKopecks),
  })
}

/** An owner who agreed, and whose first pack is spent but for 500,000 credits. */
async function owner(): Promise<{ book: BookId; first: OrderId }> {
  const { room } = at
  const book = await room.newBook()
  const { id } = await room.buy(book, { savesMethod: true })
  await room.sim('pay', { orderId: id })
  await room.payments.check(id)
  await room.spend(book, 34_500_000)
  await agree(book)
  return { book, first: id }
}

async function topUpsOf(book: BookId) {
  const orders = await at.room.payments.orders({ book, before: null, limit: 100 })
  return orders.filter(({ isTopUp }) => isTopUp)
}
const states = async (book: BookId) => (await topUpsOf(book)).map(({ state }) => state)
const run = () => at.room.payments.jobs.topUp()

/** As `run` of a worker whose calls are throttled: the order is created and not sent. */
function runWithoutTurn(): Promise<number> {
  const { provider, open } = at.room
  const createPayment = async () => ({ kind: 'throttled', afterMs: 1_000 }) as const
  return open({ providers: [{ ...provider, createPayment }] }).jobs.topUp()
}

async function chargesOf(id: OrderId | undefined): Promise<number> {
  const { payments } = await at.room.sim(`payments?orderId=${id}`, {}, 'GET')
  return (payments as object[]).length
}

/** The e-mails to the owner about the end. */
async function toldTo(book: BookId): Promise<string[]> {
  const { rows } = await at.room.db.query(
    `select body_text as text from letters where kind = 'top-up-stopped' and recipient = $1`,
    [`${book}@example.org`],
  )
  return (rows as { text: string }[]).map(({ text }) => text)
}

async function endedWhy(book: BookId): Promise<string | null | undefined> {
  return (await at.room.payments.topUps.read(book)).mandate?.endedWhy
}

type Target = { readonly book: BookId; readonly order: OrderId }
type Ending = {
  readonly name: string
  readonly why: string
  readonly ru: RegExp
  readonly en: RegExp
  end(target: Target): Promise<unknown>
}

const refundWords = { why: 'refunded', ru: /возвра/, en: /refunded/ }
const endings: readonly Ending[] = [
  {
    ...{ name: 'a refund that the owner asked for', ...refundWords },
    end: ({ book, order }) =>
      at.room.payments.requestRefund({ order, book, attempt: 'r', by: 'owner', reason: 'why not' }),
  },
  {
    ...{ name: 'a refund by an operator', ...refundWords },
    end: ({ order }) =>
      at.room.payments.requestRefund({ order, attempt: 'op r', by: 'olga', reason: 'asked' }),
  },
  {
    ...{ name: 'a refund made at the provider', ...refundWords },
    async end({ order }) {
      await at.room.sim('refund', { orderId: order })
      await at.room.payments.jobs.sweepRefunds()
    },
  },
  {
    ...{ name: 'a dispute', why: 'disputed', ru: /оспорен/, en: /disputed/ },
    end: ({ order }) =>
      at.room.payments.dispute({ act: 'open', order, by: 'olga', note: 'letter of the bank' }),
  },
  {
    ...{ name: 'forgetting the card', why: 'forgotten', ru: /Карта/, en: /card/ },
    end: ({ book }) => at.room.db.transaction((tx) => at.room.payments.topUps.forget(tx, book)),
  },
]

for (const { name, why, ru, en, end } of endings) {
  test(`${name} ends top-ups: nothing more is charged, and an e-mail says why`, async () => {
    for (const [language, reason] of [
      ['ru', ru],
      ['en', en],
    ] as const) {
      owners.language = language
      const { book } = await owner()
      await run()
      const [paid] = await topUpsOf(book)
      assert.equal(paid?.state, 'credited')
      await end({ book, order: paid.id })
      const left = (await at.room.ledger.balance(book))?.available ?? 0n
      if (left >= credits(1_000_000)) await at.room.spend(book, left / 1_000_000n)
      await run()
      await run()
      assert.equal((await topUpsOf(book)).length, 1, 'no second charge')
      assert.equal(await endedWhy(book), why)
      const [letter, ...more] = await toldTo(book)
      assert.match(letter ?? '', reason)
      assert.deepEqual(more, [], 'told once')
    }
  })

  test(`${name} cancels a top-up that was not sent yet`, async () => {
    const { room } = at
    const { book, first } = await owner()
    await runWithoutTurn()
    const [unsent] = await topUpsOf(book)
    assert.equal(unsent?.state, 'created')
    await end({ book, order: first })
    assert.deepEqual(await states(book), ['canceled'])
    await turnClock(room.db, '2 hours')
    await room.payments.jobs.recover()
    await run()
    assert.deepEqual(await states(book), ['canceled'])
    assert.equal(await chargesOf(unsent.id), 0)
  })
}

test('switching top-ups off cancels one that was not sent yet, without an e-mail', async () => {
  const { room } = at
  const { book } = await owner()
  await runWithoutTurn()
  await room.payments.topUps.turnOff(book)
  await turnClock(room.db, '2 hours')
  await room.payments.jobs.recover()
  assert.deepEqual(await states(book), ['canceled'])
  assert.deepEqual(await toldTo(book), [])
})

test('a top-up sent before the card was deleted is credited if it was paid', async () => {
  const { room } = at
  const { book } = await owner()
  await room.sim('faults', { kind: 'reset', when: 'after', method: 'POST', path: '/payments' })
  await run()
  await room.db.transaction((tx) => room.payments.topUps.forget(tx, book))
  assert.deepEqual(await states(book), ['created'])
  await room.payments.jobs.sweep()
  assert.deepEqual(await states(book), ['credited'])
})

test('a top-up order is canceled when it is due but top-ups are off', async () => {
  const { room } = at
  const { book } = await owner()
  await room.sim('faults', { kind: 'error', when: 'before', method: 'POST', path: '/payments' })
  await run()
  // As an earlier version left it: top-ups are off, and the order waits.
  await room.db.query(
    `update top_ups set is_on = false, stopped_why = 'owner', stopped_at = ledger_now()
     where book_id = $1`,
    [book],
  )
  await turnClock(room.db, '2 hours')
  await room.payments.jobs.recover()
  const [order] = await topUpsOf(book)
  assert.equal(order?.state, 'canceled')
  assert.equal(await chargesOf(order.id), 0)
})

test('a canceled refund that succeeds after all ends a newer mandate', async () => {
  const { room } = at
  const { book, first } = await owner()
  const input = { order: first, book, attempt: 'held', by: 'owner', reason: 'why not' }
  await room.sim('hold-refunds', { orderId: first, isHeld: true })
  const refund = await room.payments.requestRefund(input)
  await room.sim('cancel-refund', { refundId: refund.refundId })
  await turnClock(room.db, '2 minutes')
  await room.payments.jobs.pollRefunds()
  await agree(book)
  assert.equal(await endedWhy(book), null)
  await room.sim('alter', { refundId: refund.refundId, members: { status: 'succeeded' } })
  await room.intake()
  const object = { id: refund.refundId, payment_id: refund.paymentId }
  await room.sim('forge', { event: 'refund.succeeded', object })
  await room.payments.jobs.applyNotification()
  await room.sim('settings', { webhookUrl: null })
  assert.equal(await endedWhy(book), 'refunded')
})

const changes = [
  ['costs more', { price: kopecks(pack.priceKopecks + 1n) }],
  ['costs less', { price: kopecks(pack.priceKopecks - 1n) }],
  ['has fewer credits', { credits: credits(34_999_999) }],
  ['has more credits', { credits: credits(35_000_001) }],
] as const

for (const [how, change] of changes) {
  test(`a pack that ${how} than agreed is not bought, and a new mandate is needed`, async () => {
    const { book } = await owner()
    Object.assign(shop, change)
    await run()
    await run()
    assert.deepEqual(await states(book), [])
    assert.equal(await endedWhy(book), 'pack_changed')
    assert.match((await toldTo(book)).join(), /изменил/)
    await agree(book)
    await run()
    assert.deepEqual(await states(book), ['credited'], 'by the new mandate')
  })
}

for (const [how, change] of changes) {
  test(`refuses a mandate to a pack that ${how} than shown`, async () => {
    const { book } = await owner()
    await at.room.payments.topUps.turnOff(book)
    const seen = { ...shop }
    Object.assign(shop, change)
    await assert.rejects(agree(book, 1_000_000, seen), { code: 'pack_changed' })
    await run()
    assert.deepEqual(await states(book), [])
    await agree(book)
    await run()
    assert.deepEqual(await states(book), ['credited'], 'at the terms that were shown then')
  })
}

test('a mandate without credits stops with an e-mail; the next one names both', async () => {
  const { room } = at
  const { book } = await owner()
  // As an earlier version recorded it. The balance is above the threshold: nothing is due.
  await agree(book, 100_000)
  await room.db.query(
    `with consent as (
       insert into top_up_consents (book_id, version, address, method_title, pack_id,
         price_kopecks, threshold, ceiling_kopecks)
       select book_id, version, address, method_title, pack_id, price_kopecks, threshold,
         ceiling_kopecks from top_up_consents where book_id = $1 order by id desc limit 1
       returning id
     )
     update top_ups set consent_id = consent.id from consent where book_id = $1`,
    [book],
  )
  await run()
  await run()
  assert.deepEqual(await states(book), [])
  assert.equal(await endedWhy(book), 'consent_incomplete')
  assert.equal((await toldTo(book)).length, 1)

  await agree(book)
  const [last] = await room.payments.copy(book).mandates()
  assert.deepEqual(
    [last?.priceKopecks, last?.microcredits],
    [String(pack.priceKopecks), String(pack.credits)],
  )
  await run()
  assert.deepEqual(await states(book), ['credited'])
})

test('a purchase paid after its account was closed saves no card', async () => {
  const { room } = at
  const { book } = await owner()
  const { id } = await room.buy(book, { savesMethod: true })
  await room.db.transaction((tx) => room.payments.topUps.close(tx, book))
  owners.closed = book
  await room.sim('pay', { orderId: id })
  assert.equal((await room.payments.check(id)).state, 'credited')
  assert.equal((await room.payments.topUps.read(book)).method, undefined)
})
