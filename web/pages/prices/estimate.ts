// The arithmetic of the calculator, as of a charge: tokens times credits per token, in whole
// microcredits. Roubles are rounded up and days down, so that nobody is promised too much.
import type { ModelPrice, Pack } from '../../../src/cabinet/contract/contract.ts'
import { MILLION, millionthsOf } from '../../format/decimal.ts'

/** Tokens of one request, and how many requests a day has. */
export type Load = {
  readonly input: bigint
  readonly output: bigint
  readonly cacheRead: bigint
  readonly cacheWrite: bigint
  readonly requests: bigint
}
export type LoadField = keyof Load

/** What somebody who talks to an assistant all day may use. */
export const usualLoad: Load = {
  input: 2_000n,
  output: 500n,
  cacheRead: 0n,
  cacheWrite: 0n,
  requests: 100n,
}
export const loadFields = Object.keys(usualLoad) as readonly LoadField[]
/** Nobody's day has more, and its product still reads as a number. */
export const LOAD_MAX = 999_999_999n

/** Microcredits that one request costs. */
export function requestCost(
  { coefficient, weights }: Pick<ModelPrice, 'coefficient' | 'weights'>,
  { input, output, cacheRead, cacheWrite }: Omit<Load, 'requests'>,
): bigint {
  return (
    input * MILLION +
    output * millionthsOf(coefficient) +
    cacheRead * millionthsOf(weights.cacheRead) +
    cacheWrite * millionthsOf(weights.cacheWrite5m)
  )
}

/** What microcredits cost in kopecks at the price of a pack, rounded up. */
export function kopecksFor(microcredits: bigint, { credits, priceKopecks }: Pack): bigint {
  const whole = millionthsOf(credits.exact)
  return (microcredits * BigInt(priceKopecks) + whole - 1n) / whole
}

/** Whole days that a pack lasts; null when nothing is spent. */
export function daysOf({ credits }: Pack, perDay: bigint): bigint | null {
  return perDay === 0n ? null : millionthsOf(credits.exact) / perDay
}

/** What a field says: a whole number within reason, spaces between thousands allowed. */
export function countOf(text: string): bigint | undefined {
  const digits = text.replace(/[\s\u00a0\u202f]/g, '')
  if (digits === '') return 0n
  if (!/^\d{1,12}$/.test(digits)) return undefined
  const count = BigInt(digits)
  return count > LOAD_MAX ? undefined : count
}

export type CalculatorSearch = { readonly model?: string } & {
  readonly [Field in LoadField]?: number
}

/** What of the calculator stands in the address. */
export function calculatorSearchOf(raw: Record<string, unknown>): CalculatorSearch {
  const counts = loadFields.flatMap((field) => {
    const value = raw[field]
    const isCount = Number.isSafeInteger(value) && Number(value) >= 0
    return isCount && BigInt(Number(value)) <= LOAD_MAX ? [[field, Number(value)] as const] : []
  })
  return {
    ...(typeof raw.model === 'string' ? { model: raw.model } : {}),
    ...Object.fromEntries(counts),
  }
}
