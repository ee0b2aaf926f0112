// Credits: the unit of every balance. One input token costs one credit. Kept as a whole number of
// microcredits, so a coefficient with six decimals never rounds and no float meets a balance.

declare const creditsBrand: unique symbol
/** A whole number of microcredits. */
export type Credits = bigint & { readonly [creditsBrand]: true }

export const MICRO = 1_000_000n
/** What an int8 column can hold; more than this is a fault, not a balance. */
export const CREDITS_MAX = 9_223_372_036_854_775_807n as Credits

/** Names a bigint of microcredits as credits. */
export function micro(microcredits: bigint): Credits {
  if (microcredits > CREDITS_MAX || microcredits < -CREDITS_MAX) {
    throw new RangeError(`${microcredits} microcredits do not fit a balance`)
  }
  return microcredits as Credits
}

/** Whole credits to microcredits. */
export function credits(whole: bigint | number): Credits {
  return micro(BigInt(whole) * MICRO)
}

/** Whole credits, rounded down: what a person or a JSON field sees. */
export function wholeCredits(amount: Credits): bigint {
  const whole = amount / MICRO
  return amount < 0n && whole * MICRO !== amount ? whole - 1n : whole
}

/** Exact decimal text, without trailing zeros: `1234.5`. */
export function creditsText(amount: Credits): string {
  const sign = amount < 0n ? '-' : ''
  const size = amount < 0n ? -amount : (amount as bigint)
  const fraction = (size % MICRO).toString().padStart(6, '0').replace(/0+$/, '')
  return `${sign}${size / MICRO}${fraction === '' ? '' : `.${fraction}`}`
}
