// Promo codes against one person with many accounts: once ever for an address, also after the
// account was erased, and only for purchases whose money stayed with us.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId } from '../../platform/ids.ts'
import { isRefusal, type Refusal } from '../../platform/refusal.ts'
import { credits } from '../../units/credits.ts'

/** The address of each book's owner; a book that is not listed has no owner. */
const emails = new Map<BookId, string>()
const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments({
    payments: {
      ownerOf: async (book) => {
        const email = emails.get(book)
        return email === undefined ? undefined : { email, language: 'ru', createdAt: new Date(0) }
      },
    },
  })
})
after(() => at.room.end())
beforeEach(() => turnClock(at.room.db, '0'))

const codes = { made: 0 }
async function newCode(purchasesMin = 0, redemptionsMax = 100): Promise<string> {
  codes.made += 1
  const { code } = await at.room.payments.createPromo({
    code: `FARM-${codes.made}`,
    ...{ credits: credits(1_000), redemptionsMax, purchasesMin },
    startsAt: new Date(Date.now() - 3_600_000),
    endsAt: new Date(Date.now() + 3_600_000),
    ...{ by: 'anna', note: '' },
  })
  return code
}

async function person(email: string): Promise<BookId> {
  const book = await at.room.newBook()
  emails.set(book, email)
  return book
}

async function said(redeeming: Promise<unknown>): Promise<string> {
  return redeeming.then(
    () => 'credited',
    (error: Refusal) => error.code,
  )
}

async function bought(book: BookId) {
  const order = await at.room.buy(book, { email: emails.get(book) ?? 'nobody@example.org' })
  await at.room.sim('pay', { orderId: order.id })
  await at.room.payments.check(order.id)
  return order
}

const refund = (id: Awaited<ReturnType<typeof bought>>['id'], book?: BookId) =>
  at.room.payments.requestRefund({
    ...{ order: id, attempt: `refund ${id}`, by: 'owner', reason: 'asked' },
    ...(book !== undefined && { book }),
  })

test('an address uses a code once ever, also after its account was erased', async () => {
  const code = await newCode()
  const first = await person('anna@example.org')
  assert.equal(await said(at.room.payments.redeem(first, code)), 'credited')
  emails.delete(first)
  await at.room.db.transaction((tx) => at.room.payments.erase(tx, first))
  const second = await person('anna@example.org')
  assert.equal(await said(at.room.payments.redeem(second, code)), 'promo_refused')
  assert.equal(await said(at.room.payments.redeem(second, await newCode())), 'credited')
  const list = await at.room.payments.promos()
  assert.equal(list.find((one) => one.code === code)?.redeemed, 1, 'a refused try takes none')
  const { rows } = await at.room.db.query(
    `select row_to_json(r)::text as text from promo_redemptions r`,
  )
  assert.doesNotMatch(JSON.stringify(rows), /anna/)
})

test('accounts of one mailbox at once: one of them gets the credits', async () => {
  const code = await newCode()
  const books = await Promise.all(
    Array.from({ length: 6 }, (_, i) => person(`b.o${'.'.repeat(i % 2)}b+${i}@gmail.com`)),
  )
  const told = await Promise.all(books.map((book) => said(at.room.payments.redeem(book, code))))
  assert.equal(told.filter((one) => one === 'credited').length, 1)
})

test('a book without an owner redeems nothing', async () => {
  const told = await said(at.room.payments.redeem(await at.room.newBook(), await newCode()))
  assert.equal(told, 'promo_refused')
})

test('a code for buyers counts purchases whose money stayed, each for one code', async () => {
  const code = await newCode(1)
  const book = await person('buyer@example.org')
  assert.equal(await said(at.room.payments.redeem(book, code)), 'promo_refused')
  await bought(book)
  assert.equal(await said(at.room.payments.redeem(book, code)), 'credited')
  assert.equal(await said(at.room.payments.redeem(book, await newCode(1))), 'promo_refused')
  await bought(book)
  const two = await newCode(2)
  assert.equal(await said(at.room.payments.redeem(book, two)), 'promo_refused')
  await bought(book)
  assert.equal(await said(at.room.payments.redeem(book, two)), 'credited')
})

test('two codes for buyers at once share no purchase', async () => {
  const book = await person('two-tabs@example.org')
  await bought(book)
  const codes = [await newCode(1), await newCode(1), await newCode(1)]
  const told = await Promise.all(codes.map((code) => said(at.room.payments.redeem(book, code))))
  assert.deepEqual(told.toSorted(), ['credited', 'promo_refused', 'promo_refused'])
})

test('a refunded purchase opens no code, wholly or in part', async () => {
  const book = await person('refunder@example.org')
  const whole = await bought(book)
  await refund(whole.id, book)
  const part = await bought(book)
  await at.room.spend(book, 100)
  await refund(part.id, book)
  assert.equal((await at.room.payments.order(part.id, book)).state, 'partially_refunded')
  assert.equal(await said(at.room.payments.redeem(book, await newCode(1))), 'promo_refused')
})

test('a purchase that opened a code is refunded by a person only', async () => {
  const book = await person('keeper@example.org')
  const order = await bought(book)
  await at.room.payments.redeem(book, await newCode(1))
  assert.equal((await at.room.payments.refundable(order.id, book)).why, 'promo')
  await assert.rejects(refund(order.id, book), (error) => isRefusal(error, 'refund_needs_support'))
  const made = await refund(order.id)
  assert.equal(made.amount, pack.priceKopecks)
})

test('a refund and a redemption at once: never both', async () => {
  for (let i = 0; i < 10; i++) {
    const book = await person(`racer-${i}@example.org`)
    const order = await bought(book)
    const code = await newCode(1)
    const [redeemed, refunded] = await Promise.all([
      said(at.room.payments.redeem(book, code)),
      said(refund(order.id, book)),
    ])
    const won = [redeemed, refunded].filter((one) => one === 'credited')
    assert.equal(won.length, 1, `${redeemed} ${refunded}`)
  }
})
