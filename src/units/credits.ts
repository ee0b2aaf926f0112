// Credits: the unit of every balance. One input token costs one credit. An amount is a whole number
// of microcredits, so a coefficient with six decimals needs no rounding and no float.

declare const creditsBrand: unique symbol
/** A whole number of microcredits. */
export type Credits = bigint & { readonly [creditsBrand]: true }

export const MICRO = 1_000_000n
/** The largest value of an int8 column; a larger amount is a fault. */
export const CREDITS_MAX = 9_223_372_036_854_775_807n as Credits

/** Converts a number of microcredits to the type Credits; throws if it does not fit an int8. */
export function micro(microcredits: bigint): Credits {
  if (microcredits > CREDITS_MAX || microcredits < -CREDITS_MAX) {
    throw new RangeError(`${microcredits} microcredits do not fit a balance`)
  }
  return microcredits as Credits
}

/** Converts whole credits to microcredits. */
export function credits(whole: bigint | number): Credits {
  return micro(BigInt(whole) * MICRO)
}

/** Whole credits, rounded down, for people and JSON fields. */
export function wholeCredits(amount: Credits): bigint {
  const whole = amount / MICRO
  return amount < 0n && whole * MICRO !== amount ? whole - 1n : whole
}

/** Rounded up to a whole credit, for what a request may cost. */
export function roundedUp(amount: Credits): Credits {
  return credits(-wholeCredits(micro(-amount)))
}

/** Digits in groups of three, for English sentences: `1,292`. */
export function groupDigits(whole: bigint): string {
  return whole.toString().replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Exact decimal text, without trailing zeros: `1234.5`. */
export function creditsText(amount: Credits): string {
  const sign = amount < 0n ? '-' : ''
  const digits = String(amount < 0n ? -amount : amount).padStart(7, '0')
  const [whole, fraction] = [digits.slice(0, -6), digits.slice(-6)]
  return `${sign}${whole}${fraction === '000000' ? '' : `.${fraction.replace(/0+$/, '')}`}`
}
