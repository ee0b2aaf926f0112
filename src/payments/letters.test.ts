// Letters in both languages: the right numbers, the right endings, nothing unescaped.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brand } from '../../test/payments.ts'
import { newOrderId } from '../platform/ids.ts'
import { credits } from '../units/credits.ts'
import { kopecks } from '../units/kopecks.ts'
import { counted, letterOf, money } from './letters.ts'

const order = {
  id: newOrderId(0, 0),
  email: 'owner@example.org',
  locale: 'ru',
  packTitle: '35 млн <кредитов> & "подарок"',
  price: kopecks(130_000),
  credits: credits(35_000_000),
} as const

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

test('money and credits are written as people write them', () => {
  assert.equal(plain(money(kopecks(130_000), 'ru')), '1 300,00 ₽')
  assert.equal(plain(money(kopecks(123_456_705), 'en')), 'RUB 1,234,567.05')
  const endings: [number, string][] = [
    [1, '1 кредит'],
    [2, '2 кредита'],
    [5, '5 кредитов'],
    [11, '11 кредитов'],
    [21, '21 кредит'],
    [112, '112 кредитов'],
    [35_000_000, '35 000 000 кредитов'],
  ]
  for (const [count, text] of endings) assert.equal(plain(counted(credits(count), 'ru')), text)
  assert.equal(counted(credits(1), 'en'), '1 credit')
  assert.equal(counted(credits(35_000_000), 'en'), '35,000,000 credits')
})

const kinds = [
  'payment-credited',
  'payment-review',
  'payment-refunded',
  'refund-canceled',
  'dispute-opened',
  'dispute-won',
  'dispute-lost',
] as const
for (const kind of kinds) {
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
