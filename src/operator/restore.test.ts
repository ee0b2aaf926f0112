// Tests of op restore: what the provider and the logs know and the database does not have is named,
// and brought back once. test/faults/restore/ restores a real server.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import { createTestDatabase, createTestLedger } from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import { type BookId, newHoldId, newOrderId } from '../platform/ids.ts'
import { credits, wholeCredits } from '../units/credits.ts'
import { kopecks } from '../units/kopecks.ts'
import { ONE } from '../units/price.ts'
import { noTokens, tokens } from '../units/tokens.ts'

const since = new Date(Date.now() - 60_000).toISOString()
let stage: OperatorStage
let directory: string

before(async () => {
  stage = await createOperatorStage()
  directory = await mkdtemp(join(tmpdir(), 'tollgate-charges-'))
})
after(async () => {
  await stage.end()
  await rm(directory, { recursive: true, force: true })
})

const op = (verb: string, ...more: string[]) =>
  stage.op(['--yes', 'restore', verb, directory, '--since', since, ...more])

/** A payment whose order is not in the database. */
async function payLost(book: BookId, isTopUp = false): Promise<string> {
  const order = newOrderId(0, Date.now())
  const { body } = stage.provider.draftPayment({
    ...{ order, sale: { book, packId: 'pack-35m', catalogueVersion: 1, isTopUp } },
    ...{ price: kopecks(130_000), method: 'card', title: 'Pack', credits: credits(35_000_000) },
    ...{ email: 'anna@example.org', locale: 'ru', returnUrl: 'https://cabinet.example.org/' },
    ...{ savesMethod: false, savedMethodId: null },
  })
  await stage.provider.createPayment(order, body)
  await stage.sim('pay', { orderId: order })
  await stage.sim('settle')
  return order
}

/** A charge that only the log has: it was made on another database. */
async function chargeLost(book: BookId, whole: number): Promise<void> {
  const database = await createTestDatabase()
  const ledger = await createTestLedger(database.url, {
    ...{ spoolDirectory: directory, clock: systemClock },
  })
  while ((await ledger.createBook(database.db)) < book);
  const bought = { book, kind: 'purchase', ref: 'pack', amount: credits(whole) } as const
  await database.db.transaction((tx) =>
    ledger.credit(tx, { ...bought, contra: 'clearing', note: '' }),
  )
  const price = {
    input: ONE,
    coefficient: ONE,
    cacheRead: ONE,
    cacheWrite5m: ONE,
    cacheWrite1h: ONE,
  }
  const tariff = await ledger.tariff({ catalogueVersion: 1, model: 'm', price })
  const id = newHoldId(0, Date.now())
  const worst = credits(whole)
  await ledger.hold({ id, book, tariff, fence: 0n, worst, floor: worst })
  await ledger.settle({
    ...{ id, book, tariff, priced: worst, counts: { ...noTokens, input: tokens(whole) } },
    ...{ ending: 'complete', isEstimated: false, messageId: null },
  })
  await ledger.end()
  await database.drop()
}

test('a lost purchase and a lost charge are named, and brought back once', async () => {
  const anna = await stage.person('anna')
  const order = await payLost(anna.book)
  await chargeLost(anna.book, 1_000)
  const found = await op('check')
  assert.equal(found.code, 1, found.err)
  assert.match(found.out, /missing: 1 charges, 1 000 credits {2}anna@example\.org/)
  assert.match(found.out, new RegExp(`order_unknown {2}payment \\S+ {2}${order}`))
  const done = await op('repair')
  assert.equal(done.code, 0, done.err)
  assert.match(done.out, /payments asked for: 1, charges taken: 1,/)
  assert.match((await op('check')).out, /nothing is missing/)
  await op('repair')
  const book = await stage.ledger.balance(anna.book)
  assert.equal(wholeCredits(book?.available ?? credits(0)), 34_999_000n)
  assert.deepEqual(await stage.ledger.audit('all'), [])
})

test('a payment of an account that is lost becomes a review', async () => {
  await payLost(4_000n as BookId)
  assert.equal((await op('check')).code, 1)
  assert.equal((await op('repair')).code, 0)
  assert.match((await stage.op(['reviews', 'list'])).out, /order_unknown/)
})

test('a moment too long ago or in the future, and a missing directory, are refused', async () => {
  const old = await stage.op(['restore', 'check', directory, '--since', '2026-01-01'])
  assert.equal(old.code, 2)
  const ahead = new Date(Date.now() + 3_600_000).toISOString()
  const future = await stage.op(['restore', 'check', directory, '--since', ahead])
  assert.equal(future.code, 2, future.out)
  const missing = await stage.op(['restore', 'check', '/not/there', '--since', since])
  assert.equal(missing.code, 1)
  assert.match(missing.err, /\/not\/there is not a directory/)
})

test('a check that was not given the log of a gateway does not pass', async () => {
  await stage.database.db.query(
    `insert into instances (id, role, host, spool_directory, started_at, beat_at)
     values (700, 'gateway', 'gate-2', '/spool', ledger_now(), ledger_now())`,
  )
  const found = await op('check')
  await stage.database.db.query('delete from instances where id = 700')
  assert.match(found.out, /no charge log of \/spool on gate-2 was given/)
  assert.equal(found.code, 1)
  assert.equal((await op('check')).code, 0)
})

test('charges wait for payments that could not be read, and are not written off', async () => {
  const boris = await stage.person('boris')
  await payLost(boris.book)
  await chargeLost(boris.book, 2_000)
  await stage.sim('faults', { kind: 'error', method: 'GET', times: null })
  const failed = await op('repair')
  await stage.sim('faults', {}, 'DELETE')
  assert.equal(failed.code, 1, failed.out)
  assert.equal((await op('repair')).code, 0)
  const book = await stage.ledger.balance(boris.book)
  assert.equal(wholeCredits(book?.available ?? credits(0)), 34_998_000n)
})

test('a payment captured before the moment and not credited by then is found too', async () => {
  const vera = await stage.person('vera')
  await payLost(vera.book)
  await chargeLost(vera.book, 3_000)
  const now = new Date().toISOString()
  const later = await stage.op(['--yes', 'restore', 'repair', directory, '--since', now])
  assert.equal(later.code, 0, later.err)
  const book = await stage.ledger.balance(vera.book)
  assert.equal(wholeCredits(book?.available ?? credits(0)), 34_997_000n)
})

test('a payment of a lost account is not credited to one that got its number', async () => {
  const before = await stage.person('gleb')
  await payLost((before.book + 1n) as BookId)
  const next = await stage.person('dina')
  assert.equal(next.book, before.book + 1n)
  assert.equal((await op('repair')).code, 0)
  const book = await stage.ledger.balance(next.book)
  assert.equal(book?.available, credits(0))
})

test('a top-up that was lost counts towards the ceilings of its mandate again', async () => {
  const { book } = await stage.person('yana')
  const order = await payLost(book, true)
  assert.equal((await op('repair')).code, 0)
  const { rows } = await stage.db.query(
    `select is_top_up as "isTopUp", state from orders where id = $1`,
    [order],
  )
  assert.deepEqual(rows, [{ isTopUp: true, state: 'credited' }])
})
