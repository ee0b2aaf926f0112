// E-mails about orders in both languages: amounts, plural endings, escaping.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brand } from '../../../test/stages/payments.ts'
import { newOrderId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { kopecks } from '../../units/kopecks.ts'
import { orderEmail, orderEmailKinds } from './emails.ts'

const order = {
  id: newOrderId(0, 0),
  email: 'owner@example.org',
  locale: 'ru',
  price: kopecks(130_000),
  credits: credits(35_000_000),
} as const

/** A brand with a mark of HTML; it is the only text that comes from outside. */
const marked = { ...brand, name: 'Toll<gate>' }

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

for (const kind of orderEmailKinds) {
  for (const locale of ['ru', 'en'] as const) {
    test(`the ${locale} e-mail ${kind} names the order and escapes the brand`, () => {
      const letter = orderEmail(kind, { ...order, locale }, marked, 'once')
      assert.deepEqual([letter.to, letter.kind, letter.once], ['owner@example.org', kind, 'once'])
      assert.doesNotMatch(letter.subject, /[\r\n]/)
      for (const body of [letter.text, letter.html]) {
        assert.ok(body.includes(order.id))
        assert.ok(body.includes(brand.supportEmail))
        assert.doesNotMatch(body, /undefined|null|NaN|\[object/)
      }
      assert.doesNotMatch(letter.html, /<gate>/)
      assert.ok(letter.html.startsWith('<!doctype html>'))
    })
  }
}

test('mentions a debt only if there is one', () => {
  const refund = (debt: number) =>
    orderEmail('payment-refunded', order, brand, 'once', { debt: credits(debt) }).text
  assert.match(plain(refund(5)), /долг 5 кредитов/)
  assert.doesNotMatch(refund(0), /долг/)
})

test('a receipt e-mail has the price per million credits', () => {
  const text = (locale: 'ru' | 'en') =>
    plain(orderEmail('payment-credited', { ...order, locale }, brand, 'once').text)
  assert.match(text('ru'), /35 000 000 кредитов, это 37,15 ₽ за миллион кредитов\./)
  assert.match(text('en'), /35,000,000 credits, that is RUB 37\.15 per million credits\./)
})
