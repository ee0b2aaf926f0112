// Spellings of an e-mail address that reach one mailbox.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeAddress } from './normalize-address.ts'

test('spellings of one mailbox are one address', () => {
  const same = [
    ['Anna@Example.org', 'anna@example.org'],
    ['anna+sale@example.org', 'anna@example.org'],
    ['an.na+1@gmail.com', 'anna@gmail.com'],
    ['anna@googlemail.com', 'anna@gmail.com'],
    ['an.na@ya.ru', 'an-na@yandex.ru'],
    ['an-na@yandex.com', 'an-na@yandex.ru'],
    ['an-na@narod.ru', 'an-na@yandex.ru'],
    ['an.na@pm.me', 'anna@proton.me'],
    ['an.na@me.com', 'an.na@icloud.com'],
    ['+tag@example.org', '+tag@example.org'],
  ] as const
  for (const [given, normal] of same) assert.equal(normalizeAddress(given), normal, given)
  const others = ['an.na@example.org', 'an-na@gmail.com', 'anna@mail.ru', 'an.na@mail.ru']
  for (const one of others) assert.equal(normalizeAddress(one), one)
})
