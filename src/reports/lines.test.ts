// Tests of VAT, of differences between two counts of a month, and of the text that is sealed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { corrected, differencesOf, type FigureLine } from './lines.ts'
import { vatOf, vatPercent } from './vat.ts'

test('the VAT of an amount is rounded to the nearest kopeck', () => {
  assert.equal(vatOf(130_000n, 4), 21_667n)
  assert.equal(vatOf(130_000n, 11), 23_443n)
  assert.equal(vatOf(99_907n, 3), 9_082n)
  assert.equal(vatOf(107n, 8), 7n)
  assert.deepEqual([vatOf(130_000n, 1), vatOf(130_000n, 2)], [0n, 0n])
  assert.deepEqual([vatPercent(1), vatPercent(2), vatPercent(12)], [null, 0n, 22n])
})

const line = (figure: string, value: bigint | null): FigureLine => ({
  section: 'money',
  item: '',
  figure,
  unit: 'roubles',
  value,
})

test('two counts differ where a figure changed, came, went or became known', () => {
  const before = [line('taken', 5n), line('same', 1n), line('gone', 2n), line('unknown', null)]
  const now = [line('taken', 7n), line('same', 1n), line('new', 3n), line('unknown', 4n)]
  const found = differencesOf(before, now)
  assert.deepEqual(
    found.map((one) => [one.figure, one.before, one.now, one.difference]).toSorted(),
    [
      ['gone', 2n, 0n, -2n],
      ['new', 0n, 3n, 3n],
      ['taken', 5n, 7n, 2n],
      ['unknown', null, 4n, 4n],
    ],
  )
  assert.deepEqual(differencesOf(corrected(before, found), now), [])
})
