// The usage that a reply reports. Counters are merged one by one: a stream reports most of them at
// its start and overwrites some at its end. A counter that was not reported stays undefined, which
// is not zero. Prices are not known here.

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
  /** Uses of server tools, by tool: the members of `server_tool_use`. */
  uses?: Record<string, number>
  /** Values that multiply the vendor's prices. */
  speed?: string
  inferenceGeo?: string
  serviceTier?: string
  passes?: Pass[]
  /** Members that no version of the vendor's documentation had when this was written. */
  unknown?: Set<string>
}

/** One pass of a turn that the server ran in several. */
export type Pass = {
  readonly kind: string
  readonly model: string | undefined
  readonly usage: Usage
}

type Json = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Overwrites the counters that `json`, the vendor's usage object, contains. Null counts as absent;
 * so do invalid values, which are listed as unknown: they may stand on the vendor's bill.
 */
export function mergeUsage(usage: Usage, json: Json): void {
  for (const name in json) {
    const value = json[name]
    if (value === null || value === undefined) continue
    const counter = counters.get(name)
    if (counter !== undefined) set(usage, counter, value, name)
    else if (name === 'cache_creation') mergeCacheWrites(usage, value)
    else if (name === 'server_tool_use') mergeUses(usage, value)
    else if (name === 'iterations') usage.passes = passesOf(usage, value)
    else if (name === 'speed') usage.speed = text(value) ?? 'unreadable'
    else if (name === 'inference_geo') usage.inferenceGeo = text(value) ?? 'unreadable'
    else if (name === 'service_tier') usage.serviceTier = text(value) ?? 'unreadable'
    else if (!unpriced.has(name)) noteUnknown(usage, name)
  }
}

type Counter = 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'
const counters: ReadonlyMap<string, Counter> = new Map([
  ['input_tokens', 'inputTokens'],
  ['output_tokens', 'outputTokens'],
  ['cache_read_input_tokens', 'cacheReadTokens'],
  ['cache_creation_input_tokens', 'cacheWriteTokens'],
])

/** Members that explain other members; the last two belong to a pass. */
const unpriced = new Set(['output_tokens_details', 'fallback_credit', 'type', 'model'])

// The names come from the upstream, which we do not control.
const UNKNOWN_MAX = 8
const UNKNOWN_LENGTH_MAX = 64

function noteUnknown(usage: Usage, name: string): void {
  usage.unknown ??= new Set()
  if (usage.unknown.size < UNKNOWN_MAX) usage.unknown.add(name.slice(0, UNKNOWN_LENGTH_MAX))
}

function set(
  usage: Usage,
  counter: Counter | 'cacheWrite5mTokens' | 'cacheWrite1hTokens',
  value: unknown,
  name: string,
): void {
  if (isCount(value)) usage[counter] = Math.min(value, COUNT_MAX)
  else if (value !== null && value !== undefined) noteUnknown(usage, name)
}

// A hundred passes over the largest window that a catalogue may state. More is a fault of the
// upstream; where a token is free, a few larger numbers would overflow the sums of usage.
const COUNT_MAX = 1_000_000_000

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function mergeCacheWrites(usage: Usage, split: unknown): void {
  if (!isJsonObject(split)) {
    noteUnknown(usage, 'cache_creation')
    return
  }
  for (const [name, count] of Object.entries(split)) {
    const path = `cache_creation.${name}`
    if (name === 'ephemeral_5m_input_tokens') set(usage, 'cacheWrite5mTokens', count, path)
    else if (name === 'ephemeral_1h_input_tokens') set(usage, 'cacheWrite1hTokens', count, path)
    // A lifetime without a price; zero costs nothing.
    else if (count !== null && count !== 0) noteUnknown(usage, path)
  }
}

const USES_SUFFIX = '_requests'
const knownUses = new Set(['web_search', 'web_fetch', 'code_execution', 'tool_search'])

function mergeUses(usage: Usage, json: unknown): void {
  if (!isJsonObject(json)) {
    noteUnknown(usage, 'server_tool_use')
    return
  }
  for (const [name, count] of Object.entries(json)) {
    if (count === null) continue
    const tool = name.endsWith(USES_SUFFIX) ? name.slice(0, -USES_SUFFIX.length) : ''
    if (!knownUses.has(tool) || !isCount(count)) noteUnknown(usage, `server_tool_use.${name}`)
    else {
      usage.uses ??= {}
      usage.uses[tool] = count
    }
  }
}

// A turn has at most a hundred passes; more are a fault of the upstream.
const PASSES_MAX = 256

const passKinds = new Set(['message', 'compaction', 'advisor_message', 'fallback_message'])

// What of a pass is not known is listed with the reply: a pass has no entry of its own.
function passesOf(whole: Usage, iterations: unknown): Pass[] {
  const passes: Pass[] = []
  const entries: readonly unknown[] = Array.isArray(iterations) ? iterations : [iterations]
  if (entries.length > PASSES_MAX) noteUnknown(whole, 'iterations')
  for (const entry of entries.slice(0, PASSES_MAX)) {
    if (!isJsonObject(entry) || typeof entry.type !== 'string') {
      noteUnknown(whole, 'iterations')
      continue
    }
    if (!passKinds.has(entry.type)) noteUnknown(whole, `iterations.${entry.type}`)
    const usage: Usage = {}
    mergeUsage(usage, { ...entry, iterations: undefined })
    for (const name of usage.unknown ?? []) noteUnknown(whole, `iterations.${name}`)
    passes.push({ kind: entry.type, model: text(entry.model), usage })
  }
  return passes
}

/** Passes that the counters of the reply do not include: compaction, and an advisor model. */
export function hiddenPasses({ passes = [] }: Usage): readonly Pass[] {
  return passes.filter(({ kind }) => kind !== 'message' && kind !== 'fallback_message')
}

/** The pass of another model that answered instead; the counters of the reply are its own. */
export function fallbackPass({ passes = [] }: Usage): Pass | undefined {
  return passes.findLast(({ kind }) => kind === 'fallback_message')
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/**
 * The counts to price, or undefined when the reply did not report input or output. Cache writes
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
