// Who may do what in the database: the checked-in matrix is what real connections of each role
// find, a stolen password of a program is not enough to forge or to erase, and `op roles check`
// sees every difference.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { migrate } from '../../src/platform/db/migrate.ts'
import { compareRoles, readGrants, readIntendedGrants } from '../../src/platform/db/role-grants.ts'
import { UnfitDatabase } from '../../src/platform/db/session.ts'
import { newInstanceId } from '../../src/platform/ids.ts'
import { urlAs } from '../../tools/program-roles.ts'
import { createTestDatabase, onServer, settingsOf, type TestDatabase } from '../support/harness.ts'
import { tryForbidden } from './forbidden.ts'
import { grantsText, rolesPage } from './table.ts'

const root = join(import.meta.dirname, '../..')
const open = { database: undefined as unknown as TestDatabase }
before(async () => {
  open.database = await createTestDatabase()
})
after(() => open.database.drop())

/** Runs as one role; the code of the error, or what it returned. */
async function as(role: string, sql: string): Promise<unknown> {
  return onServer((client) => client.query(sql), urlAs(open.database.url, role)).then(
    ({ rows }) => rows,
    (error: { code?: string }) => error.code,
  )
}

/** A code for one redemption. */
async function promoCode(code: string, purchasesMin = 0): Promise<void> {
  await open.database.db.query(
    `insert into promo_codes
       (code, credits, redemptions_max, purchases_min, starts_at, ends_at, created_by, note)
     values ($1, 5, 1, $2, now() - interval '1 hour', now() + interval '1 hour', 'olga', '')`,
    [code, purchasesMin],
  )
}

test('every table and function was tried as each role, and the matrix is checked in', async () => {
  const text = await grantsText(open.database)
  assert.equal(text, readFileSync(join(root, 'migrations/grants.txt'), 'utf8'))
  assert.equal(rolesPage(text), readFileSync(join(root, 'docs/database-roles.md'), 'utf8'))
})

test('what the catalogs say is what was tried', async () => {
  assert.deepEqual(await readGrants(open.database.db), readIntendedGrants().sort())
  assert.deepEqual(await compareRoles(open.database.db), [])
})

test('no password of a program is enough to forge, to erase or to switch a guard off', async () => {
  const { tried, allowed } = await tryForbidden(open.database.url)
  assert.deepEqual(allowed, [])
  assert.ok(tried > 90, `${tried} acts were tried`)
})

test('a gateway gets the candidates of one key and cannot list them', async () => {
  const { db } = open.database
  await db.query('insert into books (id) values (1), (2)')
  const hash = `$argon2id$v=19$${'h'.repeat(60)}`
  await db.query(
    `insert into keys (id, book_id, state, last4, hash)
     select 'key_' || repeat(n::text, 14), n, 'pending', 'last', $1 from generate_series(1, 2) n`,
    [hash],
  )
  const one = `select id from keys_candidates('key_${'1'.repeat(14)}', null)`
  assert.deepEqual(await as('tollgate_gateway', one), [{ id: `key_${'1'.repeat(14)}` }])
  assert.deepEqual(await as('tollgate_gateway', 'select * from keys_candidates(null, null)'), [])
  assert.equal(await as('tollgate_gateway', 'select id from keys'), '42501')
})

test('an order is credited with its own credits, once, and only while it is payable', async () => {
  const { db } = open.database
  await db.query('insert into books (id) values (7)')
  const [paid, refunded] = ['1', '2'].map((n) => `pay_${n.repeat(32)}`)
  for (const id of [paid, refunded]) {
    await db.query(
      `insert into orders (id, book_id, attempt, provider, method, state, pack_id, pack_title,
         credits, price_kopecks, catalogue_version, email, locale)
       values ($1, 7, $1, 'bank', 'card', $2, 'pack', 'Pack', 35, 1300, 1, 'a@example.com', 'ru')`,
      [id, id === paid ? 'pending' : 'refunded'],
    )
  }
  const credit = (id: string | undefined, payment = `'p'`) =>
    as(
      'tollgate_cabinet',
      `select outcome from orders_credit('${id}', ${payment}, now(), null, 'poll')`,
    )
  assert.deepEqual(await credit('pay_unknown'), [{ outcome: 'order_unknown' }])
  assert.deepEqual(await credit(refunded), [{ outcome: 'not_payable' }])
  assert.deepEqual(await credit(paid, 'null'), [{ outcome: 'not_payable' }])
  assert.deepEqual(await credit(paid), [{ outcome: 'posted' }])
  assert.deepEqual(await credit(paid), [{ outcome: 'credited' }])
  const { rows } = await db.query('select available from books where id = 7')
  assert.deepEqual(rows, [{ available: 35n }])
})

test('a code’s credits need its redemption, within the code’s limits', async () => {
  const { db } = open.database
  await db.query('insert into books (id) values (11), (12), (13)')
  await promoCode('SPRING')
  const credit = (book: number) =>
    as('tollgate_cabinet', `select outcome from promos_credit('SPRING', ${book})`)
  const redeem = (book: number) =>
    as(
      'tollgate_cabinet',
      `insert into promo_redemptions (code, book_id) values ('SPRING', ${book})`,
    )
  assert.deepEqual(await credit(11), [{ outcome: 'not_redeemed' }])
  await redeem(11)
  assert.deepEqual(await credit(11), [{ outcome: 'posted' }])
  assert.deepEqual(await credit(11), [{ outcome: 'repeated' }])
  await redeem(12)
  assert.deepEqual(await credit(12), [{ outcome: 'not_redeemed' }], 'one more than the code has')
  const raise = `update promo_codes set credits = 1000`
  assert.equal(await as('tollgate_cabinet', raise), '42501')
})

test('a code for one redemption is credited once, also by twenty who come at once', async () => {
  const { db, url } = open.database
  await db.query('insert into books (id) select 100 + n from generate_series(1, 20) n')
  await promoCode('ONCE')
  const clients = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const client = new pg.Client({ connectionString: urlAs(url, 'tollgate_cabinet') })
      await client.connect()
      await client.query('begin')
      await client.query(
        `insert into promo_redemptions (code, book_id) values ('ONCE', ${101 + i})`,
      )
      return client
    }),
  )
  const outcomes = await Promise.all(
    clients.map(async (client, i) => {
      const { rows } = await client.query(`select outcome from promos_credit('ONCE', ${101 + i})`)
      await client.query('commit')
      await client.end()
      return (rows[0] as { outcome: string }).outcome
    }),
  )
  assert.equal(outcomes.filter((one) => one === 'posted').length, 1, outcomes.join())
})

test('an unpaid order, or another book’s, opens no code', async () => {
  const { db } = open.database
  await db.query('insert into books (id) values (21), (22)')
  await promoCode('LOYAL', 1)
  const [unpaid, others] = ['3', '4'].map((n) => `pay_${n.repeat(32)}`)
  for (const [id, book] of [
    [unpaid, 21],
    [others, 22],
  ]) {
    await db.query(
      `insert into orders (id, book_id, attempt, provider, method, state, pack_id, pack_title,
         credits, price_kopecks, catalogue_version, email, locale)
       values ($1, $2, $1, 'bank', 'card', 'pending', 'pack', 'Pack', 35, 1300, 1, 'a@b.c', 'ru')`,
      [id, book],
    )
  }
  const pay = (id: string | undefined) =>
    as(
      'tollgate_cabinet',
      `select outcome from orders_credit('${id}', '${id}', now(), null, 'poll')`,
    )
  const opens = (id: string | undefined) =>
    as('tollgate_cabinet', `insert into promo_purchases values ('${id}', 'LOYAL', 21)`)
  const credit = () => as('tollgate_cabinet', `select outcome from promos_credit('LOYAL', 21)`)
  await as('tollgate_cabinet', `insert into promo_redemptions (code, book_id) values ('LOYAL', 21)`)
  await pay(others)
  await opens(others)
  assert.deepEqual(await credit(), [{ outcome: 'not_redeemed' }], 'it is another book’s')
  await opens(unpaid)
  assert.deepEqual(await credit(), [{ outcome: 'not_redeemed' }], 'it is not paid')
  await pay(unpaid)
  assert.deepEqual(await credit(), [{ outcome: 'posted' }])
})

test('op roles check sees rights too much and lost, strange owners and loose paths', async () => {
  const database = await createTestDatabase()
  const { db } = database
  try {
    await db.query('grant update on books to tollgate_gateway')
    await db.query('revoke select on orders from tollgate_worker')
    await db.query('alter table lots owner to tollgate_operator')
    await db.query('alter function ledger_open reset search_path')
    await db.query('create table stray ()')
    await db.query('grant select on stray to public')
    const found = await compareRoles(db)
    for (const line of [
      'too much: tollgate_gateway update books',
      'missing: tollgate_worker select orders',
      'wrong: lots belongs to tollgate_operator',
      'too much: tollgate_auditor select stray',
    ]) {
      assert.ok(found.includes(line), `${line} is not among\n${found.join('\n')}`)
    }
    assert.ok(found.some((line) => line.startsWith('wrong: ledger_open has its owner')))
    await db.query('alter table lots owner to current_user')
    await db.query('drop table stray')
    await db.query('alter function ledger_open() set search_path = pg_catalog, public, pg_temp')
    await migrate(settingsOf(database.url))
    assert.deepEqual(await compareRoles(db), [], 'migrate makes it right again')
  } finally {
    await database.drop()
  }
})

test('op roles check sees what others were granted, now or by default', async () => {
  const database = await createTestDatabase()
  const { db } = database
  const user = `tollgate_other_${newInstanceId().toString(36)}`
  await onServer((client) => client.query(`create role ${user}`))
  const jobs = 'graphile_worker._private_jobs'
  try {
    for (const [sql, ...lines] of [
      [`grant select on books to ${user}`, `too much: ${user} select books`],
      [`grant update (email) on orders to ${user}`, `too much: ${user} update orders (email)`],
      [`grant execute on function ledger_gift to ${user}`, `too much: ${user} execute ledger_gift`],
      [`grant create on schema public to ${user}`, `too much: ${user} create schema public`],
      [`grant execute on function ledger_gift to public`, 'too much: PUBLIC execute ledger_gift'],
      [
        'grant select on lots to tollgate_worker with grant option',
        'wrong: tollgate_worker may pass on select lots',
      ],
      [
        'alter default privileges grant execute on functions to tollgate_gateway',
        'too much: tollgate_gateway execute functions that postgres will make',
      ],
      [
        `alter default privileges in schema public grant select on tables to ${user}`,
        `too much: ${user} select tables that postgres will make`,
      ],
      [`create policy everybody on ${jobs} using (true)`, `wrong: the policy everybody on ${jobs}`],
      [`drop policy tollgate_worker on ${jobs}`, `missing: the policy tollgate_worker on ${jobs}`],
      [
        `drop policy tollgate_worker on ${jobs};
         create policy tollgate_worker on ${jobs} to tollgate_worker, ${user} using (true)`,
        `missing: the policy tollgate_worker on ${jobs}`,
        `wrong: the policy tollgate_worker on ${jobs}`,
      ],
      ['alter table books enable row level security', 'wrong: public.books has row level security'],
    ] as const) {
      const tx = db.transaction(async (one) => {
        await one.query(sql)
        const found = await compareRoles(one)
        for (const line of lines) assert.ok(found.includes(line), `${sql}:\n${found.join('\n')}`)
        throw new Error('roll back')
      })
      await assert.rejects(tx, /^Error: roll back$/)
    }
    assert.deepEqual(await compareRoles(db), [])
  } finally {
    await database.drop()
    await onServer((client) => client.query(`drop role ${user}`))
  }
})

test('a day that was restored for reading is no difference', async () => {
  const { db } = open.database
  await as('tollgate_keeper', 'create table entries_restored_20250101 (like entries)')
  assert.deepEqual(await compareRoles(db), [])
  await db.query('drop table entries_restored_20250101')
})

test('a user who may not make roles gets the SQL, and nothing is applied', async () => {
  const user = `tollgate_plain_${newInstanceId().toString(36)}`
  await onServer((client) => client.query(`create role ${user} login`))
  const name = `tollgate_plain_${newInstanceId().toString(36)}`
  await onServer((client) => client.query(`create database ${name} owner ${user}`))
  const url = new URL(urlAs(open.database.url, user))
  url.pathname = `/${name}`
  const printed: string[] = []
  const print = (line: string) => void printed.push(line)
  try {
    const error = await migrate(settingsOf(url.href), { print }).catch((one: unknown) => one)
    assert.ok(error instanceof UnfitDatabase, String(error))
    // The roles of the server exist already: other databases of these tests have made them.
    assert.deepEqual(printed, [`grant tollgate_keeper to "${user}";`])
    const tables = await onServer(
      (client) => client.query(`select from pg_tables where schemaname = 'public'`),
      url.href,
    )
    assert.equal(tables.rows.length, 0)
    await onServer((client) => client.query(printed.join('\n')))
    await migrate(settingsOf(url.href), { print })
    const found = await onServer((client) => compareRoles(client), url.href)
    assert.deepEqual(found, [], 'an owner without any other right is enough then')
  } finally {
    await onServer((client) => client.query(`drop database if exists ${name} (force)`))
    await onServer((client) => client.query(`drop role ${user}`))
  }
})
