// Counts the input of a request. Every string (and member name) counts its bytes, those of other
// scripts than ASCII 1.75 times, everything else one; 3.5 of those make a token, plus 4 per message
// and 3 per request. So 3.5 bytes of English or of code are a token, and 2 bytes of Russian. Each
// of these is covered by at least as many bytes of JSON, so the count never exceeds the bytes of
// the body.
import { createHash } from 'node:crypto'
import type { Boundary, Cache, Ttl } from './cache.ts'
import { isObject, type JsonObject } from './json.ts'
import type { MessageRequest } from './request.ts'

export type InputUsage = {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number
    readonly ephemeral_1h_input_tokens: number
  }
}

export type Usage = InputUsage & {
  readonly output_tokens: number
  readonly output_tokens_details?: { readonly thinking_tokens: number }
  readonly server_tool_use?: {
    readonly web_search_requests: number
    readonly web_fetch_requests: number
  }
  readonly service_tier: 'standard'
  readonly inference_geo: string
}

/** Of one request or of many: what one model used, at one rate, on one day. */
export type BillRow = {
  /** `2026-11-15`, in UTC. */
  readonly day: string
  readonly model: string
  readonly service_tier: string
  readonly context_window: string
  readonly inference_geo: string
  readonly speed: string
  uncached_input_tokens: number
  cache_read_input_tokens: number
  ephemeral_5m_input_tokens: number
  ephemeral_1h_input_tokens: number
  output_tokens: number
  /** `web_search_requests`, by the vendor's names. */
  readonly server_tool_use: Record<string, number>
}

const charsPerToken = 3.5
const tokensPerTurn = 4
const tokensPerRequest = 3

// An image costs at most 1,568 tokens at the vendor, whatever the length of its base64.
const mediaCharsMax = 1568 * charsPerToken

type Part = { readonly block: JsonObject; readonly opensTurn: string | null }

/** All input tokens of a request, cached or not; what `count_tokens` answers. */
export function countInput(request: MessageRequest): number {
  const chars = partsOf(request).reduce((sum, part) => sum + charsOf(part.block), 0)
  return tokensPerRequest + tokensPerTurn * request.turns.length + Math.ceil(chars / charsPerToken)
}

/** Input tokens split into uncached, written and read. A marker changes the cache. */
export function takeInput(request: MessageRequest, cache: Cache, key: string): InputUsage {
  const total = countInput(request)
  const parts = partsOf(request)
  const isMarked =
    request.cacheControl !== null || parts.some((part) => isObject(part.block.cache_control))
  const { read, written } = isMarked
    ? cache.use(`${key} ${request.model.id}`, boundariesOf(request, parts))
    : { read: 0, written: { '5m': 0, '1h': 0 } }
  return {
    input_tokens: total - read - written['5m'] - written['1h'],
    cache_creation_input_tokens: written['5m'] + written['1h'],
    cache_read_input_tokens: read,
    cache_creation: {
      ephemeral_5m_input_tokens: written['5m'],
      ephemeral_1h_input_tokens: written['1h'],
    },
  }
}

// The vendor's order of a prompt: tools, system, messages.
function partsOf(request: MessageRequest): Part[] {
  const ahead = [...request.tools, ...request.system].map((block) => ({ block, opensTurn: null }))
  const said = request.turns.flatMap((turn) =>
    turn.content.map((block, place) => ({ block, opensTurn: place === 0 ? turn.role : null })),
  )
  return [...ahead, ...said]
}

function boundariesOf(request: MessageRequest, parts: readonly Part[]): Boundary[] {
  let digest = ''
  let chars = 0
  let turns = 0
  return parts.map(({ block, opensTurn }, place) => {
    const { cache_control: control, ...content } = block
    const isLast = place === parts.length - 1
    if (opensTurn !== null) turns += 1
    chars += charsOf(block)
    digest = createHash('sha1')
      .update(`${digest}${opensTurn ?? ''}${JSON.stringify(content)}`)
      .digest('base64')
    return {
      digest,
      tokens: tokensPerTurn * turns + Math.ceil(chars / charsPerToken),
      marker: markerOf(control) ?? (isLast ? markerOf(request.cacheControl) : null),
    }
  })
}

function markerOf(control: unknown): Ttl | null {
  if (!isObject(control)) return null
  return control.ttl === '1h' ? '1h' : '5m'
}

/** A token of Russian, Chinese or emoji covers about two bytes. */
const otherScripts = charsPerToken / 2

function charsOfText(text: string): number {
  const bytes = Buffer.byteLength(text)
  if (bytes === text.length) return bytes
  const ascii = text.replaceAll(/[^\0-\x7f]+/g, '').length
  return ascii + (bytes - ascii) * otherScripts
}

function charsOf(value: unknown): number {
  if (typeof value === 'string') return charsOfText(value)
  if (typeof value !== 'object' || value === null) return 1
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + charsOf(item), 0)
  const isMedia = isObject(value) && value.type === 'base64'
  let sum = 0
  for (const [name, member] of Object.entries(value)) {
    // Markers may move between turns without changing what a prefix costs.
    if (name === 'cache_control') continue
    const chars = charsOf(member)
    sum += name.length + (isMedia ? Math.min(chars, mediaCharsMax) : chars)
  }
  return sum
}
