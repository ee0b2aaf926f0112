// What the vendor bills, in kopecks, by the operator's copy of its price list. Exact. margin.ts
// uses it for prices, and the comparison with the vendor's bill for counts.
import type { TokenCounts, Tokens } from '../units/tokens.ts'
import { tokens } from '../units/tokens.ts'
import { type DimensionValues, dimensions, isOrdinary } from './lists.ts'
import type { Fraction } from './money.ts'
import {
  type CountedTool,
  countedTools,
  type VendorModel,
  type VendorPrices,
} from './vendor-prices.ts'

/** Prices, multipliers and the exchange rate of the vendor's list are millionths. */
const SCALE = 1_000_000n
/** A price of the list is for a million tokens. */
const PRICED_TOKENS = 1_000_000n

export function kopecksAt(factors: readonly bigint[], rate: bigint): Fraction {
  return {
    top: factors.reduce((product, factor) => product * factor, rate),
    bottom: SCALE ** BigInt(factors.length + 1),
  }
}

export function priceAt({ price, tiers }: VendorModel, prompt: Tokens) {
  return tiers.findLast(({ above }) => prompt > above)?.price ?? price
}

/** The vendor's multipliers of these values; undefined when one has no price. */
export function factorsOf(
  { multipliers }: VendorModel,
  values: DimensionValues,
): readonly bigint[] | undefined {
  const factors: bigint[] = []
  for (const dimension of dimensions) {
    const value = values[dimension]
    if (value === undefined) continue
    if (Object.hasOwn(multipliers[dimension], value)) {
      factors.push(multipliers[dimension][value] as bigint)
    } else if (!isOrdinary(value)) return undefined
  }
  return factors
}

/** What is billed: a kind of token in a price list, or uses of a tool. */
export type BilledThing =
  | {
      readonly kind: keyof TokenCounts
      readonly above: Tokens
      readonly values: DimensionValues
    }
  | { readonly tool: string }

/**
 * What so many tokens or uses cost at the vendor. `names` are the names under which the list may
 * have the model, the first one first. Undefined when the list has no price for them.
 */
export function vendorCost(
  { models, kopecksPerUnit }: VendorPrices,
  names: readonly string[],
  thing: BilledThing,
  count: bigint,
): Fraction | undefined {
  const found = names.map((name) => models.find((one) => one.name === name))
  const bill = found.find((one) => one !== undefined)
  if (bill === undefined) return undefined
  if ('tool' in thing) {
    const each = isCountedTool(thing.tool) ? bill.tools[thing.tool] : undefined
    return each === undefined ? undefined : kopecksAt([each * count], kopecksPerUnit)
  }
  const each = priceAt(bill, tokens(thing.above + 1n))[thing.kind]
  const factors = factorsOf(bill, thing.values)
  if (each === undefined || factors === undefined) return undefined
  const { top, bottom } = kopecksAt([each, ...factors], kopecksPerUnit)
  return { top: top * count, bottom: bottom * PRICED_TOKENS }
}

function isCountedTool(tool: string): tool is CountedTool {
  return countedTools.includes(tool as CountedTool)
}
