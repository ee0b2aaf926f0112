// Prices: what a token costs in credits, as whole millionths, so that 1.25 is exact. A number of
// tokens times millionths is a number of microcredits, without division, rounding or floats.
import { type Credits, MICRO, micro } from './credits.ts'
import type { Tokens } from './tokens.ts'

declare const millionthsBrand: unique symbol
/** A whole number of millionths of a credit per token; never negative. */
export type Millionths = bigint & { readonly [millionthsBrand]: true }

/** What one token of each kind costs. */
export type Price = {
  /** The price of an uncached input token: one credit, unless the catalogue says otherwise. */
  readonly input: Millionths
  /** The price of an output token. */
  readonly coefficient: Millionths
  readonly cacheRead: Millionths
  readonly cacheWrite5m: Millionths
  readonly cacheWrite1h: Millionths
}

/** One credit: the price of an input token of the reference model. */
export const ONE = MICRO as Millionths

export function millionths(count: bigint | number): Millionths {
  const value = BigInt(count)
  if (value < 0n) throw new RangeError(`${value} millionths is below zero`)
  return value as Millionths
}

/**
 * Reads `5`, `0.1` or `1.25`: at most six digits on either side of the point. Returns undefined for
 * anything else, also for exponents and leading zeros, which are easily misread.
 */
export function millionthsFromText(text: string): Millionths | undefined {
  const match = /^(0|[1-9]\d{0,5})(?:\.(\d{1,6}))?$/.exec(text)
  if (match === null) return undefined
  return (BigInt(match[1] ?? '0') * MICRO + BigInt((match[2] ?? '').padEnd(6, '0'))) as Millionths
}

/** The shortest exact text: `1.25`. */
export function millionthsText(value: Millionths): string {
  const fraction = (value % MICRO).toString().padStart(6, '0').replace(/0+$/, '')
  return `${value / MICRO}${fraction === '' ? '' : `.${fraction}`}`
}

/** What a number of tokens costs at a price per token; exact. */
export function costOf(count: Tokens, each: Millionths): Credits {
  return micro(count * each)
}
