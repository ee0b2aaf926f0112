// What may be typed as an amount, and what is no amount.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countOf, kopecksOf, wholeOf } from './amount.ts'

test('an amount is read as it is shown in either language, and as it is typed', () => {
  for (const text of ['5000000', '5 000 000', '5\u00a0000\u00a0000', '5,000,000', '05000000']) {
    assert.equal(wholeOf(text), '5000000')
  }
  assert.equal(kopecksOf('1 300'), '130000')
  assert.equal(countOf('3', 90), 3)
})

test('empty is no amount, and what cannot be read is not guessed', () => {
  assert.equal(wholeOf('  '), null)
  for (const text of ['0', '-5', 'five', '5 млн', '1'.repeat(13)]) {
    assert.equal(wholeOf(text), undefined, text)
  }
  assert.equal(countOf('91', 90), undefined)
})
