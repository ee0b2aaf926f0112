// Credits in roubles: what an amount of credits costs at the price of a pack. Every page and e-mail
// that shows roubles beside credits converts them here (the browser in web/format/roubles.ts), by
// one rule: rounded up to a kopeck, so that nothing looks cheaper than it was bought.
import { type Credits, credits } from './credits.ts'
import { type Kopecks, kopecks } from './kopecks.ts'

/** What a pack brought and cost. */
export type PackPrice = { readonly credits: Credits; readonly priceKopecks: Kopecks }

const MILLION = credits(1_000_000)

/** The price of an amount at the rate of a pack, rounded up to a kopeck; throws below zero. */
export function kopecksFor(amount: Credits, pack: PackPrice): Kopecks {
  // The formula would round these towards zero, so that some become 0 instead of an error.
  if (amount < 0n) throw new RangeError(`${amount} microcredits have no price`)
  return kopecks((amount * pack.priceKopecks + pack.credits - 1n) / pack.credits)
}

/** The price of a million credits of a pack, rounded up to a kopeck. */
export function kopecksPerMillion(pack: PackPrice): Kopecks {
  return kopecksFor(MILLION, pack)
}
