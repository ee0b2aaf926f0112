// Tests of amounts in e-mails: digit groups, currency signs and Russian plural forms.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credits } from './credits.ts'
import { creditsPhrase, moneyPhrase } from './email-amounts.ts'
import { kopecks } from './kopecks.ts'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

test('formats money and credits in Russian and in English', () => {
  assert.equal(plain(moneyPhrase(kopecks(130_000), 'ru')), '1 300,00 ₽')
  assert.equal(plain(moneyPhrase(kopecks(123_456_705), 'en')), 'RUB 1,234,567.05')
  const endings: [number, string][] = [
    [1, '1 кредит'],
    [2, '2 кредита'],
    [5, '5 кредитов'],
    [11, '11 кредитов'],
    [21, '21 кредит'],
    [112, '112 кредитов'],
    [35_000_000, '35 000 000 кредитов'],
  ]
  for (const [count, text] of endings)
    assert.equal(plain(creditsPhrase(credits(count), 'ru')), text)
  assert.equal(creditsPhrase(credits(1), 'en'), '1 credit')
  assert.equal(creditsPhrase(credits(35_000_000), 'en'), '35,000,000 credits')
})
