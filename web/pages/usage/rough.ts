// Rounds an estimate.

/** Two significant digits: an estimate has no more. */
export function roughly(amount: bigint): bigint {
  let unit = 1n
  while (amount / unit >= 100n) unit *= 10n
  return ((amount + unit / 2n) / unit) * unit
}
