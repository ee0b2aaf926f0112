// Letters in both languages: the right numbers, the right endings, nothing unescaped.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brand } from '../../../test/stages/payments.ts'
import { newOrderId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { kopecks } from '../../units/kopecks.ts'
import { letterKinds, letterOf } from './letters.ts'

const order = {
  id: newOrderId(0, 0),
  email: 'owner@example.org',
  locale: 'ru',
  packTitle: '35 млн <кредитов> & "подарок"',
  price: kopecks(130_000),
  credits: credits(35_000_000),
} as const

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

for (const kind of letterKinds) {
  for (const locale of ['ru', 'en'] as const) {
    test(`the ${locale} letter ${kind} names the order and escapes the title`, () => {
      const letter = letterOf(kind, { ...order, locale }, brand, 'once')
      assert.deepEqual([letter.to, letter.kind, letter.once], ['owner@example.org', kind, 'once'])
      assert.doesNotMatch(letter.subject, /[\r\n]/)
      for (const body of [letter.text, letter.html]) {
        assert.ok(body.includes(order.id))
        assert.ok(body.includes(brand.supportEmail))
        assert.doesNotMatch(body, /undefined|null|NaN|\[object/)
      }
      assert.doesNotMatch(letter.html, /<кредитов>/)
      assert.ok(letter.html.startsWith('<!doctype html>'))
    })
  }
}

test('a debt is told only where there is one', () => {
  const refund = (debt: number) =>
    letterOf('payment-refunded', order, brand, 'once', { debt: credits(debt) }).text
  assert.match(plain(refund(5)), /долг 5 кредитов/)
  assert.doesNotMatch(refund(0), /долг/)
})
