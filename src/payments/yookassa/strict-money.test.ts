// Strict amounts: the texts that a provider, a bug or a forger might write.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { kopecks, rublesText } from '../../units/kopecks.ts'
import { strictKopecks } from './strict-money.ts'

test('accepts digits, a dot and two digits', () => {
  const table: [string, bigint][] = [
    ['0.00', 0n],
    ['0.01', 1n],
    ['0.10', 10n],
    ['1.00', 100n],
    ['1300.00', 130_000n],
    ['9999999999999.99', 999_999_999_999_999n],
  ]
  for (const [text, amount] of table) assert.equal(strictKopecks(text), amount, text)
})

test('rejects everything else', () => {
  const texts = [
    ...['', '.', '.00', '1300', '1300.', '1300.0', '1300.000', '1300,00', '1 300.00', '1,300.00'],
    ...['+1300.00', '-1300.00', ' 1300.00', '1300.00 ', '1300.00\n', '01300.00', '00.50'],
    ...['1.3e3', '0x514.00', '१३००.००', '1300.٠٠', 'NaN', 'Infinity', '12345678901234.00'],
  ]
  for (const text of texts) assert.equal(strictKopecks(text), null, JSON.stringify(text))
  for (const value of [1300, 1300.5, null, undefined, true, {}, ['1300.00']]) {
    assert.equal(strictKopecks(value), null, String(value))
  }
})

test('parses every amount that we write', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 999_999_999_999_999n), (amount) => {
      assert.equal(strictKopecks(rublesText(kopecks(amount))), amount)
    }),
  )
})
