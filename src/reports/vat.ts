// The VAT that an amount contains, by the code of its receipt. Prices include VAT, so the ordinary
// and the estimated rate of a code contain the same.

/** The provider's codes; null: no VAT. Percents. */
const rates: Readonly<Record<number, bigint | null>> = {
  ...{ 1: null, 2: 0n, 3: 10n, 4: 20n, 5: 10n, 6: 20n },
  ...{ 7: 5n, 8: 7n, 9: 5n, 10: 7n, 11: 22n, 12: 22n },
}

export function vatPercent(code: number): bigint | null {
  return rates[code] ?? null
}

/** Of one line of a receipt, to the nearest kopeck. */
export function vatOf(amount: bigint, code: number): bigint {
  const percent = vatPercent(code) ?? 0n
  return (2n * amount * percent + 100n + percent) / (2n * (100n + percent))
}
