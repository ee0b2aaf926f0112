// Migration 0037 on a database of the version before: its agreements become mandates, and while it
// runs beside the new one, what either gives, ends or erases holds for both.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { migrate } from '../../src/platform/db/migrate.ts'
import { settingsOf, type TestDatabase } from '../support/harness.ts'
import { createDatabaseBefore } from '../support/version-before.ts'

const open = { database: undefined as unknown as TestDatabase }
/** Books with agreements of the version before. */
const books = { living: 1, ended: 2, replaced: 3, upgraded: 4, empty: 5 }
before(async () => {
  open.database = await createDatabaseBefore('0036')
  for (const book of Object.values(books)) await insertBook(book)
  await agreeByOld(books.living, 120_000)
  await agreeByOld(books.living)
  await agreeByOld(books.ended)
  await endByOld(books.ended)
  await agreeByOld(books.replaced)
  await query(`update saved_methods set saved_at = ledger_now() where book_id = $1`, [
    books.replaced,
  ])
  await agreeByOld(books.upgraded)
  await migrate(settingsOf(open.database.url))
})
after(() => open.database.drop())

const query = async (sql: string, values: unknown[] = []) =>
  (await open.database.db.query(sql, values)).rows as Record<string, unknown>[]

/** A book with a saved card. */
async function insertBook(book: number): Promise<void> {
  await query('insert into books (id) values ($1)', [book])
  await query(
    `insert into saved_methods (book_id, provider, method, provider_method_id, title)
     values ($1, 'yookassa', 'card', 'm1', '4444')`,
    [book],
  )
}

/** As the version before gives an agreement. */
async function agreeByOld(book: unknown, price = 130_000): Promise<void> {
  await query(
    `with consent as (
       insert into top_up_consents (book_id, version, address, method_title, pack_id,
         price_kopecks, credits, threshold, ceiling_kopecks)
       values ($1, 'v1', '203.0.113.7', '4444', 'start', $2, 35, 5, 390000)
       returning id
     )
     insert into top_ups (book_id, consent_id, is_on) select $1, id, true from consent
     on conflict (book_id) do update
     set consent_id = excluded.consent_id, is_on = true, stopped_why = null, stopped_at = null,
       ceiling_told = null`,
    [book, price],
  )
}
/** As the version before ends one. */
const endByOld = (book: unknown) =>
  query(
    `update top_ups set is_on = false, stopped_why = 'refunded', stopped_at = ledger_now()
     where book_id = $1 and is_on`,
    [book],
  )
const mandatesOf = async (book: unknown) =>
  (
    await query(
      `select price_kopecks as price, ended_why as why,
         method_saved_at is not null as "hasCard" from mandates where book_id = $1 order by id`,
      [book],
    )
  ).map(({ price, why, hasCard }) => [Number(price), why, hasCard])

test('agreements become mandates with their terms, the newest with its end', async () => {
  const { living, ended, replaced } = books
  assert.deepEqual(await mandatesOf(living), [
    [120_000, 'replaced', true],
    [130_000, null, true],
  ])
  assert.deepEqual(await mandatesOf(ended), [[130_000, 'refunded', true]])
  assert.deepEqual(await mandatesOf(replaced), [[130_000, null, false]], 'the card is another one')
  const [row] = await query(
    `select day_ceiling_kopecks as day, month_ceiling_kopecks as month, version, address, credits
     from mandates where book_id = $1 and ended_at is null`,
    [living],
  )
  assert.deepEqual(
    [Number(row?.day), Number(row?.month), row?.version, row?.address, Number(row?.credits)],
    [390_000, 390_000, 'v1', '203.0.113.7', 35],
  )
})

test('the version before gives, ends and erases mandates', async () => {
  const book = books.empty
  await agreeByOld(book)
  assert.deepEqual(await mandatesOf(book), [[130_000, null, true]])
  await agreeByOld(book, 120_000)
  await endByOld(book)
  assert.deepEqual(await mandatesOf(book), [
    [130_000, 'replaced', true],
    [120_000, 'refunded', true],
  ])
  await query('delete from top_ups where book_id = $1', [book])
  await query('delete from top_up_consents where book_id = $1', [book])
  assert.deepEqual(await mandatesOf(book), [])
})

test('the version before sees what the new one gives and ends', async () => {
  const book = books.upgraded
  const end = (why: string) =>
    query(
      `update mandates set ended_at = ledger_now(), ended_why = $2
       where book_id = $1 and ended_at is null`,
      [book, why],
    )
  await end('card_replaced')
  const seen = () =>
    query(
      `select t.is_on as "isOn", t.stopped_why as why, c.price_kopecks::int4 as price
       from top_ups t join top_up_consents c on c.id = t.consent_id where t.book_id = $1`,
      [book],
    )
  assert.deepEqual(await seen(), [{ isOn: false, why: 'owner', price: 130_000 }])
  await query(
    `insert into mandates (book_id, method_title, method_saved_at, pack_id, price_kopecks, credits,
       threshold, day_ceiling_kopecks, month_ceiling_kopecks, version, address)
     select book_id, title, saved_at, 'start', 140000, 35, 5, 140000, 280000, 'v2', '203.0.113.8'
     from saved_methods where book_id = $1`,
    [book],
  )
  assert.deepEqual(await seen(), [{ isOn: true, why: null, price: 140_000 }])
  await end('declined')
  assert.deepEqual(await seen(), [{ isOn: false, why: 'declined', price: 140_000 }])
})
