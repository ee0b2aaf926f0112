// The types of the catalogue's pages: prices in force, versions, and what each one changed.
import type { Credits, IntegerText, Kopecks, Time } from './contract.ts'

/** Credits for one token of each kind, exact. */
export type TokenPrices = {
  readonly input: string
  readonly output: string
  readonly cacheRead: string
  readonly cacheWrite5m: string
  readonly cacheWrite1h: string
}

/** What a turn of a coding agent costs; in kopecks at the cheapest pack and at the dearest. */
export type TypicalCost = {
  readonly credits: Credits
  /** Null without packs. */
  readonly least: Kopecks | null
  readonly most: Kopecks | null
}

/** What a price leaves after the vendor's bill, in the price list where that is least. */
export type MarginLine = {
  /** A kind of token, for a million tokens, or a tool, for a thousand uses. */
  readonly sold: string
  /** Its tier and multipliers; empty for the list that applies by default. */
  readonly list: string
  readonly brings: Kopecks
  readonly costs: Kopecks | null
  readonly tenths: IntegerText | null
  readonly verdict: 'profit' | 'loss' | 'unknown'
}

export type CatalogueModel = {
  readonly id: string
  readonly name: { readonly ru: string; readonly en: string }
  /** The name that is sent upstream; `upstream` is null for all of them. */
  readonly upstreamNames: readonly { readonly upstream: string | null; readonly name: string }[]
  readonly contextWindow: IntegerText
  readonly outputCeiling: IntegerText
  readonly price: TokenPrices
  /** Price lists of tiers and multipliers. */
  readonly lists: readonly { readonly name: string; readonly price: TokenPrices }[]
  readonly features: readonly { readonly name: string; readonly perUse: Credits }[]
  readonly typical: TypicalCost
  /** The worst first; empty without the vendor's prices. */
  readonly margins: readonly MarginLine[]
}

export type CataloguePack = {
  readonly id: string
  readonly name: { readonly ru: string; readonly en: string }
  readonly credits: Credits
  readonly priceKopecks: Kopecks
  /** Of a million credits, rounded down. */
  readonly millionKopecks: Kopecks
}

export type CatalogueVersion = {
  readonly version: number
  readonly appliedAt: Time
  readonly by: string
  readonly note: string
}

export type Catalogue = {
  readonly version: number
  readonly models: readonly CatalogueModel[]
  readonly packs: readonly CataloguePack[]
  /** Why margins are not known; null when they are. */
  readonly marginProblem: 'none' | 'unreadable' | null
  /** Newest first. */
  readonly versions: readonly CatalogueVersion[]
}

/** One version, and what it changed against the one before it. */
export type VersionChanges = CatalogueVersion & {
  readonly isInForce: boolean
  readonly differences: readonly string[]
  readonly inMoney: readonly string[]
  /** Of the models whose typical request costs something else. */
  readonly typical: readonly {
    readonly model: string
    readonly before: TypicalCost | null
    readonly after: TypicalCost | null
  }[]
  /** The version as a file. */
  readonly text: string
}
