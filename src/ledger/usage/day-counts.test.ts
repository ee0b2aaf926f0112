// Tests of the counts of a day: charges, passes, uses, and requests without a charge that the
// vendor may bill.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestLedger,
  type TestDatabase,
  type TestLedger,
} from '../../../test/support/harness.ts'
import { createLedgerCustomer, type LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { micro } from '../../units/credits.ts'
import type { FreeEnding, PaidEnding } from '../../units/endings.ts'
import { ONE } from '../../units/price.ts'
import { noTokens, type TokenCounts, tokens } from '../../units/tokens.ts'
import type { RequestDetails } from '../details.ts'

let database: TestDatabase
let ledger: TestLedger
let customer: LedgerCustomer
const today = new Date().toISOString().slice(0, 10)
const price = { input: ONE, coefficient: ONE, cacheRead: ONE, cacheWrite5m: ONE, cacheWrite1h: ONE }
const sent: RequestDetails = { waitedMs: 1, totalMs: 5, target: 'east' }

before(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
})
after(async () => {
  await ledger.end()
  await database.drop()
})

async function counts() {
  const { counted, used, acrossMidnight } = await ledger.dayCounts(today)
  const own = (one: { model: string }) => one.model.endsWith(String(customer.book))
  return {
    counted: counted.filter(own).map((one) => ({ ...one, model: one.model.split(' ')[0] })),
    used: used.filter(own),
    acrossMidnight: acrossMidnight.filter(own),
  }
}

/** A customer whose model is its own, so that tests do not see each other. */
async function begin(): Promise<number> {
  customer = await createLedgerCustomer(ledger, 100_000)
  return ledger.tariff({ catalogueVersion: 1, model: `model ${customer.book}`, price })
}

async function charge(
  tariff: number,
  more: {
    counts?: Partial<TokenCounts>
    ending?: PaidEnding
    isEstimated?: boolean
    details?: RequestDetails
    parts?: object
  } = {},
): Promise<void> {
  const all = { ...noTokens, input: tokens(10), output: tokens(2), ...more.counts }
  const priced = Object.values(all).reduce<bigint>((sum, one) => sum + one, 0n) * 1_000_000n
  await ledger.settle({
    ...customer.settleInput(await customer.hold()),
    ...{ tariff, details: sent, ...more, counts: all, priced: micro(priced) },
  })
}

async function release(ending: FreeEnding, details: RequestDetails, parts?: object): Promise<void> {
  const id = await customer.hold()
  const { book, tariff } = customer
  await ledger.void({ ...{ id, book, tariff, ending, details }, reason: '', parts: parts ?? null })
}

test('adds up charges by list, upstream and certainty', async () => {
  const tariff = await begin()
  await charge(tariff, { counts: { cacheRead: tokens(7) } })
  await charge(tariff)
  await charge(tariff, { ending: 'client_left', isEstimated: true })
  await charge(tariff, { details: { ...sent, target: 'west' } })
  const { counted } = await counts()
  assert.deepEqual(
    counted.map(({ target, ending, certainty, requests, counts: sum, charged }) => [
      ...[target, ending, certainty, requests, sum.input, sum.output, sum.cacheRead, charged],
    ]),
    [
      ['east', 'client_left', 'estimated', 1, 10n, 2n, 0n, 12_000_000n],
      ['east', 'complete', 'reported', 2, 20n, 4n, 7n, 31_000_000n],
      ['west', 'complete', 'reported', 1, 10n, 2n, 0n, 12_000_000n],
    ],
  )
})

test('counts passes and another model’s answer by the model that ran, and uses', async () => {
  const tariff = await begin()
  const pass = { model: `other ${customer.book}`, list: 'speed=fast', price }
  const passes = [{ ...pass, counts: { ...noTokens, output: tokens(3) } }]
  const uses = [{ feature: 'web_search', count: 2, each: micro(0n) }]
  await charge(tariff, { parts: { passes, uses, served: pass } })
  const { counted, used } = await counts()
  assert.deepEqual(
    counted.map(({ model, list, requests, counts: sum }) => [model, list, requests, sum.output]),
    [['other', 'speed=fast', 1, 5n]],
  )
  assert.deepEqual(
    used.map(({ feature, count }) => [feature, count]),
    [['web_search', 2n]],
  )
})

test('keeps what a failed reply had reported, and leaves out what no vendor bills', async () => {
  await begin()
  const model = `seen ${customer.book}`
  const seen = { model, list: '', counts: { ...noTokens, input: tokens(50) } }
  await release('upstream_failed', { ...sent, status: 200 }, { seen })
  await release('refused', { ...sent, status: 529 })
  await release('given_up', {})
  const { counted } = await counts()
  assert.deepEqual(
    counted.map(({ model: name, ending, certainty, requests, counts: sum, charged }) => [
      ...[name, ending, certainty, requests, sum.input, charged],
    ]),
    [['seen', 'upstream_failed', 'seen', 1, 50n, 0n]],
  )
  const [entry] = await ledger
    .statement({ book: customer.book, beforeSeq: null, limit: 3 })
    .then((entries) => entries.filter(({ ending }) => ending === 'upstream_failed'))
  assert.deepEqual(entry?.parts, { seen })
})

test('names requests that were sent and reported nothing', async () => {
  await begin()
  await release('upstream_failed', sent)
  await release('process_lost', {})
  const { counted } = await ledger.dayCounts(today)
  const unknown = counted.filter(({ certainty }) => certainty === 'unknown')
  assert.deepEqual(unknown.map(({ ending, requests }) => [ending, requests]).toSorted(), [
    ['process_lost', 1],
    ['upstream_failed', 1],
  ])
})

test('names requests that ran at midnight on both days', async () => {
  const tariff = await begin()
  await charge(tariff, { details: { ...sent, totalMs: 86_400_000 } })
  const { counted } = await counts()
  assert.deepEqual(
    counted.map(({ certainty, counts: sum }) => [certainty, sum.input]),
    [['midnight', 10n]],
  )
  const yesterday = new Date(Date.parse(today) - 86_400_000).toISOString().slice(0, 10)
  const before = await ledger.dayCounts(yesterday)
  assert.deepEqual(
    before.acrossMidnight.map(({ target, requests }) => [target, requests]),
    [['east', 1]],
  )
  assert.deepEqual(before.counted, [])
})
