// Which typed texts are amounts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countOf, kopecksOf, wholeOf } from './amount.ts'

test('reads an amount with the separators of either language and without any', () => {
  for (const text of ['5000000', '5 000 000', '5\u00a0000\u00a0000', '5,000,000', '05000000']) {
    assert.equal(wholeOf(text), '5000000')
  }
  assert.equal(kopecksOf('1 300'), '130000')
  assert.equal(countOf('3', 90), 3)
})

test('reads empty text as no amount and rejects invalid text', () => {
  assert.equal(wholeOf('  '), null)
  for (const text of ['0', '-5', 'five', '5 млн', '1'.repeat(13)]) {
    assert.equal(wholeOf(text), undefined, text)
  }
  assert.equal(countOf('91', 90), undefined)
})
