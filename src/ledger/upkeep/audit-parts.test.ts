// Generated charges with every kind of part: the database and `recompute` compute the same price
// from what is stored, and the audit finds a price that differs by one microcredit.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, onServer } from '../../../test/support/harness.ts'
import type { LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { type ChargeParts, recompute } from '../../units/charge.ts'
import { credits, micro } from '../../units/credits.ts'
import { millionths, type Price } from '../../units/price.ts'
import { type TokenCounts, tokens } from '../../units/tokens.ts'

const CHARGES = 200
let database: TestDatabase
let ledger: TestLedger
let customer: LedgerCustomer

before(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
  customer = await createLedgerCustomer(ledger, 1_000_000_000)
})
after(async () => {
  await ledger.end()
  await database.drop()
})

const five = fc.array(fc.nat({ max: 3_000_000 }), { minLength: 5, maxLength: 5 })
const counts = five.map(
  ([input = 0, output = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0]): TokenCounts => ({
    ...{ input: tokens(input), output: tokens(output), cacheRead: tokens(cacheRead) },
    ...{ cacheWrite5m: tokens(cacheWrite5m), cacheWrite1h: tokens(cacheWrite1h) },
  }),
)
const price = five.map(
  ([input = 0, output = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0]): Price => ({
    ...{ input: millionths(input), coefficient: millionths(output) },
    ...{ cacheRead: millionths(cacheRead), cacheWrite5m: millionths(cacheWrite5m) },
    cacheWrite1h: millionths(cacheWrite1h),
  }),
)
const part = fc.record({ model: fc.constantFrom('a', 'b'), list: fc.constant(''), price })
const pass = fc.tuple(part, counts).map(([one, own]) => ({ ...one, counts: own }))
const use = fc.record({
  feature: fc.constantFrom('web_search', 'code_execution'),
  count: fc.nat({ max: 1_000 }),
  each: fc.nat({ max: 2_000_000_000 }).map((each) => micro(BigInt(each))),
})
const parts: fc.Arbitrary<ChargeParts> = fc.record(
  {
    served: part,
    passes: fc.array(pass, { minLength: 1, maxLength: 4 }),
    uses: fc.array(use, { minLength: 1, maxLength: 3 }),
    unlisted: fc.array(fc.string(), { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: [] },
)

test('the stored counts, price and parts of a charge make its price', async () => {
  const charges = fc.sample(fc.record({ counts, price, parts }), { numRuns: CHARGES, seed: 19 })
  for (const [i, one] of charges.entries()) {
    const tariff = await ledger.tariff({
      ...{ catalogueVersion: 1, model: 'model', list: `above=${i + 1}`, price: one.price },
    })
    const id = await customer.hold(10)
    await ledger.settle({
      ...customer.settleInput(id),
      ...{ counts: one.counts, parts: one.parts, tariff },
      priced: recompute({ ...one.counts, price: one.price, parts: one.parts }),
    })
  }
  assert.deepEqual(await ledger.audit('all'), [])
  const entries = await ledger.statement({ book: customer.book, beforeSeq: null, limit: CHARGES })
  for (const entry of entries) assert.equal(recompute(entry), entry.priced, `entry ${entry.seq}`)
  assert.equal(entries.filter((entry) => entry.parts !== null).length > CHARGES / 2, true)
  assert.equal(entries.filter(({ writtenOff }) => writtenOff !== credits(0)).length > 0, true)
})

test('a price that is one microcredit off is found, in each charge', async () => {
  const { rows } = await onServer(async (client) => {
    await client.query('set session_replication_role = replica; begin')
    await client.query(
      `update entries set priced = priced + 1, written_off = written_off + 1
       where kind = 'charge'`,
    )
    const found = await client.query(
      `select rule, count(*)::int4 from ledger_audit_charges() group by 1`,
    )
    await client.query('rollback')
    return found
  }, database.url)
  assert.deepEqual(rows, [{ rule: 'price', count: CHARGES }])
})
