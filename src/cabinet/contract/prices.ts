// The types of prices: what a token of each model costs by each price list, and what the use of a
// tool costs. Every number is exact decimal text; the pages multiply no price by another.
import type { IntegerText, Localized, Pack } from './contract.ts'

export type TokenKind = 'input' | 'output' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h'

/** What a request can ask for that multiplies the price of every token. */
export type PriceDimension = 'speed' | 'inference_geo' | 'service_tier'

/** When a price list applies. */
export type PriceListName = {
  /** As in the catalogue: `above=100000 speed=fast`; empty for the list by default. */
  readonly name: string
  /** Prompts of more than so many tokens, cached ones included; `0`: prompts of any length. */
  readonly above: IntegerText
  /** The values that it multiplies by; absent where a dimension counts as 1. */
  readonly values: Readonly<Partial<Record<PriceDimension, string | undefined>>>
}

/** Credits per token of each kind. */
export type PriceList = PriceListName & Readonly<Record<TokenKind, string>>

export type ToolPrice = {
  /** As in the catalogue: `web_search`. */
  readonly feature: string
  /** Credits for one use, besides its tokens. */
  readonly perUse: string
  /** The most uses of one request. */
  readonly usesMax: number
}

export type ModelPrice = {
  readonly id: string
  readonly name: Localized
  readonly contextWindow: IntegerText
  readonly outputCeiling: IntegerText
  /** One for each combination of prompt length and multipliers; the first applies by default. */
  readonly lists: readonly [PriceList, ...PriceList[]]
  /** The multiplier of each value that is sold; the lists contain them already. */
  readonly multipliers: Readonly<Record<PriceDimension, Readonly<Record<string, string>>>>
  /** The tools whose use costs credits. */
  readonly tools: readonly ToolPrice[]
}

export type Prices = {
  readonly catalogueVersion: number
  readonly packs: readonly Pack[]
  readonly models: readonly ModelPrice[]
}
