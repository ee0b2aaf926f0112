// Tests of what an entry says about its request: each detail is written and read under its own
// name, by all four functions of the database; and what does not fit its column is left out.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { TestDatabase, TestLedger } from '../../test/support/harness.ts'
import { createTestDatabase, createTestLedger } from '../../test/support/harness.ts'
import type { LedgerCustomer } from '../../test/support/ledger-customer.ts'
import { createLedgerCustomer } from '../../test/support/ledger-customer.ts'
import type { Row } from '../platform/db/statement.ts'
import { credits } from '../units/credits.ts'
import { ONE } from '../units/price.ts'
import { noTokens, tokens } from '../units/tokens.ts'
import { type SettleInput, settleVerb, type Verb, type VoidInput, voidVerb } from './calls.ts'
import type { RequestDetails } from './details.ts'
import type { Entry } from './queries.ts'

let database: TestDatabase
let ledger: TestLedger
let customer: LedgerCustomer
let fast: number

const price = { input: ONE, coefficient: ONE, cacheRead: ONE, cacheWrite5m: ONE, cacheWrite1h: ONE }
const details: Required<RequestDetails> = {
  ...{ firstByteMs: 1, totalMs: 2, waitedMs: 3, bytesIn: 4, bytesOut: 5, status: 6, retries: 7 },
  ...{ isStream: true, stopReason: 'stop', errorType: 'error', target: 'target/1' },
  ...{ vendorRequestId: 'req_1', serviceTier: 'tier', sessionId: 'session', agentId: 'agent' },
  ...{ parentAgentId: 'parent', label: 'a label' },
}
const parts = {
  passes: [{ model: 'other', list: '', price, counts: { ...noTokens, output: tokens(10) } }],
  unlisted: ['speed', 'new_member'],
}

before(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
  customer = await createLedgerCustomer(ledger, 100_000)
  const list = 'speed=fast'
  fast = await ledger.tariff({ catalogueVersion: 1, model: 'model', list, price })
})
after(async () => {
  await ledger.end()
  await database.drop()
})

describe('a settle', () => {
  const explained = async (): Promise<SettleInput> => ({
    ...customer.settleInput(await customer.hold()),
    ...{ tariff: fast, parts, details, priced: credits(40) },
  })

  test('stores price list, parts and every detail, alone and in an array', async () => {
    const inputs = [await explained(), await explained(), await explained()] as const
    await run(settleVerb, [inputs[0]])
    const ordinary = customer.settleInput(await customer.hold())
    await run(settleVerb, [ordinary, inputs[1], inputs[2]])
    for (const { id } of inputs) {
      const entry = await find(id)
      assert.deepEqual(entry?.details, details)
      assert.deepEqual(entry?.parts, parts)
      assert.deepEqual([entry?.list, entry?.model, entry?.price], ['speed=fast', 'model', price])
    }
    const other = await find(ordinary.id)
    assert.deepEqual([other?.details, other?.parts, other?.list], [{}, null, ''])
    assert.deepEqual(await ledger.audit('all'), [])
  })

  test('that is not ordinary stores the same, one after the other', async () => {
    const [first, second] = [await explained(), await explained()]
    await run(settleVerb, [first])
    // The repeat makes PostgreSQL take the elements one by one.
    assert.deepEqual(
      (await run(settleVerb, [first, second])).map(({ outcome }) => outcome),
      ['settled', 'settled'],
    )
    const entry = await find(second.id)
    assert.deepEqual([entry?.details, entry?.parts, entry?.list], [details, parts, 'speed=fast'])
  })

  test('is the same again only with the same price list; its details do not matter', async () => {
    const input = await explained()
    const { tariff: _, ...unnamed } = input
    const again = async (one: SettleInput) => (await run(settleVerb, [one]))[0]?.outcome
    assert.equal(await again(input), 'settled')
    assert.equal(await again({ ...input, details: {} }), 'settled')
    assert.equal(await again({ ...input, tariff: customer.tariff }), 'mismatch')
    // The version before does not send a price list.
    assert.equal(await again(unnamed), 'settled')
  })

  test('of the version before is charged by the list of its hold', async () => {
    const [one, two] = [customer.settleInput(await customer.hold()), await customer.hold()]
    const { id, book } = one
    const call = `12, 18, 0, 0, 0, 30000000, 'complete', false, null`
    const single = await database.db.query(
      `select * from ledger_settle(true, ${dayOf(id)}, '${id}', ${book}, ${call})`,
    )
    assert.deepEqual(single.rows, [
      {
        ...{ outcome: 'settled', amount: credits(30), written_off: 0n },
        available: (await ledger.balance(book))?.available,
      },
    ])
    const many = await database.db.query(
      `select outcomes from ledger_settle_many(true, '{${dayOf(two)}}', '{${two}}', '{${book}}',
         '{12}', '{18}', '{0}', '{0}', '{0}', '{30000000}', '{complete}', '{f}', '{null}')`,
    )
    assert.deepEqual(many.rows, [{ outcomes: 'settled' }])
    for (const hold of [id, two]) {
      const entry = await find(hold)
      assert.deepEqual([entry?.list, entry?.details, entry?.priced], ['', {}, credits(30)])
    }
    assert.deepEqual(await ledger.audit('all'), [])
  })
})

describe('a void', () => {
  const input = async (): Promise<VoidInput> => ({
    ...{ id: await customer.hold(), book: customer.book, tariff: customer.tariff },
    ...{ ending: 'refused', reason: 'a test', details },
  })

  test('stores every detail, alone and in an array', async () => {
    const inputs = [await input(), await input(), await input()] as const
    const verb = voidVerb(1n)
    await run(verb, [inputs[0]])
    await run(verb, [inputs[1], inputs[2]])
    for (const { id } of inputs) {
      const entry = await find(id)
      assert.deepEqual([entry?.details, entry?.kind], [details, 'void'])
    }
  })

  test('of the version before is stored', async () => {
    const [one, two] = [await customer.hold(), await customer.hold()]
    const { book, tariff } = customer
    await database.db.query(
      `select ledger_void(true, 1, ${dayOf(one)}, '${one}', ${book}, ${tariff}, 'refused', 'x')`,
    )
    const many = await database.db.query(
      `select ledger_void_many(true, 1, '{${dayOf(two)}}', '{${two}}', '{${book}}', '{${tariff}}',
         '{refused}', '{x}') as outcomes`,
    )
    assert.deepEqual(many.rows, [{ outcomes: 'voided' }])
    for (const id of [one, two]) assert.equal((await find(id))?.note, 'x')
  })
})

test('what does not fit its column is cut or left out', async () => {
  const settle = async (given: RequestDetails) => {
    const one = { ...customer.settleInput(await customer.hold()), details: given }
    await ledger.settle(one)
    return (await find(one.id))?.details
  }
  assert.deepEqual(await settle({ bytesOut: 2 ** 40, totalMs: 12.7, status: 99_999, retries: 0 }), {
    ...{ bytesOut: 2 ** 31 - 1, totalMs: 12, status: 2 ** 15 - 1, retries: 0 },
  })
  assert.deepEqual(await settle({ firstByteMs: -1, waitedMs: Number.NaN, isStream: false }), {
    isStream: false,
  })
  const [long, longest] = ['x'.repeat(65), 'x'.repeat(64)]
  assert.deepEqual(await settle({ label: long, agentId: longest, sessionId: '' }), {
    agentId: longest,
  })
  for (const label of ['it is "so"', "it's", 'a\\b', 'ё', 'a\nb', 'a\u0000b', '\u007f']) {
    assert.deepEqual(await settle({ label }), {}, JSON.stringify(label))
  }
})

/** Runs a verb: one operation by its one-row form, several by the array form. */
async function run<Input, Result>(verb: Verb<Input, Result>, inputs: readonly Input[]) {
  const [first] = inputs as readonly [Input]
  const isOne = inputs.length === 1
  const { text, values } = isOne ? verb.statement(first) : verb.arrayStatement(inputs, true)
  const { rows } = await database.db.query(text, [...values])
  const row = Object.values(rows[0] as object).map((v) => (v === null ? v : String(v))) as Row
  return isOne ? [verb.readResult(row)] : verb.readResults(row, inputs)
}

async function find(id: SettleInput['id']): Promise<Entry | undefined> {
  return ledger.usage.find(customer.book, id)
}

function dayOf(id: SettleInput['id']): number {
  return Math.floor(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) / 86_400_000)
}
