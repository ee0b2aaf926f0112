// What a charge consists of: the counts of a reply at a price, and rare parts besides. Exact: the
// sum is a number of microcredits, without rounding.
import type { Credits } from './credits.ts'
import { micro } from './credits.ts'
import type { Price } from './price.ts'
import { costOf } from './price.ts'
import type { TokenCounts, Tokens } from './tokens.ts'

/** The price list of a model, with its prices: it explains a part without the catalogue. */
export type PartPrice = { readonly model: string; readonly list: string; readonly price: Price }

export type ChargePass = PartPrice & { readonly counts: TokenCounts }

/** The parts of a charge that are rare. Each is absent when it is empty. */
export type ChargeParts = {
  /** Another model answered: the counts of the entry cost this, not the tariff's price. */
  readonly served?: PartPrice
  /** Passes that the counts of the entry do not include. */
  readonly passes?: readonly ChargePass[]
  readonly uses?: readonly {
    readonly feature: string
    readonly count: number
    readonly each: Credits
  }[]
  /** Values in the reply that the catalogue does not list, and members that are not known. */
  readonly unlisted?: readonly string[]
  /** Of a void: what the upstream had reported by then. Not charged; the vendor may bill it. */
  readonly seen?: Omit<ChargePass, 'price'>
}

/** Each kind of token, and the member of a price that it is multiplied by. */
export const tokenKinds = [
  ['input', 'input'],
  ['output', 'coefficient'],
  ['cacheRead', 'cacheRead'],
  ['cacheWrite5m', 'cacheWrite5m'],
  ['cacheWrite1h', 'cacheWrite1h'],
] as const satisfies readonly (readonly [keyof TokenCounts, keyof Price])[]

type Counts = { readonly [kind in keyof TokenCounts]: bigint | null }

/** What of an entry decides its price. */
export type PricedEntry = Counts & {
  readonly price: Price | null
  readonly parts: ChargeParts | null
}

/** The microcredits of a charge, from its counts, its price and its parts. */
export function recompute(entry: PricedEntry): Credits {
  const { parts } = entry
  const price = parts?.served?.price ?? entry.price
  let sum = price === null ? 0n : costOfTokens(entry, price)
  for (const pass of parts?.passes ?? []) sum += costOfTokens(pass.counts, pass.price)
  for (const { count, each } of parts?.uses ?? []) sum += BigInt(count) * each
  return micro(sum)
}

/** What tokens cost by one price list. */
export function costOfTokens(counts: Counts, price: Price): Credits {
  let sum = 0n
  for (const [kind, each] of tokenKinds) sum += costOf((counts[kind] ?? 0n) as Tokens, price[each])
  return micro(sum)
}
