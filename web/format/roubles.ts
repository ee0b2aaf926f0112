// Credits in roubles in the browser, by the same rule as src/units/pack-price.ts: at the exact
// price of a pack, rounded up to a kopeck. A negative amount, such as a cache that cost more
// than it saved, is as many kopecks as the positive one.
import type { Kopecks, Pack, PackPrice } from '../../src/cabinet/contract/contract.ts'
import { millionthsOf, roundedParts, sumOf } from './decimal.ts'

/** What the conversion needs of a pack. */
export type PackRate = Pick<PackPrice, 'credits' | 'priceKopecks'>

/** The price of microcredits at the rate of a pack, rounded up to a kopeck. */
export function kopecksFor(microcredits: bigint, { credits, priceKopecks }: PackRate): Kopecks {
  const whole = millionthsOf(credits.exact)
  const price = microcredits * BigInt(priceKopecks)
  // A division of bigints rounds towards zero, so this rounds away from it.
  return String((price + (price < 0n ? 1n - whole : whole - 1n)) / whole)
}

/** The prices of charges, rounded so that they add up to the price of all of them. */
export function kopecksForParts(
  microcredits: readonly bigint[],
  { credits, priceKopecks }: PackRate,
): readonly bigint[] {
  const whole = millionthsOf(credits.exact)
  const prices = microcredits.map((micro) => micro * BigInt(priceKopecks))
  return roundedParts(prices, whole, (sumOf(prices) + whole - 1n) / whole)
}

/** The pack with the highest price per credit: what a newcomer pays at most. */
export function dearestOf(packs: readonly Pack[]): Pack | undefined {
  // Compared by multiplication: prices per million are rounded.
  const isDearer = (one: Pack, other: Pack) =>
    BigInt(one.priceKopecks) * millionthsOf(other.credits.exact) >
    BigInt(other.priceKopecks) * millionthsOf(one.credits.exact)
  return packs.reduce<Pack | undefined>(
    (most, pack) => (most === undefined || isDearer(pack, most) ? pack : most),
    undefined,
  )
}
