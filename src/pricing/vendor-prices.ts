// The vendor's price list: what the operator pays, in the vendor's currency, from a YAML file that
// the operator keeps. Numbers are read as text and kept as whole millionths, never as floats.
// margin.ts compares it with the catalogue; nothing is charged by it.
import { z } from 'zod'
import { readYaml, type SchemaProblem, schemaProblems } from '../platform/yaml.ts'
import { millionthsFromText } from '../units/price.ts'
import { type Tokens, tokens } from '../units/tokens.ts'
import type { dimensions } from './lists.ts'
import type { FeatureName } from './model-schema.ts'
import { wholeText } from './packs.ts'

/** The server tools whose uses a reply counts. */
export const countedTools = [
  'web_search',
  'web_fetch',
  'code_execution',
  'tool_search',
] as const satisfies readonly FeatureName[]
export type CountedTool = (typeof countedTools)[number]

/** Millionths of the currency for a million tokens; undefined where the list has no price. */
export type VendorPrice = {
  readonly input: bigint
  readonly output: bigint
  readonly cacheRead?: bigint | undefined
  readonly cacheWrite5m?: bigint | undefined
  readonly cacheWrite1h?: bigint | undefined
}

export type VendorModel = {
  /** An id of the catalogue, or a name at an upstream. */
  readonly name: string
  readonly price: VendorPrice
  /** From the shortest prompt to the longest. */
  readonly tiers: readonly { readonly above: Tokens; readonly price: VendorPrice }[]
  /** Millionths by which a value multiplies every price of a token. */
  readonly multipliers: Readonly<
    Record<(typeof dimensions)[number], Readonly<Record<string, bigint>>>
  >
  /** Millionths of the currency for one use. */
  readonly tools: Readonly<Partial<Record<CountedTool, bigint | undefined>>>
}

export type VendorPrices = {
  readonly currency: string
  /** Millionths of a kopeck for one unit of the currency. */
  readonly kopecksPerUnit: bigint
  readonly models: readonly VendorModel[]
}

function decimalText(min = 0n) {
  return z.string().transform((text, context): bigint => {
    const value = millionthsFromText(text)
    if (value !== undefined && value >= min) return value
    const range = min > 0n ? 'above 0, ' : ''
    const message = `expected a number such as 3.75, ${range}at most 6 digits on either side`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}

const priceFields = {
  input: decimalText(),
  output: decimalText(),
  // A vendor without a cache has no prices for it. Margin then reports an unknown cost.
  cacheRead: decimalText().optional(),
  cacheWrite5m: decimalText().optional(),
  cacheWrite1h: decimalText().optional(),
}

const tierSchema = z
  // No model reads more than ten million tokens (model-schema.ts).
  .strictObject({ above: wholeText(1n, 10_000_000n), ...priceFields })
  .transform(({ above, ...price }) => ({ above: tokens(above), price }))

const multiplierValues = z.record(z.string(), decimalText(1n)).default({})
const multipliersSchema = z
  .strictObject({
    speed: multiplierValues,
    inference_geo: multiplierValues,
    service_tier: multiplierValues,
  })
  .optional()
const toolsSchema = z
  .strictObject({
    web_search: decimalText().optional(),
    web_fetch: decimalText().optional(),
    code_execution: decimalText().optional(),
    tool_search: decimalText().optional(),
  } satisfies Record<CountedTool, unknown>)
  .optional()

const fileSchema = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'expected three capital letters such as USD'),
  kopecksPerUnit: decimalText(1n),
  multipliers: multipliersSchema,
  tools: toolsSchema,
  models: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        ...priceFields,
        tiers: z.array(tierSchema).default([]),
        multipliers: multipliersSchema,
        tools: toolsSchema,
      }),
    )
    .min(1, 'expected at least one model'),
})

const NO_MULTIPLIERS = { speed: {}, inference_geo: {}, service_tier: {} }

/** Returns the list, or all problems of the text with their lines. */
export function parseVendorPrices(
  text: string,
): { readonly prices: VendorPrices } | { readonly problems: readonly string[] } {
  const yaml = readYaml(text, { textOnly: true })
  if (yaml.problems.length > 0) {
    return { problems: yaml.problems.map(({ line, sentence }) => `line ${line}: ${sentence}`) }
  }
  const checked = fileSchema.safeParse(yaml.value)
  const found = checked.success
    ? crossFieldProblems(checked.data.models)
    : schemaProblems(checked.error, fileSchema)
  if (checked.success && found.length === 0) {
    const { currency, kopecksPerUnit, ...all } = checked.data
    const models = checked.data.models.map(
      ({ name, tiers, multipliers, tools, ...price }): VendorModel => ({
        ...{ name, tiers, price },
        multipliers: multipliers ?? all.multipliers ?? NO_MULTIPLIERS,
        tools: { ...all.tools, ...tools },
      }),
    )
    return { prices: { currency, kopecksPerUnit, models } }
  }
  return {
    problems: found
      .map(({ path, sentence }) => ({ line: yaml.lineAt(path), path, sentence }))
      .sort((a, b) => a.line - b.line)
      .map(
        ({ line, path, sentence }) => `line ${line}, ${path.join('.') || 'the file'}: ${sentence}`,
      ),
  }
}

type Checked = z.output<typeof fileSchema>['models']

/** No name twice, and every model's tiers from the shortest prompt to the longest. */
function crossFieldProblems(models: Checked): SchemaProblem[] {
  const found: SchemaProblem[] = []
  const seen = new Set<string>()
  for (const [index, { name, tiers }] of models.entries()) {
    const path = ['models', index]
    if (seen.has(name)) found.push({ path: [...path, 'name'], sentence: `${name} is there twice` })
    seen.add(name)
    for (const [i, { above }] of tiers.entries()) {
      const before = tiers[i - 1]?.above ?? 0n
      if (above > before) continue
      found.push({ path: [...path, 'tiers', i, 'above'], sentence: `is not above ${before}` })
    }
  }
  return found
}
