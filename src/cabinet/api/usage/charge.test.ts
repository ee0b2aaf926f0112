// What a charge is made of: every priced dimension has its line, in the log and in the statement,
// and the lines add up to the price.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChargeParts, Entry } from '../../../ledger/ledger.ts'
import { credits, micro } from '../../../units/credits.ts'
import { millionths, type Price } from '../../../units/price.ts'
import { noTokens, tokens } from '../../../units/tokens.ts'
import { chargeColumns } from '../statement/charge-text.ts'
import { statementWords } from '../statement/words.ts'
import { chargeOf } from './charge.ts'

/** In thousandths of a credit. */
function price(input: number, output: number, read: number, short: number, long: number): Price {
  const of = (thousandths: number) => millionths(thousandths * 1_000)
  return {
    ...{ input: of(input), coefficient: of(output), cacheRead: of(read) },
    ...{ cacheWrite5m: of(short), cacheWrite1h: of(long) },
  }
}

const fastLong = price(4_000, 15_000, 400, 5_000, 8_000)
const small = price(500, 2_500, 50, 625, 1_000)

function entry(list: string, given: Price, parts: ChargeParts | null, priced: bigint): Entry {
  const counts = { input: 100_000n, output: 20n, cacheRead: 5n, cacheWrite5m: 0n, cacheWrite1h: 0n }
  return {
    ...{ kind: 'charge', seq: 7n, model: 'model-large', price: given, list, parts },
    ...{ ...counts, priced: micro(priced) },
  } as unknown as Entry
}

test('a response by the list of its length and speed names that list', () => {
  const charged = entry('above=100000 speed=fast', fastLong, null, 400_302_000_000n)
  const { list, parts, answeredBy, passes, uses, unlisted } = chargeOf(charged)
  assert.deepEqual(list, {
    name: 'above=100000 speed=fast',
    above: '100000',
    values: { speed: 'fast' },
  })
  assert.deepEqual(
    parts.map(({ kind, tokens: count, weight, credits: cost }) =>
      [kind, count, weight, cost.exact].join(' '),
    ),
    ['input 100000 4 400000', 'output 20 15 300', 'cacheRead 5 0.4 2'],
  )
  assert.deepEqual([answeredBy, passes, uses, unlisted], [null, [], [], []])
  assert.deepEqual(chargeColumns(charged, statementWords.en), {
    prices: 'prompt above 100000 tokens, speed fast',
    others: null,
  })
})

const rare: ChargeParts = {
  served: { model: 'model-small', list: 'inference_geo=us', price: small },
  passes: [
    {
      ...{ model: 'model-advisor', list: '', price: price(2_000, 10_000, 200, 2_500, 4_000) },
      counts: { ...noTokens, input: tokens(300), output: tokens(40) },
    },
    {
      ...{ model: 'model-large', list: 'above=100000', price: fastLong },
      counts: { ...noTokens, cacheWrite1h: tokens(9) },
    },
  ],
  uses: [{ feature: 'web_search', count: 3, each: credits(2_500) }],
  unlisted: ['speed', 'iterations', 'server_tool_use.other'],
}
// 100000 × 0.5 + 20 × 2.5 + 5 × 0.05, 300 × 2 + 40 × 10, 9 × 8, 3 × 2500
const rarePriced = 50_050_250_000n + 1_000_000_000n + 72_000_000n + 7_500_000_000n

test('another model, hidden passes and tools each have their own price', () => {
  const charge = chargeOf(entry('', fastLong, rare, rarePriced))
  assert.equal(charge.answeredBy, 'model-small')
  assert.deepEqual(charge.list?.values, { inference_geo: 'us' })
  assert.deepEqual(
    charge.parts.map((part) => part.weight),
    ['0.5', '2.5', '0.05'],
  )
  assert.deepEqual(
    charge.passes.map(({ model, list, parts }) => [model, list.above, parts.length]),
    [
      ['model-advisor', '0', 2],
      ['model-large', '100000', 3],
    ],
  )
  const [use] = charge.uses
  assert.deepEqual([use?.count, use?.each, use?.credits.exact], ['3', '2500', '7500'])
  assert.deepEqual(charge.unlisted, ['speed'])
})

test('the statement names the same parts in the language of its owner', () => {
  const { prices, others } = chargeColumns(entry('', fastLong, rare, 0n), statementWords.ru)
  assert.equal(prices, 'ответила модель model-small, регион us')
  assert.equal(
    others,
    'model-advisor: 300 × 2 + 40 × 10; model-large, запрос больше 100000 токенов: 9 × 8; ' +
      'web_search: 3 × 2500',
  )
  const plain = chargeColumns(entry('', fastLong, null, 0n), statementWords.ru)
  assert.deepEqual(plain, { prices: null, others: null })
})

test('parts that do not add up to the price are not shown', () => {
  const wrong = entry('', fastLong, rare, rarePriced + 1n)
  assert.throws(() => chargeOf(wrong), /charge 7 is priced/)
})
