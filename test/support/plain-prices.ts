// Holds and charges computed a second time, in plain integers and straight from the catalogue's
// YAML, without a line of src/pricing: the tests compare the two. It multiplies last and divides
// once, where the product computes whole price lists first.
import { parse } from 'yaml'

type Values = Readonly<Record<string, string>>
type PlainPrices = {
  readonly input?: string
  readonly coefficient: string
  readonly weights: Readonly<Record<'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h', string>>
}
type PlainFeature = {
  readonly iterationsMax: string
  readonly perUse?: string
  readonly usesMax?: string
  readonly contentMax?: string
}
/** A server tool as the client sends it. */
export type PlainTool = {
  readonly feature: 'web_search' | 'web_fetch'
  readonly maxUses: number | undefined
  readonly maxContentTokens: number | undefined
}
export type PlainModel = PlainPrices & {
  readonly id: string
  readonly contextWindow: string
  readonly outputCeiling: string
  readonly upstreamNames?: string
  readonly tiers?: readonly (PlainPrices & { readonly above: string })[]
  readonly multipliers?: Readonly<Partial<Record<string, Values>>>
  readonly features?: Readonly<Record<string, PlainFeature>>
}
/** Tokens: uncached input, output, cache reads, cache writes for 5 minutes and for an hour. */
export type PlainCounts = readonly [number, number, number, number, number]
export type PlainUsage = {
  readonly counts: PlainCounts
  readonly values: Values
  readonly uses: Readonly<Record<string, number>>
  readonly hidden: readonly { readonly model: string; readonly counts: PlainCounts }[]
}
export type PlainRequest = {
  readonly inputBound: number
  readonly maxTokens: number
  readonly cache: 'none' | '5m' | '1h'
  readonly asked: Values
  readonly features: readonly string[]
  readonly tools?: readonly PlainTool[]
}

/** Every scalar stays text; `like` is not supported: the tests write models out. */
export function plainModels(yaml: string): PlainModel[] {
  return (parse(yaml, { schema: 'failsafe' }) as { models: PlainModel[] }).models
}

/** 1.25 becomes 1250000. */
function millionths(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}

const kinds = (prices: PlainPrices): readonly bigint[] => [
  millionths(prices.input ?? '1'),
  millionths(prices.coefficient),
  millionths(prices.weights.cacheRead),
  millionths(prices.weights.cacheWrite5m),
  millionths(prices.weights.cacheWrite1h),
]

/** Microcredits of one pass. */
function passCharge(model: PlainModel, counts: PlainCounts, values: Values): bigint {
  const [input, , read, short, long] = counts
  const prompt = input + read + short + long
  const tier = (model.tiers ?? []).filter(({ above }) => prompt > Number(above)).at(-1)
  let sum = kinds(tier ?? model).reduce((all, price, i) => all + price * BigInt(counts[i] ?? 0), 0n)
  for (const dimension of ['speed', 'inference_geo', 'service_tier']) {
    sum *= factor(model.multipliers?.[dimension] ?? {}, values[dimension])
  }
  if (sum % 10n ** 18n !== 0n) throw new Error('the catalogue is not exact')
  return sum / 10n ** 18n
}

function factor(listed: Values, value: string | undefined): bigint {
  if (value !== undefined && listed[value] !== undefined) return millionths(listed[value])
  const isOrdinary = value === undefined || ['standard', 'global', 'not_available'].includes(value)
  const all = isOrdinary ? [] : Object.values(listed).map(millionths)
  return all.reduce((most, one) => (one > most ? one : most), 1_000_000n)
}

function chargeOfUse(model: PlainModel, name: string): bigint {
  const feature = model.features?.[name] ?? model.features?.server_tools
  return 1_000_000n * BigInt(feature?.perUse ?? '0')
}

/** Microcredits that the usage costs, before the hold limits it. */
export function plainCharge(models: readonly PlainModel[], id: string, usage: PlainUsage): bigint {
  const model = models.find((one) => one.id === id) as PlainModel
  let sum = passCharge(model, usage.counts, usage.values)
  for (const { model: name, counts } of usage.hidden) {
    const other = models.find((one) => one.id === name || one.upstreamNames === name) ?? model
    sum += passCharge(other, counts, usage.values)
  }
  for (const [name, count] of Object.entries(usage.uses)) {
    sum += chargeOfUse(model, name) * BigInt(count)
  }
  return sum
}

/** Microcredits that are held for the request. */
export function plainHold(
  models: readonly PlainModel[],
  id: string,
  request: PlainRequest,
): bigint {
  const model = models.find((one) => one.id === id) as PlainModel
  const { asked, cache, features } = request
  const { passes, input, output } = plainPasses(model, request)
  let sum = dearest(model, asked, input, output, cache)
  for (const name of features) {
    const feature = featureOf(model, name)
    const sent = toolsOf(model, request).filter((tool) => tool.feature === name)
    const uses = sent.length === 0 ? feature.usesMax : sum_(sent.map((tool) => tool.uses))
    sum += BigInt(uses ?? '0') * 1_000_000n * BigInt(feature.perUse ?? '0')
    if (!hiddenNames.includes(name)) continue
    const others = name === 'compaction' ? [model] : models
    // A fallback runs as many passes as the tools need, and its tier depends on all of them.
    const prompts = name === 'fallbacks' ? passes : 1
    const costs = others.map((one) => {
      const [window, ceiling] = [Number(one.contextWindow), Number(one.outputCeiling)]
      return dearest(one, asked, window, ceiling, '1h', window * prompts)
    })
    const count = BigInt(Math.max(prompts, Number(feature.iterationsMax)))
    sum += count * costs.reduce((a, b) => (a > b ? a : b))
  }
  return sum
}

const hiddenNames = ['compaction', 'advisor', 'fallbacks']

function featureOf(model: PlainModel, name: string): PlainFeature {
  return model.features?.[name] ?? (model.features?.server_tools as PlainFeature)
}

const sum_ = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

/** The limits that the gateway sends upstream; Number.POSITIVE_INFINITY where there is none. */
function toolsOf(model: PlainModel, { tools = [] }: PlainRequest) {
  return tools.map(
    ({
      feature,
      maxUses = Number.POSITIVE_INFINITY,
      maxContentTokens = Number.POSITIVE_INFINITY,
    }) => {
      const { usesMax = Number.POSITIVE_INFINITY, contentMax = Number.POSITIVE_INFINITY } =
        featureOf(model, feature)
      const content = feature === 'web_fetch' ? maxContentTokens : Number.POSITIVE_INFINITY
      return {
        feature,
        uses: Math.min(maxUses, Number(usesMax)),
        content: Math.min(content, Number(contentMax)),
      }
    },
  )
}

/** The passes of the model itself, and the tokens of all of them together. */
export function plainPasses(model: PlainModel, request: PlainRequest) {
  const own = request.features.filter((name) => name !== 'compaction' && name !== 'fallbacks')
  const sent = toolsOf(model, request)
  const isSent = own.every((name) => sent.some(({ feature }) => feature === name))
  const allowed = isSent ? sum_(sent.map(({ uses }) => uses)) + 2 : Number.POSITIVE_INFINITY
  const iterations = own.map(
    (name) => Number(featureOf(model, name).iterationsMax) + (name === 'advisor' ? 1 : 0),
  )
  const passes = own.length === 0 ? 1 : Math.min(Math.max(...iterations), allowed)
  const window = Number(model.contextWindow)
  const written = Math.min(request.maxTokens, Number(model.outputCeiling))
  const isUnlimited = !isSent || sent.some((tool) => tool.content === Number.POSITIVE_INFINITY)
  const content = isUnlimited ? window : sum_(sent.map((tool) => tool.uses * tool.content))
  let input = request.inputBound
  for (let pass = 1; pass < passes; pass++) {
    input += Math.min(window, request.inputBound + content + pass * written)
  }
  if (passes > 1 && isUnlimited) input = passes * window
  return { passes, input, output: passes * written }
}

function dearest(
  model: PlainModel,
  asked: Values,
  input: number,
  output: number,
  cache: PlainRequest['cache'],
  prompt = input,
): bigint {
  const lists = [model, ...(model.tiers ?? []).filter(({ above }) => prompt > Number(above))]
  const factors = ['speed', 'inference_geo', 'service_tier'].map((dimension) => {
    const listed = model.multipliers?.[dimension] ?? {}
    const reachable = Object.keys(listed).filter((value) => {
      if (['standard', 'global', 'not_available'].includes(value)) return true
      if (dimension === 'speed') return asked.speed === value
      if (dimension === 'inference_geo') return [undefined, value].includes(asked.inference_geo)
      return asked.service_tier !== 'standard_only'
    })
    return [1_000_000n, ...reachable.map((value) => millionths(listed[value] as string))]
  })
  let most = 0n
  for (const prices of lists) {
    const [plain = 0n, out = 0n, read = 0n, short = 0n, long = 0n] = kinds(prices)
    const inputs = [plain]
    if (cache !== 'none') inputs.push(read, short)
    if (cache === '1h') inputs.push(long)
    for (const each of inputs) {
      const base = each * BigInt(input) + out * BigInt(output)
      for (const a of factors[0] ?? []) {
        for (const b of factors[1] ?? []) {
          for (const c of factors[2] ?? []) {
            const cost = (base * a * b * c) / 10n ** 18n
            if (cost > most) most = cost
          }
        }
      }
    }
  }
  return most
}
