// The requests that the provider refuses, and its errors: credentials, headers, limits of every
// member. And how its lists are filtered and paged.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { z } from 'zod'
import { type Bank, startBank } from './bank.ts'
import { type Driver, drive, orderOf } from './drive.ts'
import type { JsonObject } from './json.ts'
import * as schemas from './schemas.ts'

let bank: Bank
let shop: Driver
before(async () => {
  bank = await startBank()
  shop = drive(bank)
})
beforeEach(() => shop.sim('reset'))
after(() => bank.close())

const rub = (value: string) => ({ value, currency: 'RUB' })
const confirmation = (members: JsonObject) => ({
  confirmation: { type: 'redirect', return_url: 'https://shop.example/back', ...members },
})
const item = { description: 'Pack', quantity: 1, amount: rub('1300.00'), vat_code: 1 }
const receipt = (members: JsonObject, items: JsonObject[] = [{ ...item, measure: 'piece' }]) => ({
  receipt: { customer: { email: 'payer@example.com' }, items, ...members },
})
const letters = (count: number) => 'щ'.repeat(count)
const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))

const refused: [members: JsonObject, parameter: string][] = [
  [{ amount: undefined }, 'amount'],
  [{ amount: { value: 1300, currency: 'RUB' } }, 'amount.value'],
  [{ amount: rub('1300') }, 'amount.value'],
  [{ amount: rub('1300.0') }, 'amount.value'],
  [{ amount: rub('1 300.00') }, 'amount.value'],
  [{ amount: rub('-1.00') }, 'amount.value'],
  [{ amount: rub('0.99') }, 'amount.value'],
  [{ amount: rub('700000.01') }, 'amount.value'],
  [{ amount: { value: '1300.00', currency: 'USD' } }, 'amount.currency'],
  [{ amount: rub('350000.01'), payment_method_data: { type: 'bank_card' } }, 'amount.value'],
  [{ capture: 'true' }, 'capture'],
  [{ capture: false, payment_method_data: { type: 'sbp' } }, 'capture'],
  [{ payment_method_data: { type: 'barter' } }, 'payment_method_data.type'],
  [{ description: letters(129) }, 'description'],
  [{ merchant_customer_id: letters(201) }, 'merchant_customer_id'],
  [{ metadata: keys(17) }, 'metadata'],
  [{ metadata: { [letters(33)]: 'v' } }, `metadata.${letters(33)}`],
  [{ metadata: { long: letters(513) } }, 'metadata.long'],
  [{ metadata: { number: 1 } }, 'metadata.number'],
  [confirmation({ return_url: undefined }), 'confirmation.return_url'],
  [confirmation({ return_url: `https://a.example/${letters(2048)}` }), 'confirmation.return_url'],
  [confirmation({ locale: 'ru_ru' }), 'confirmation.locale'],
  [confirmation({ type: 'pigeon' }), 'confirmation.type'],
  [{ confirmaton: {} }, 'confirmaton'],
  [receipt({ customer: {} }), 'receipt.customer.email'],
  [receipt({ customer: { email: 'nobody' } }), 'receipt.customer.email'],
  [receipt({ customer: { email: 'a@b.ru', phone: '+79000' } }), 'receipt.customer.phone'],
  [receipt({ tax_system_code: 7 }), 'receipt.tax_system_code'],
  [receipt({}, []), 'receipt.items'],
  [receipt({}, Array(81).fill({ ...item, measure: 'piece' })), 'receipt.items'],
  [receipt({}, [{ ...item, measure: 'piece', quantity: 2 }]), 'receipt.items'],
  [receipt({}, [item]), 'receipt.items[0].measure'],
  [receipt({}, [{ ...item, vat_code: 13 }]), 'receipt.items[0].vat_code'],
  [receipt({}, [{ ...item, quantity: '0.0001' }]), 'receipt.items[0].measure'],
  [receipt({}, [{ ...item, measure: 'piece', quantity: '0.0001' }]), 'receipt.items[0].quantity'],
  [receipt({}, [{ ...item, payment_mode: 'advance' }]), 'receipt.items[0].payment_mode'],
  [receipt({}, [{ ...item, description: letters(129) }]), 'receipt.items[0].description'],
]

test('a member outside its limits is refused by its name', async () => {
  for (const [members, parameter] of refused) {
    const answer = await shop.post('/payments', orderOf(members))
    const error = schemas.error.parse(answer.body)
    assert.deepEqual(
      [answer.status, error.code, error.parameter],
      [400, 'invalid_request', parameter],
    )
  }
  assert.equal((await shop.see('state')).counts instanceof Object, true)
  assert.deepEqual((await shop.see('payments')).payments, [])
})

test('members at their limits are accepted', async () => {
  for (const members of [
    { amount: rub('1.00') },
    { amount: rub('350000.00'), payment_method_data: { type: 'bank_card' } },
    { amount: rub('700000.00'), payment_method_data: { type: 'sbp' } },
    { description: letters(128) },
    { metadata: { ...keys(15), [letters(32)]: letters(512) } },
    confirmation({ return_url: `https://a.example/${'a'.repeat(2030)}`, locale: 'en_US' }),
    receipt({}, [
      { ...item, measure: 'piece', quantity: '2.500', amount: rub('500.00') },
      { ...item, measure: 'gigabyte', amount: rub('50.00'), payment_mode: 'full_payment' },
    ]),
  ]) {
    await shop.pay(members)
  }
})

test('a refund is checked like a payment', async () => {
  const { id } = await shop.pay()
  await shop.sim('pay', { paymentId: id })
  const whole = { payment_id: id, amount: rub('10.00') }
  for (const [body, parameter] of [
    [{ amount: rub('10.00') }, 'payment_id'],
    [{ payment_id: id }, 'amount'],
    [{ ...whole, amount: rub('0.00') }, 'amount.value'],
    [{ ...whole, amount: rub('10') }, 'amount.value'],
    [{ ...whole, description: letters(251) }, 'description'],
    [{ ...whole, reason: 'none' }, 'reason'],
    [{ ...whole, ...receipt({}) }, 'receipt.items'],
  ] as const) {
    const answer = await shop.post('/refunds', body)
    assert.deepEqual([answer.status, schemas.error.parse(answer.body).parameter], [400, parameter])
  }
})

test('wrong or absent credentials are a 401 in the provider’s shape', async () => {
  for (const authorization of ['', 'Basic eDp5', `Bearer ${bank.secretKey}`]) {
    const answer = await shop.call('GET', '/me', undefined, { headers: { authorization } })
    assert.equal(schemas.error.parse(answer.body).code, 'invalid_credentials')
    assert.equal(answer.status, 401)
  }
})

test('a POST needs JSON and a key of 1 to 64 characters', async () => {
  const post = (headers: Record<string, string>, body: unknown = orderOf()) =>
    shop.post('/payments', body, { headers })
  const form = await post({ 'content-type': 'application/x-www-form-urlencoded' })
  assert.deepEqual([form.status, form.text], [415, ''])
  for (const key of ['', 'k'.repeat(65), 'with space']) {
    const answer = await post({ 'idempotence-key': key })
    assert.equal(schemas.error.parse(answer.body).parameter, 'Idempotence-Key')
  }
  assert.equal((await post({ 'idempotence-key': 'k'.repeat(64) })).status, 200)
  assert.equal((await post({}, '{"amount":')).status, 400)
  assert.equal((await post({}, '[]')).status, 400)
})

test('unknown objects are 404, unknown methods 405', async () => {
  for (const path of ['/payments/nobody', '/refunds/nobody', '/receipts/nobody', '/webhooks']) {
    const answer = await shop.get(path)
    assert.deepEqual([answer.status, schemas.error.parse(answer.body).code], [404, 'not_found'])
  }
  assert.equal((await shop.call('DELETE', '/payments')).status, 405)
  assert.equal((await shop.post('/me')).status, 405)
})

test('a method that the shop lacks is forbidden, and SBP alone cannot be held', async () => {
  await shop.sim('settings', { methods: ['sbp'] })
  const card = await shop.post('/payments', orderOf({ payment_method_data: { type: 'bank_card' } }))
  assert.deepEqual([card.status, schemas.error.parse(card.body).code], [403, 'forbidden'])
  const held = await shop.post('/payments', orderOf({ capture: false }))
  assert.equal(schemas.error.parse(held.body).parameter, 'capture')
  await shop.sim('settings', { methods: ['bank_card', 'sbp'] })
})

test('a shop with compulsory receipts takes no payment without one', async () => {
  await shop.sim('settings', { isReceiptRequired: true })
  const answer = await shop.post('/payments', orderOf())
  assert.equal(schemas.error.parse(answer.body).parameter, 'receipt')
  await shop.pay(receipt({}))
  await shop.sim('settings', { isReceiptRequired: false })
})

const page = async (query: string) => {
  const answer = await shop.get(`/payments?${query}`)
  assert.equal(answer.status, 200, answer.text)
  return schemas.listOf(schemas.payment).parse(answer.body)
}

test('a list is newest first, ten long, and its cursor neither repeats nor skips', async () => {
  const ids: string[] = []
  for (let made = 0; made < 23; made += 1) ids.unshift((await shop.pay()).id)
  const first = await page('')
  assert.equal(first.items.length, 10)
  await shop.pay()
  const second = await page(`cursor=${first.next_cursor}`)
  const third = await page(`cursor=${second.next_cursor}`)
  const read = [first, second, third].flatMap(({ items }) => items.map(({ id }) => id))
  assert.deepEqual(read, ids)
  assert.equal(third.next_cursor, undefined)
  assert.equal((await page('limit=100')).items.length, 24)
  assert.equal((await page('limit=24')).next_cursor, undefined)
})

test('every filter of the payments list includes and excludes what it should', async () => {
  const made: string[] = []
  for (const method of ['bank_card', 'sbp', 'bank_card']) {
    const { id } = await shop.pay({ payment_method_data: { type: method } })
    made.push(id)
    await shop.sim('advance', { minutes: 1 })
    await shop.sim('pay', { paymentId: id })
    await shop.sim('advance', { minutes: 1 })
  }
  const [first = '', second = '', third = ''] = made
  const pending = await shop.pay()
  const middle = await shop.get(`/payments/${second}`).then(({ body }) =>
    z
      .object({
        created_at: z.string(),
        captured_at: z.string(),
      })
      .parse(body),
  )
  const ids = async (query: string) => (await page(query)).items.map(({ id }) => id)
  for (const member of ['created_at', 'captured_at'] as const) {
    const isCreated = member === 'created_at'
    const later = isCreated ? [pending.id, third] : [third]
    assert.deepEqual(await ids(`${member}.gte=${middle[member]}`), [...later, second])
    assert.deepEqual(await ids(`${member}.gt=${middle[member]}`), later)
    assert.deepEqual(await ids(`${member}.lte=${middle[member]}`), [second, first])
    assert.deepEqual(await ids(`${member}.lt=${middle[member]}`), [first])
  }
  assert.deepEqual(await ids('status=succeeded'), [third, second, first])
  assert.deepEqual(await ids('status=pending'), [pending.id])
  assert.deepEqual(await ids('payment_method=sbp'), [second])
  assert.deepEqual(await ids(`status=succeeded&created_at.gt=${middle.created_at}`), [third])
})

test('every filter of the refunds list includes and excludes what it should', async () => {
  const refunds: { id: string; payment_id: string; created_at: string }[] = []
  for (let made = 0; made < 3; made += 1) {
    const { id } = await shop.pay()
    await shop.sim('pay', { paymentId: id })
    refunds.push(await shop.refund(id, '1.00'))
    await shop.sim('advance', { seconds: 1 })
  }
  const [first, second, third] = refunds
  assert.ok(first && second && third)
  const ids = async (query: string) => {
    const { body } = await shop.get(`/refunds?${query}`)
    return schemas
      .listOf(schemas.refund)
      .parse(body)
      .items.map(({ id }) => id)
  }
  assert.deepEqual(await ids(`payment_id=${second.payment_id}`), [second.id])
  assert.deepEqual(await ids(`created_at.gte=${second.created_at}`), [third.id, second.id])
  assert.deepEqual(await ids(`created_at.lt=${second.created_at}`), [first.id])
  assert.deepEqual(await ids('status=pending'), [])
  assert.deepEqual(await ids('limit=2'), [third.id, second.id])
})

test('an unknown or malformed parameter of a list is refused by its name', async () => {
  for (const [query, parameter] of [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['cursor=nonsense', 'cursor'],
    ['created_at.gte=yesterday', 'created_at.gte'],
    ['created_at.ge=2026-01-01T00:00:00.000Z', 'created_at.ge'],
    ['metadata=x', 'metadata'],
  ]) {
    const answer = await shop.get(`/payments?${query}`)
    assert.deepEqual([answer.status, schemas.error.parse(answer.body).parameter], [400, parameter])
  }
})
