// A stranger's saved card is charged by no order that somebody with a program's database password
// inserts: an order that is no top-up charges no saved card, and a top-up only its mandate's.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { createMandateSteps, type MandateSteps } from '../../../test/stages/mandates.ts'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { onServer } from '../../../test/support/harness.ts'
import { urlAs } from '../../../tools/program-roles.ts'
import type { BookId } from '../../platform/ids.ts'

const at = {
  room: undefined as unknown as TestPayments,
  steps: undefined as unknown as MandateSteps,
  orders: 0,
}
before(async () => {
  at.room = await createTestPayments({ payments: { hasTopUps: true } })
  at.steps = createMandateSteps(at.room)
})
after(() => at.room.end())

async function cardOf(book: BookId): Promise<string> {
  const { rows } = await at.room.db.query(
    'select provider_method_id as id from saved_methods where book_id = $1',
    [book],
  )
  return (rows[0] as { id: string }).id
}

/** Inserts an order that is due, as a program's role; the body charges the card. */
async function forge(role: string, book: BookId, body: (id: string) => string, mandate?: bigint) {
  at.orders += 1
  const id = `pay_${at.orders.toString(16).padStart(32, '0')}`
  const insert = (client: pg.Client) =>
    client.query(
      `insert into orders (id, book_id, attempt, provider, shop, method, state, pack_id,
         pack_title, credits, price_kopecks, catalogue_version, email, locale, request_body,
         next_at, is_top_up, consent_id)
       values ($1, $2, $1, 'yookassa', $3, 'card', 'created', $4, 'Start', $5, $6, 1,
         'a@example.org', 'ru', $7, ledger_now(), $8::int8 is not null, $8)`,
      [
        ...[id, book, at.room.bank.shopId, pack.id, pack.credits, pack.priceKopecks, body(id)],
        mandate ?? null,
      ],
    )
  await onServer(insert, urlAs(at.room.database.url, role))
  return id
}

const charging = (card: string) => (id: string) =>
  JSON.stringify({
    ...{ amount: { value: '1300.00', currency: 'RUB' }, capture: true, payment_method_id: card },
    ...{ description: 'x', metadata: { order_id: id, env: 'test' } },
  })

async function assertNotSent(id: string, state: string): Promise<void> {
  await at.room.payments.jobs.recover()
  const { calls } = await at.room.sim(`calls?orderId=${id}&method=POST&last=1000`, {}, 'GET')
  assert.deepEqual(calls, [])
  const { rows } = await at.room.db.query('select state from orders where id = $1', [id])
  assert.deepEqual(rows, [{ state }])
}

for (const role of ['tollgate_cabinet', 'tollgate_worker']) {
  test(`a purchase that charges a stranger’s saved card is not sent: ${role}`, async () => {
    const victim = await at.steps.owner()
    const card = await cardOf(victim.book)
    const thief = await at.room.newBook()
    await assertNotSent(await forge(role, thief, charging(card)), 'failed')
    // A reader that takes the first of two members would charge it.
    const twice = (id: string) =>
      charging(card)(id).replace('"description"', '"payment_method_id":null,"description"')
    await assertNotSent(await forge(role, thief, twice), 'failed')
  })
}

test('a top-up under the thief’s own mandate charges no other card than its own', async () => {
  const [victim, thief] = [await at.steps.owner(), await at.steps.owner()]
  const { rows } = await at.room.db.query(
    'select id from mandates where book_id = $1 and ended_at is null',
    [thief.book],
  )
  const [{ id: mandate }] = rows as [{ id: bigint }]
  const card = await cardOf(victim.book)
  await assertNotSent(
    await forge('tollgate_worker', thief.book, charging(card), mandate),
    'canceled',
  )
})
