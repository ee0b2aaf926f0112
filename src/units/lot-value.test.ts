// Tests of what the credits of a pack are worth: revenue and refunds always add up to the price.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lotValue } from './lot-value.ts'

const sale = fc.record({ price: fc.bigInt(1n, 10_000_000n), credits: fc.bigInt(1n, 10n ** 15n) })

test('earned, adjusted, returned and left add up to the price, and none is negative', () => {
  fc.assert(
    fc.property(sale, fc.array(fc.nat(1_000), { minLength: 5, maxLength: 5 }), (terms, shares) => {
      const all = BigInt(shares.reduce((sum, one) => sum + one, 1))
      const part = (i: number) => (terms.credits * BigInt(shares[i] ?? 0)) / all
      const lot = { used: part(0), adjusted: part(1), refunded: part(2), disputed: part(3) }
      const value = lotValue(terms, lot)
      const parts = Object.values(value)
      assert.equal(
        parts.reduce((sum, one) => sum + one, 0n),
        terms.price,
      )
      assert.ok(parts.every((one) => one >= 0n))
    }),
  )
})

test('the unused part of a pack is worth what a refund returns: its share, rounded down', () => {
  fc.assert(
    fc.property(sale, fc.nat(1_000), (terms, share) => {
      const used = (terms.credits * BigInt(share)) / 1_000n
      const { left } = lotValue(terms, { used, adjusted: 0n, refunded: 0n, disputed: 0n })
      assert.equal(left, (terms.price * (terms.credits - used)) / terms.credits)
    }),
  )
})
