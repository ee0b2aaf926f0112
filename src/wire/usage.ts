// What a reply says it consumed. Counters are merged one by one: a stream gives most of them at its
// start and overwrites some at its end. A counter that was never given stays missing, which is not
// zero. Prices are not known here.

import { type TokenCounts, tokens } from '../units/tokens.ts'

/** Counters as reported so far; a missing one is undefined. */
export type Usage = {
  inputTokens?: number
  outputTokens?: number
  cacheReadTokens?: number
  cacheWriteTokens?: number
  /** The split of `cacheWriteTokens`; in streams only at the start. */
  cacheWrite5mTokens?: number
  cacheWrite1hTokens?: number
  webSearches?: number
  /** Passes that the counters above leave out: compaction, and another model's advice. */
  hiddenPasses?: HiddenPass[]
}

export type HiddenPass = {
  readonly kind: string
  readonly model: string | undefined
  readonly usage: Usage
}

type Json = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Overwrites what `json`, the wire's usage object, gives; null and nonsense count as not given. */
export function mergeUsage(usage: Usage, json: Json): void {
  mergeCounters(usage, json)
  if (isJsonObject(json.cache_creation)) {
    const split = json.cache_creation
    set(usage, 'cacheWrite5mTokens', split.ephemeral_5m_input_tokens)
    set(usage, 'cacheWrite1hTokens', split.ephemeral_1h_input_tokens)
  }
  if (isJsonObject(json.server_tool_use)) {
    set(usage, 'webSearches', json.server_tool_use.web_search_requests)
  }
  if (Array.isArray(json.iterations)) usage.hiddenPasses = hiddenPasses(json.iterations)
}

function mergeCounters(usage: Usage, json: Json): void {
  set(usage, 'inputTokens', json.input_tokens)
  set(usage, 'outputTokens', json.output_tokens)
  set(usage, 'cacheReadTokens', json.cache_read_input_tokens)
  set(usage, 'cacheWriteTokens', json.cache_creation_input_tokens)
}

function set(usage: Usage, counter: Exclude<keyof Usage, 'hiddenPasses'>, value: unknown): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) usage[counter] = value
}

function hiddenPasses(iterations: readonly unknown[]): HiddenPass[] {
  const passes: HiddenPass[] = []
  for (const entry of iterations) {
    if (!isJsonObject(entry) || !isHidden(entry.type)) continue
    const usage: Usage = {}
    mergeUsage(usage, { ...entry, iterations: undefined })
    passes.push({ kind: entry.type, model: text(entry.model), usage })
  }
  return passes
}

// `message` and `fallback_message` are the passes that the top-level counters already describe.
function isHidden(type: unknown): type is string {
  return typeof type === 'string' && type !== 'message' && type !== 'fallback_message'
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/**
 * The counts to price, or undefined when the reply never said how much went in or came out. Writes
 * that the reply does not split count as the cheaper kind, in the customer's favour.
 */
export function tokenCounts(usage: Usage): TokenCounts | undefined {
  const { inputTokens, outputTokens } = usage
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const { cacheWrite5mTokens = 0, cacheWrite1hTokens = 0 } = usage
  const written = usage.cacheWriteTokens ?? cacheWrite5mTokens + cacheWrite1hTokens
  const writtenFor1h = Math.min(cacheWrite1hTokens, written)
  return {
    input: tokens(inputTokens),
    output: tokens(outputTokens),
    cacheRead: tokens(usage.cacheReadTokens ?? 0),
    cacheWrite5m: tokens(written - writtenFor1h),
    cacheWrite1h: tokens(writtenFor1h),
  }
}
