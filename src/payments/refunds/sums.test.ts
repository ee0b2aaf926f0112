// The arithmetic of refunds, for random prices, packs and parts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { creditsForAmount, creditsToTake, refundableAmount, stateAfter } from './sums.ts'

const sales = fc.record({
  price: fc.bigInt(1n, 10_000_000_000n) as fc.Arbitrary<Kopecks>,
  credits: fc.bigInt(1n, 10n ** 18n) as fc.Arbitrary<Credits>,
})
const share = fc.bigInt(0n, 1_000_000n)
const part = (whole: bigint, of: bigint) => (whole * of) / 1_000_000n

test('refunds of any sizes add up to the unspent part’s value and take no more credits', () => {
  fc.assert(
    fc.property(sales, share, fc.array(share, { maxLength: 8 }), (sale, spentShare, cuts) => {
      const spent = part(sale.credits, spentShare)
      let unspent = (sale.credits - spent) as Credits
      let back = { promised: 0n as Kopecks, taken: 0n as Credits }
      const worth = refundableAmount(sale, unspent, back)
      assert.ok(worth <= sale.price)
      assert.ok(worth * sale.credits <= sale.price * unspent, 'never more than it is worth')
      for (const cut of [...cuts, 1_000_000n]) {
        const refundable = refundableAmount(sale, unspent, back)
        const amount = part(refundable, cut) as Kopecks
        if (amount === 0n) continue
        const took = amount === refundable ? unspent : creditsForAmount(sale, amount, back)
        assert.ok(took <= unspent, `${took} of ${unspent}`)
        unspent = (unspent - took) as Credits
        back = {
          promised: (back.promised + amount) as Kopecks,
          taken: (back.taken + took) as Credits,
        }
      }
      assert.equal(back.promised, worth, 'the parts are the whole')
    }),
  )
})

test('refunds in the provider’s merchant portal, in any parts, take exactly the pack', () => {
  fc.assert(
    fc.property(sales, fc.array(share, { maxLength: 8 }), (sale, cuts) => {
      let gone = 0n
      let taken = 0n
      for (const cut of [...cuts, 1_000_000n]) {
        gone += part(sale.price - gone, cut)
        const took = creditsToTake(sale, gone as Kopecks, taken as Credits)
        assert.ok(took >= 0n)
        taken += took
      }
      assert.equal(gone, sale.price)
      assert.equal(taken, sale.credits)
    }),
  )
})

// refunded kopecks of 100 | under way | dispute | state
const states = `
  0   | no  | none   | credited
  0   | yes | none   | refund_pending
  40  | no  | none   | partially_refunded
  40  | yes | none   | refund_pending
  100 | no  | none   | refunded
  0   | no  | opened | disputed
  0   | yes | opened | disputed
  40  | no  | opened | disputed
  0   | no  | won    | dispute_won
  40  | no  | won    | partially_refunded
  0   | no  | lost   | dispute_lost
  100 | no  | lost   | dispute_lost
`
for (const line of states.trim().split('\n')) {
  const [refunded = '', isUnderWay, dispute, expected] = line.split('|').map((cell) => cell.trim())
  test(`${refunded} of 100 back, under way ${isUnderWay}, dispute ${dispute}: ${expected}`, () => {
    const state = stateAfter({
      price: 100n as Kopecks,
      refunded: BigInt(refunded) as Kopecks,
      hasRefundUnderWay: isUnderWay === 'yes',
      dispute: dispute === 'none' ? null : (dispute as 'opened' | 'won' | 'lost'),
    })
    assert.equal(state, expected)
  })
}
