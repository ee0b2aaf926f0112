// Kopecks: the unit of money. 1300.00 RUB is 130000 kopecks. There are no floats and no other
// currencies.

declare const kopecksBrand: unique symbol
export type Kopecks = bigint & { readonly [kopecksBrand]: true }

/** Converts a number to the type Kopecks; throws below zero. */
export function kopecks(amount: bigint | number): Kopecks {
  const value = BigInt(amount)
  if (value < 0n) throw new RangeError(`${value} kopecks is below zero`)
  return value as Kopecks
}

/** `1300.00`, as payment providers write it. */
export function rublesText(amount: Kopecks): string {
  return `${amount / 100n}.${(amount % 100n).toString().padStart(2, '0')}`
}

/** Reads `1300`, `1300.5` or `1300.00`; returns undefined for anything else. */
export function kopecksFromRubles(text: string): Kopecks | undefined {
  const match = /^(\d{1,13})(?:\.(\d{1,2}))?$/.exec(text)
  if (match === null) return undefined
  return (BigInt(match[1] ?? '0') * 100n + BigInt((match[2] ?? '').padEnd(2, '0'))) as Kopecks
}
