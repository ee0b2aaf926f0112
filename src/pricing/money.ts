// Credits in money: what an amount of credits brings at the price of a pack, as an exact fraction
// of kopecks. Fractions are compared by multiplication and rounded only when they are printed.
import type { Credits } from '../units/credits.ts'
import { kopecks, rublesText } from '../units/kopecks.ts'
import type { Pack } from './packs.ts'

/** Kopecks, exactly: `top` divided by `bottom`, which is above zero; never negative. */
export type Fraction = { readonly top: bigint; readonly bottom: bigint }

/** What credits of this pack were sold for. */
export function kopecksOf(amount: Credits, { credits, priceKopecks }: Pack): Fraction {
  return { top: amount * priceKopecks, bottom: credits }
}

export function isLess(a: Fraction, b: Fraction): boolean {
  return a.top * b.bottom < b.top * a.bottom
}

export function sumOf(fractions: readonly Fraction[]): Fraction {
  return fractions.reduce(plus, { top: 0n, bottom: 1n })
}

function plus(a: Fraction, b: Fraction): Fraction {
  // Mostly the bottoms are powers of ten: the sum then keeps the larger one and stays short.
  if (a.bottom % b.bottom === 0n) {
    return { top: a.top + b.top * (a.bottom / b.bottom), bottom: a.bottom }
  }
  if (b.bottom % a.bottom === 0n) return plus(b, a)
  return { top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom }
}

/** From the fewest kopecks per credit to the most. Promo credits are free and not counted. */
export function packsByPrice(packs: readonly Pack[]): readonly Pack[] {
  const rate = ({ credits, priceKopecks }: Pack) => ({ top: priceKopecks, bottom: credits })
  return packs.toSorted(
    (a, b) => Number(isLess(rate(b), rate(a))) - Number(isLess(rate(a), rate(b))),
  )
}

/** Roubles rounded down to a kopeck: what we get is shown as no more than it is. */
export function roublesDown({ top, bottom }: Fraction): string {
  return rublesText(kopecks(top / bottom))
}

/** Roubles rounded up to a kopeck: what we pay is shown as no less than it is. */
export function roublesUp({ top, bottom }: Fraction): string {
  return rublesText(kopecks((top + bottom - 1n) / bottom))
}
