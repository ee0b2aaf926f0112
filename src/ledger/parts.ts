// How the parts of a charge are stored: as JSON with their prices, so that an entry explains itself
// and the audit can compute from it (src/ledger/sql/audit.sql). Most charges have no parts. Counts
// and prices are arrays of texts, in the order of `tokenKinds`: JSON numbers are not exact.
import type { ChargeParts, ChargePass, PartPrice } from '../units/charge.ts'
import { tokenKinds as kinds } from '../units/charge.ts'
import { micro } from '../units/credits.ts'
import type { Millionths, Price } from '../units/price.ts'
import type { TokenCounts, Tokens } from '../units/tokens.ts'
import { printable } from './printable.ts'

/** A reply has at most 8 unknown members; with those of its passes and tools some more. */
const UNLISTED_MAX = 16
/** As long as a member of the usage is kept, and as long as the name of a model may be. */
const UNLISTED_LENGTH_MAX = 64
const NAME_LENGTH_MAX = 256

/** The parts as they are stored, in ASCII; undefined without any. */
export function partsText(parts: ChargeParts | null | undefined): string | undefined {
  if (parts === null || parts === undefined) return undefined
  return JSON.stringify(storedParts(parts))
}

/**
 * The parts as JSON. Passes at one price are added up: a turn may have 256 of them, and a settle in
 * quarantine must fit a key of an index (2,704 bytes). Names from a reply are cut and made
 * printable: PostgreSQL refuses a NUL in JSON, and with it the whole array of settles.
 */
export function storedParts(parts: ChargeParts) {
  const { served, passes = [], uses = [], unlisted = [], seen } = parts
  return {
    ...(served === undefined ? {} : { served: storedPrice(served) }),
    ...(passes.length === 0
      ? {}
      : {
          passes: addedUp(passes).map((pass) => ({
            ...storedPrice(pass),
            counts: countsText(pass),
          })),
        }),
    ...(uses.length === 0
      ? {}
      : {
          uses: uses.map(({ feature, count, each }) => ({
            ...{ feature: name(feature), count, each: String(each) },
          })),
        }),
    ...(unlisted.length === 0
      ? {}
      : {
          unlisted: unlisted
            .slice(0, UNLISTED_MAX)
            .map((member) => printable(member, UNLISTED_LENGTH_MAX)),
        }),
    ...(seen === undefined
      ? {}
      : { seen: { model: name(seen.model), list: name(seen.list), counts: countsText(seen) } }),
  }
}

type StoredPrice = { readonly model: string; readonly list: string; readonly price: string[] }
type StoredParts = {
  readonly served?: StoredPrice
  readonly passes?: readonly (StoredPrice & { readonly counts: readonly string[] })[]
  readonly uses?: readonly { feature: string; count: number; each: string }[]
  readonly unlisted?: readonly string[]
  readonly seen?: Omit<StoredPrice, 'price'> & { readonly counts: readonly string[] }
}

/** Reads what `storedParts` made. */
export function partsOf(stored: unknown): ChargeParts | null {
  if (stored === null || stored === undefined) return null
  const { served, passes, uses, unlisted, seen } = stored as StoredParts
  return {
    ...(served === undefined ? {} : { served: priceOf(served) }),
    ...(passes === undefined
      ? {}
      : { passes: passes.map((pass) => ({ ...priceOf(pass), counts: countsOf(pass.counts) })) }),
    ...(uses === undefined
      ? {}
      : { uses: uses.map((use) => ({ ...use, each: micro(BigInt(use.each)) })) }),
    ...(unlisted === undefined ? {} : { unlisted }),
    ...(seen === undefined ? {} : { seen: { ...seen, counts: countsOf(seen.counts) } }),
  }
}

function addedUp(passes: readonly ChargePass[]): ChargePass[] {
  const sums = new Map<string, ChargePass>()
  for (const pass of passes) {
    const key = JSON.stringify([pass.model, pass.list, kinds.map(([, m]) => String(pass.price[m]))])
    const sum = sums.get(key)
    sums.set(key, sum === undefined ? pass : { ...pass, counts: added(sum.counts, pass.counts) })
  }
  return [...sums.values()]
}

function added(a: TokenCounts, b: TokenCounts): TokenCounts {
  const sums = kinds.map(([kind]) => [kind, a[kind] + b[kind]])
  return Object.fromEntries(sums) as TokenCounts
}

function storedPrice({ model, list, price }: PartPrice) {
  const prices = kinds.map(([, member]) => String(price[member]))
  return { model: name(model), list: name(list), price: prices }
}

function priceOf({ model, list, price }: StoredPrice): PartPrice {
  const prices = kinds.map(([, member], i) => [member, BigInt(price[i] ?? '0') as Millionths])
  return { model, list, price: Object.fromEntries(prices) as Price }
}

function countsText({ counts }: Pick<ChargePass, 'counts'>): string[] {
  return kinds.map(([kind]) => String(counts[kind]))
}

function countsOf(counts: readonly string[]): TokenCounts {
  const all = kinds.map(([kind], i) => [kind, BigInt(counts[i] ?? '0') as Tokens])
  return Object.fromEntries(all) as TokenCounts
}

function name(text: string): string {
  return printable(text, NAME_LENGTH_MAX)
}
