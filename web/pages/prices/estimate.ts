// The arithmetic of the calculator, the same as that of a charge: tokens times credits per token,
// in whole microcredits. Roubles are rounded up and days down, so it never promises too much.
import type { Pack } from '../../../src/cabinet/contract/contract.ts'
import type { ModelPrice, PriceDimension, PriceList } from '../../../src/cabinet/contract/prices.ts'
import { millionthsOf } from '../../format/decimal.ts'
import { dimensions, type Tool, tools } from '../../format/price-names.ts'

/** The tokens of one request, and the requests of a day. */
export type Load = {
  readonly input: bigint
  readonly output: bigint
  readonly cacheRead: bigint
  readonly cacheWrite: bigint
  readonly requests: bigint
}
export type LoadField = keyof Load
type RequestTokens = Omit<Load, 'requests'>

/** The values that a request asks for. */
export type Choice = Readonly<Partial<Record<PriceDimension, string | undefined>>>
/** How often one request uses each tool. */
export type Uses = Readonly<Partial<Record<string, bigint>>>

/** The initial values: a person who uses an assistant all day. */
export const usualLoad: Load = {
  input: 2_000n,
  output: 500n,
  cacheRead: 0n,
  cacheWrite: 0n,
  requests: 100n,
}
export const loadFields = Object.keys(usualLoad) as readonly LoadField[]
/** More than any real day; the product is still readable. */
export const LOAD_MAX = 999_999_999n

type Lists = Pick<ModelPrice, 'lists' | 'multipliers'>

/** The price list of a request: that of its prompt, cached tokens included, and of its values. */
export function listFor(
  { lists, multipliers }: Lists,
  { input, cacheRead, cacheWrite }: RequestTokens,
  choice: Choice = {},
): PriceList {
  const prompt = input + cacheRead + cacheWrite
  const values = dimensions.map((name) => {
    const value = choice[name]
    return value !== undefined && Object.hasOwn(multipliers[name], value) ? value : undefined
  })
  return lists.reduce((found, list) => {
    const above = BigInt(list.above)
    if (above < BigInt(found.above) || (above > 0n && prompt <= above)) return found
    return dimensions.every((name, i) => list.values[name] === values[i]) ? list : found
  })
}

/** The cost of one request in microcredits. */
export function requestCost(
  model: Lists & Pick<ModelPrice, 'tools'>,
  load: RequestTokens,
  choice: Choice = {},
  uses: Uses = {},
): bigint {
  const list = listFor(model, load, choice)
  const ofTokens =
    load.input * millionthsOf(list.input) +
    load.output * millionthsOf(list.output) +
    load.cacheRead * millionthsOf(list.cacheRead) +
    load.cacheWrite * millionthsOf(list.cacheWrite5m)
  return model.tools.reduce(
    (sum, { feature, perUse }) => sum + (uses[feature] ?? 0n) * millionthsOf(perUse),
    ofTokens,
  )
}

/** The whole days that a pack lasts; null if nothing is spent. */
export function daysOf({ credits }: Pack, perDay: bigint): bigint | null {
  return perDay === 0n ? null : millionthsOf(credits.exact) / perDay
}

/** The number in a field: a whole number up to `max`, spaces between thousands allowed. */
export function countOf(text: string, max: bigint = LOAD_MAX): bigint | undefined {
  const digits = text.replace(/[\s\u00a0\u202f]/g, '')
  if (digits === '') return 0n
  if (!/^\d{1,12}$/.test(digits)) return undefined
  const count = BigInt(digits)
  return count > max ? undefined : count
}

export type CalculatorSearch = { readonly model?: string } & {
  readonly [Field in LoadField | Tool]?: number
} & { readonly [Dimension in PriceDimension]?: string }

/** The calculator's values in the address. */
export function calculatorSearchOf(raw: Record<string, unknown>): CalculatorSearch {
  const counts = [...loadFields, ...tools].flatMap((field) => {
    const value = raw[field]
    const isCount = Number.isSafeInteger(value) && Number(value) >= 0
    return isCount && BigInt(Number(value)) <= LOAD_MAX ? [[field, Number(value)] as const] : []
  })
  const words = (['model', ...dimensions] as const).flatMap((field) => {
    const value = raw[field]
    return typeof value === 'string' ? [[field, value] as const] : []
  })
  return { ...Object.fromEntries(words), ...Object.fromEntries(counts) }
}
