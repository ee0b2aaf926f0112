// Tests of credits: amounts are exact, fit an int8 column, and are rounded down for display.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CREDITS_MAX, credits, creditsText, MICRO, micro, wholeCredits } from './credits.ts'

test('a credit is a million microcredits', () => {
  assert.equal(credits(35_000_000), 35_000_000_000_000n)
  assert.equal(credits(1n), MICRO)
})

test('refuses an amount that does not fit an int8 column', () => {
  assert.equal(micro(CREDITS_MAX), CREDITS_MAX)
  assert.equal(micro(-CREDITS_MAX), -CREDITS_MAX)
  assert.throws(() => micro(CREDITS_MAX + 1n), RangeError)
  assert.throws(() => micro(-CREDITS_MAX - 1n), RangeError)
  assert.throws(() => credits(CREDITS_MAX), RangeError)
})

test('refuses half a credit as a whole number of credits', () => {
  assert.throws(() => credits(0.5), RangeError)
})

test('rounds whole credits down, also below zero, never above the balance', () => {
  fc.assert(
    fc.property(fc.bigInt(-(10n ** 15n), 10n ** 15n), (amount) => {
      const shown = wholeCredits(micro(amount)) * MICRO
      assert.ok(shown <= amount && amount < shown + MICRO)
    }),
  )
  assert.equal(wholeCredits(micro(-1n)), -1n)
  assert.equal(wholeCredits(micro(1_999_999n)), 1n)
})

test('prints credits exactly', () => {
  assert.equal(creditsText(micro(1_234_500_000n)), '1234.5')
  assert.equal(creditsText(micro(-1n)), '-0.000001')
  assert.equal(creditsText(credits(7)), '7')
  assert.equal(creditsText(micro(0n)), '0')
  fc.assert(
    fc.property(fc.bigInt(-CREDITS_MAX, CREDITS_MAX), (amount) => {
      const [, sign, whole = '', fraction = ''] =
        /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(creditsText(micro(amount))) ?? []
      const size = BigInt(whole) * MICRO + BigInt(fraction.padEnd(6, '0'))
      assert.equal(sign === '-' ? -size : size, amount)
    }),
  )
})
