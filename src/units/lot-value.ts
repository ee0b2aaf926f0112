// What the credits of a pack are worth in kopecks, by the rule of refunds (decision 0055): what is
// not spent is worth its part of the price, rounded down to a kopeck; the rest of the price was
// earned by use. So revenue and refunds of a pack add up to its price, whatever the order. Receipts
// of completion and the accountant's month use it.

export type Terms = { readonly price: bigint; readonly credits: bigint }

/** Kopecks; price = revenue + adjusted + returned + left. */
export type LotValue = {
  /** Earned by use. */
  readonly revenue: bigint
  /** Of credits that adjustments took: forfeited when an account closes, or corrected. */
  readonly adjusted: bigint
  /** Of credits that refunds and disputes took. */
  readonly returned: bigint
  /** Of credits that can still be used. */
  readonly left: bigint
}

export const NO_VALUE: LotValue = { revenue: 0n, adjusted: 0n, returned: 0n, left: 0n }

/** Microcredits. */
export type LotUse = {
  readonly used: bigint
  readonly adjusted: bigint
  readonly refunded: bigint
  readonly disputed: bigint
}

export function lotValue({ price, credits }: Terms, lot: LotUse): LotValue {
  const worth = (amount: bigint) => (price * amount) / credits
  const unused = credits - lot.used
  const revenue = price - worth(unused)
  const adjusted = worth(unused) - worth(unused - lot.adjusted)
  const returned = worth(lot.refunded + lot.disputed)
  return { revenue, adjusted, returned, left: price - revenue - adjusted - returned }
}
