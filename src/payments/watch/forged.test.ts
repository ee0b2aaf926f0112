// A forged purchase is found, whatever its forger writes into the order: the comparison with the
// provider looks at everything that was credited, by the time that the database wrote itself.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { onServer, turnClock } from '../../../test/support/harness.ts'
import { urlAs } from '../../../tools/program-roles.ts'

const DAY_SECONDS = 86_400
const at = { room: undefined as unknown as TestPayments, seconds: 0, orders: 0 }
before(async () => {
  at.room = await createTestPayments()
})
after(() => at.room.end())

async function pass(seconds: number): Promise<void> {
  at.seconds += seconds
  await turnClock(at.room.db, `${at.seconds} seconds`)
  await at.room.sim('advance', { seconds })
}

/** Runs as a program's role, whose password somebody has. */
async function as(role: string, sql: string, values: readonly unknown[]): Promise<unknown[]> {
  const { rows } = await onServer(
    (client) => client.query(sql, [...values]),
    urlAs(at.room.database.url, role),
  )
  return rows
}

/** Inserts an order that nobody paid and credits it. */
async function forge(
  role: string,
  order: {
    readonly provider?: string
    readonly shop?: string
    readonly credits?: bigint
    readonly price?: bigint
  },
  captured = 'ledger_now()',
): Promise<{ readonly id: string }> {
  at.orders += 1
  const id = `pay_${at.orders.toString(16).padStart(32, '0')}`
  const { provider = 'yookassa', shop = at.room.bank.shopId } = order
  const { credits = pack.credits, price = pack.priceKopecks } = order
  await as(
    role,
    `insert into orders (id, book_id, attempt, provider, shop, method, state, pack_id, pack_title,
       credits, price_kopecks, catalogue_version, email, locale)
     values ($1, $2, $1, $3, $4, 'card', 'pending', 'pack-35m', 'Start', $5, $6, 1,
       'a@example.org', 'ru')`,
    [id, await at.room.newBook(), provider, shop, credits, price],
  )
  const [row] = await as(
    role,
    `select outcome from orders_credit($1, $2, ${captured}, null, 'webhook')`,
    [id, `never-${id}`],
  )
  assert.deepEqual(row, { outcome: 'posted' })
  return { id }
}

const subjects = async (rule: string) =>
  (await at.room.payments.findings())
    .filter((one) => one.rule === rule)
    .map(({ subject }) => subject)
    .toSorted()

test('an order of a shop or a provider that is not ours is found within a minute', async () => {
  const nowhere = await forge('tollgate_cabinet', { shop: 'nowhere' })
  const paypal = await forge('tollgate_worker', { provider: 'paypal' })
  await at.room.payments.jobs.tie()
  assert.deepEqual(await subjects('order_of_unknown_shop'), [nowhere.id, paypal.id].toSorted())
  await at.room.payments.jobs.tie()
  await at.room.payments.jobs.tieAll()
  assert.equal((await subjects('order_of_unknown_shop')).length, 2, 'each is one finding')
  const audited = (await at.room.payments.audit()).map(({ rule }) => rule)
  assert.ok(audited.includes('order_of_unknown_shop'), 'op audit lists it')
})

test('an order that sold more than its pack, or for less, is found within a minute', async () => {
  const more = await forge('tollgate_cabinet', { credits: 1_000_000_000_000_000n })
  const cheap = await forge('tollgate_worker', { price: 100n })
  await at.room.payments.jobs.tie()
  assert.deepEqual(await subjects('order_differs_from_pack'), [more.id, cheap.id].toSorted())
  const audited = (await at.room.payments.audit()).map(({ rule }) => rule)
  assert.ok(audited.includes('order_differs_from_pack'), 'op audit lists it')
})

test('an old order of a shop that was closed since is no finding', async () => {
  await pass(3_600)
  await at.room.payments.jobs.tie()
  await at.room.db.query('delete from payment_findings')
  await at.room.payments.jobs.tie()
  await at.room.payments.jobs.tieAll()
  assert.deepEqual(await subjects('order_of_unknown_shop'), [])
})

test('a sweep finds what was credited for no payment, whenever captured', async () => {
  await at.room.payments.jobs.sweep()
  const old = await forge('tollgate_cabinet', {}, `'2000-01-01'`)
  const ahead = await forge('tollgate_worker', {}, `'2999-01-01'`)
  await pass(90)
  await at.room.payments.jobs.sweep()
  await pass(15)
  await at.room.payments.jobs.sweep()
  const found = await subjects('payment_missing')
  for (const { id } of [old, ahead]) assert.ok(found.includes(`never-${id}`), `${found}`)
})

test('its day finds it too, and no payment that is credited after midnight', async () => {
  const forged = await forge('tollgate_worker', {}, `'2000-01-01'`)
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.sim('pay', { orderId: id })
  // Captured today, credited tomorrow; nothing sweeps meanwhile.
  await pass(DAY_SECONDS)
  await at.room.payments.check(id)
  await pass(DAY_SECONDS + 7_200)
  await at.room.db.query('delete from payment_findings')
  await at.room.db.query(
    `insert into payment_checks (name, mark)
     values ($1, date_trunc('day', ledger_now()) - interval '4 days')
     on conflict (name) do update set mark = excluded.mark`,
    [`days yookassa ${at.room.bank.shopId}`],
  )
  assert.ok((await at.room.payments.jobs.compareDays()) >= 3)
  const found = await subjects('payment_missing')
  assert.ok(found.includes(`never-${forged.id}`))
  assert.ok(
    found.every((one) => one.startsWith('never-')),
    `${found}`,
  )
})
