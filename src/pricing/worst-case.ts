// The most that a request can cost. A hold reserves it, so that a balance is never negative. Passes
// of the server, their input, and the uses of tools are part of it.
import { type Credits, micro } from '../units/credits.ts'
import { costOf, type Millionths, type Price } from '../units/price.ts'
import { type Tokens, tokens } from '../units/tokens.ts'
import type { Model } from './catalogue.ts'
import { type DimensionValues, type PriceList, reachableLists } from './lists.ts'
import { featureOf } from './model-schema.ts'

/** The limits under which a server tool is sent upstream. */
export type ToolLimits = {
  readonly feature: string
  /** Undefined: nothing limits the uses. */
  readonly uses: number | undefined
  /** Tokens that a use may return; undefined: as many as the window has. */
  readonly contentTokens: number | undefined
}

/** The longest cache lifetime in the request; a request with 1h may also write 5m. */
export type CacheControl = 'none' | '5m' | '1h'

/** What a request is held for: everything that can make its reply expensive. */
export type PricedRequest = {
  readonly model: Model
  /** The most tokens that one pass can report as input, cached ones included. */
  readonly inputBound: Tokens
  readonly cacheControl: CacheControl
  readonly asked?: DimensionValues
  /** Features in use, each of which the model has a price for. */
  readonly features?: readonly string[]
  /** The server tools whose uses the body limits, with the limits that are sent upstream. */
  readonly tools?: readonly ToolLimits[]
  /** The models that an advisor or a fallback may run. */
  readonly others?: readonly Model[]
}

/** The most that a request can cost. */
export function worstCase(request: PricedRequest & { readonly maxTokens: Tokens }): Credits {
  return worstCaseUpTo(request, request.maxTokens)
}

export function worstCaseUpTo(request: PricedRequest, maxTokens: Tokens): Credits {
  const most = least(maxTokens, request.model.outputCeiling)
  const { lists, input, passes, fixed } = boundsOf(request, most)
  const output = tokens(most * passes)
  const costs = lists.map(
    ({ price }) =>
      costOf(input, inputPriceMax(price, request.cacheControl)) + costOf(output, price.coefficient),
  )
  return micro(costs.reduce((sum, cost) => (cost > sum ? cost : sum), 0n) + fixed)
}

/**
 * The largest max_tokens, up to the model's ceiling, whose worst case fits into the granted
 * credits. Undefined when they do not cover the input; 0 means that they cover only the input.
 */
export function affordableMaxTokens(
  request: PricedRequest & { readonly granted: Credits },
): Tokens | undefined {
  const { model, granted } = request
  const { lists, input, passes, fixed } = boundsOf(request, model.outputCeiling)
  if (passes > 1n) return affordableInPasses(request, granted)
  let most = model.outputCeiling
  for (const { price } of lists) {
    const inputCost = costOf(input, inputPriceMax(price, request.cacheControl))
    const left = granted - fixed - inputCost
    if (left < 0n) return undefined
    most = least(most, tokens(left / price.coefficient))
  }
  return most
}

/** What a pass writes is read by the next ones, so the cost is not linear; it only ever grows. */
function affordableInPasses(request: PricedRequest, granted: Credits): Tokens | undefined {
  const fits = (count: bigint) => worstCaseUpTo(request, tokens(count)) <= granted
  if (!fits(0n)) return undefined
  return tokens(largest(request.model.outputCeiling, fits))
}

/** The largest number from 0 to `most` that fits; 0 fits, and below one that fits all do. */
export function largest(most: bigint, fits: (count: bigint) => boolean): bigint {
  let low = 0n
  let high = most
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    if (fits(middle)) low = middle
    else high = middle - 1n
  }
  return low
}

type Bounds = {
  readonly lists: readonly PriceList[]
  /** Input tokens of all passes together. */
  readonly input: Tokens
  readonly passes: bigint
  /** What hidden passes and uses of tools cost at most, whatever max_tokens is. */
  readonly fixed: bigint
}

// Passes of the model itself write up to max_tokens each. Those of compaction, an advisor or
// a fallback are not part of the reply's counts.
function boundsOf(request: PricedRequest, maxTokens: Tokens): Bounds {
  const { model, asked = {}, features = [], tools = [], others = [] } = request
  const passes = passesOf(request)
  let fixed = 0n
  for (const name of features) {
    const feature = featureOf(model, name)
    if (feature === undefined) continue
    const limit = usesLimit(tools, name)
    fixed += BigInt(limit ?? feature.usesMax) * feature.perUse
    if (!hiddenFeatures.has(name)) continue
    const models = name === 'compaction' ? [model] : [model, ...others]
    // A fallback answers the whole turn, with as many passes as the tools of the server need. Its
    // prompt, which chooses the tier, is the sum of them; that of another pass is its own.
    const prompts = name === 'fallbacks' ? passes : 1
    const costs = models.map((one) => passCost(one, asked, BigInt(prompts)))
    const most = Math.min(feature.iterationsMax, limit ?? feature.iterationsMax)
    fixed += BigInt(Math.max(most, prompts)) * costs.reduce((a, b) => (a > b ? a : b))
  }
  const input = inputOf(request, passes, maxTokens)
  return { lists: reachableLists(model.lists, input, asked), input, passes: BigInt(passes), fixed }
}

/** Their passes are not part of the reply's own counts. */
const hiddenFeatures = new Set(['compaction', 'advisor', 'fallbacks'])
/** The others interrupt the model, which then reads everything again. An advisor does both. */
const loopless = new Set(['compaction', 'fallbacks'])

function loopsOf(features: readonly string[]): readonly string[] {
  return features.filter((name) => !loopless.has(name))
}

/** An advisor's passes are its own; the model runs before, between and after them. */
function iterationsOf(model: Model, name: string): number {
  const most = featureOf(model, name)?.iterationsMax ?? 1
  return name === 'advisor' ? most + 1 : most
}

/** The uses that the body allows; undefined when it does not limit them. */
function usesLimit(tools: readonly ToolLimits[], feature: string): number | undefined {
  const own = tools.filter((tool) => tool.feature === feature)
  if (own.length === 0 || own.some(({ uses }) => uses === undefined)) return undefined
  return own.reduce((sum, { uses = 0 }) => sum + uses, 0)
}

/**
 * One pass for each use, one after a use that the vendor refuses because the limit is reached, and
 * one for the answer; never more than the catalogue allows.
 */
function passesOf({ model, features = [], tools = [] }: PricedRequest): number {
  const own = loopsOf(features)
  const most = Math.max(1, ...own.map((name) => iterationsOf(model, name)))
  let uses = 0
  for (const name of own) {
    const limit = usesLimit(tools, name)
    if (limit === undefined) return most
    uses += limit
  }
  return Math.min(most, uses + 2)
}

/**
 * The first pass reads the question; each later one also what earlier passes wrote and the content
 * that tools returned, at most the window. Without a limit on that content it is the window.
 */
function inputOf(request: PricedRequest, passes: number, maxTokens: Tokens): Tokens {
  const { model, inputBound, features = [], tools = [] } = request
  if (passes === 1) return inputBound
  let content = 0n
  for (const name of loopsOf(features)) {
    const found = tools.filter(({ feature }) => feature === name)
    if (found.length === 0) return tokens(model.contextWindow * BigInt(passes))
    for (const { uses, contentTokens } of found) {
      if (uses === undefined || contentTokens === undefined) {
        return tokens(model.contextWindow * BigInt(passes))
      }
      content += BigInt(uses) * BigInt(contentTokens)
    }
  }
  let input: bigint = inputBound
  for (let pass = 1n; pass < passes; pass += 1n) {
    input += least<bigint>(model.contextWindow, inputBound + content + pass * maxTokens)
  }
  return tokens(input)
}

function passCost(
  { lists, contextWindow, outputCeiling }: Model,
  asked: DimensionValues,
  prompts: bigint,
): bigint {
  return reachableLists(lists, tokens(contextWindow * prompts), asked)
    .map(
      ({ price }) =>
        costOf(contextWindow, inputPriceMax(price, '1h')) +
        costOf(outputCeiling, price.coefficient),
    )
    .reduce((a, b) => (a > b ? a : b))
}

function inputPriceMax(price: Price, cacheControl: CacheControl): Millionths {
  const prices = [price.input]
  if (cacheControl !== 'none') prices.push(price.cacheRead, price.cacheWrite5m)
  if (cacheControl === '1h') prices.push(price.cacheWrite1h)
  return prices.reduce((a, b) => (a > b ? a : b))
}

export function least<T extends bigint>(a: T, b: T): T {
  return a < b ? a : b
}
