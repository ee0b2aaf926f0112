// Turns a plan into a finished message: content blocks, stop reason and usage. Keeps the request's
// limits: `max_tokens` cuts at a token, a stop sequence cuts before itself.
import { hash } from 'node:crypto'
import { signThinking } from './conversation.ts'
import type { Ids } from './ids.ts'
import type { JsonObject } from './json.ts'
import type { Item, Plan } from './plan.ts'
import type { MessageRequest } from './request.ts'
import { countTokens, numberOf, takeTokens, writeFiller, writeText } from './text.ts'
import type { InputUsage, Usage } from './usage.ts'

export type ReplyBlock =
  | { type: 'text'; text: string; citations?: readonly JsonObject[] }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'tool_use'; id: string; name: string; input: JsonObject; caller: JsonObject }
  | { type: 'server_tool_use'; id: string; name: string; input: JsonObject }
  | {
      type: 'web_search_tool_result'
      tool_use_id: string
      content: readonly JsonObject[] | JsonObject
    }
  | { type: 'future_block'; novelty: string }

export type Reply = {
  readonly id: string
  readonly model: string
  readonly content: readonly ReplyBlock[]
  readonly stopReason: string
  readonly stopSequence: string | null
  readonly usage: Usage
}

export function composeReply(
  request: MessageRequest,
  plan: Plan,
  { ids, input, fillerBytes }: { ids: Ids; input: InputUsage; fillerBytes: number | null },
): Reply {
  const id = ids.next('message')
  const wanted =
    fillerBytes === null
      ? refuseSearches(
          plan.items.flatMap((item, place) => blocksOf(item, place, ids)),
          searchesMax(request),
        )
      : [{ type: 'text' as const, text: writeFiller(fillerBytes) }]
  // Filler is meant to exceed limits, so it is not cut.
  const { content, stopReason, stopSequence, tokens } =
    fillerBytes === null ? limit(wanted, request) : unlimited(wanted)
  const hidden = content.filter((b) => b.type === 'thinking' || b.type === 'redacted_thinking')
  const asked = content.filter((block) => block.type === 'server_tool_use').length
  const searches = Math.min(asked, searchesMax(request))
  return {
    id,
    model: request.model.id,
    content,
    stopReason: plan.stopReason ?? stopReason,
    stopSequence,
    usage: {
      ...input,
      output_tokens: tokens,
      ...(hidden.length === 0
        ? {}
        : { output_tokens_details: { thinking_tokens: sum(hidden.map(tokensOf)) } }),
      ...(searches === 0
        ? {}
        : { server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 } }),
      service_tier: 'standard',
      inference_geo: 'not_available',
    },
  }
}

/** The message as a plain reply carries it, and as the shell inside `message_start`. */
export function messageObject(reply: Reply) {
  return {
    model: reply.model,
    id: reply.id,
    type: 'message',
    role: 'assistant',
    content: reply.content,
    stop_reason: reply.stopReason,
    stop_sequence: reply.stopSequence,
    stop_details: stopDetails(reply.stopReason),
    usage: reply.usage,
  }
}

export function stopDetails(stopReason: string): JsonObject | null {
  return stopReason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null
}

function blocksOf(item: Item, place: number, ids: Ids): ReplyBlock[] {
  const seed = numberOf(`${item.kind} ${place}`)
  switch (item.kind) {
    case 'text':
      return [{ type: 'text', text: writeText(seed, item.tokens) }]
    case 'unicode':
      return [{ type: 'text', text: writeText(seed, item.tokens, 'wide') }]
    case 'say':
      return [{ type: 'text', text: item.text }]
    case 'thinking': {
      const thinking = writeText(seed, item.tokens)
      return [{ type: 'thinking', thinking, signature: signThinking(thinking) }]
    }
    case 'redacted':
      return [{ type: 'redacted_thinking', data: hash('sha512', `redacted ${place}`, 'base64') }]
    case 'tool': {
      const { name, input } = item
      return [
        { type: 'tool_use', id: ids.next('toolUse'), name, input, caller: { type: 'direct' } },
      ]
    }
    case 'citations':
      return citedBlocks()
    case 'server_tool':
      return searchBlocks(ids.next('serverToolUse'))
    case 'unknown':
      return [{ type: 'future_block', novelty: writeText(seed, 5) }]
  }
}

function citedBlocks(): ReplyBlock[] {
  const citation = {
    type: 'char_location',
    cited_text: 'The grass is green.',
    document_index: 0,
    document_title: 'Stand-in almanac',
    start_char_index: 0,
    end_char_index: 19,
    file_id: null,
  }
  return [
    { type: 'text', text: 'According to the almanac, ' },
    { type: 'text', text: 'the grass is green', citations: [citation] },
    { type: 'text', text: ' and that is all.' },
  ]
}

function searchBlocks(id: string): ReplyBlock[] {
  const page = { url: 'https://example.com/almanac', title: 'Stand-in almanac' }
  const result = {
    type: 'web_search_result',
    ...page,
    encrypted_content: hash('sha256', 'almanac', 'base64'),
    page_age: 'April 30, 2026',
  }
  const citation = {
    type: 'web_search_result_location',
    cited_text: 'The sea is blue.',
    ...page,
    encrypted_index: hash('sha256', 'almanac 0', 'base64'),
  }
  return [
    { type: 'text', text: 'I will look that up.' },
    { type: 'server_tool_use', id, name: 'web_search', input: { query: 'colour of the sea' } },
    { type: 'web_search_tool_result', tool_use_id: id, content: [result] },
    { type: 'text', text: 'The sea is blue.', citations: [citation] },
  ]
}

/** The `max_uses` of the request's web search. */
function searchesMax({ tools }: MessageRequest): number {
  const tool = tools.find(({ type }) => /^web_search_/.test(`${type}`))
  return typeof tool?.max_uses === 'number' ? tool.max_uses : Number.POSITIVE_INFINITY
}

/** Searches beyond the limit get an error instead of a result, and are not billed. */
function refuseSearches(blocks: readonly ReplyBlock[], max: number): ReplyBlock[] {
  const error = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }
  let searches = 0
  return blocks.map((block) => {
    if (block.type === 'server_tool_use') searches += 1
    if (block.type !== 'web_search_tool_result' || searches <= max) return block
    return { ...block, content: error }
  })
}

type Limited = {
  content: ReplyBlock[]
  stopReason: string
  stopSequence: string | null
  tokens: number
}

function unlimited(content: ReplyBlock[]): Limited {
  const isToolUse = content.some((block) => block.type === 'tool_use')
  const stopReason = isToolUse ? 'tool_use' : 'end_turn'
  return { content, stopReason, stopSequence: null, tokens: sum(content.map(tokensOf)) }
}

function limit(wanted: readonly ReplyBlock[], request: MessageRequest): Limited {
  const content: ReplyBlock[] = []
  let tokens = 0
  for (const block of wanted) {
    const left = request.maxTokens - tokens
    const fitting = cutToTokens(block, left)
    const stopped = cutAtStop(fitting, request.stopSequences)
    if (stopped !== null) {
      if (stopped.text !== '') content.push({ type: 'text', text: stopped.text })
      tokens += countTokens(stopped.text)
      return { content, stopReason: 'stop_sequence', stopSequence: stopped.sequence, tokens }
    }
    if (fitting !== null) content.push(fitting)
    // A block that does not fit uses the budget up, even where no part of it can be shown.
    if (fitting !== block) {
      const all = request.maxTokens
      return { content, stopReason: 'max_tokens', stopSequence: null, tokens: all }
    }
    tokens += tokensOf(block)
  }
  return unlimited(content)
}

/** The block itself when it fits, its beginning where it can be cut, else null. */
function cutToTokens(block: ReplyBlock, tokens: number): ReplyBlock | null {
  if (tokensOf(block) <= tokens) return block
  if (tokens <= 0) return null
  if (block.type === 'text') return { ...block, text: takeTokens(block.text, tokens) }
  if (block.type === 'thinking') {
    const thinking = takeTokens(block.thinking, tokens)
    return { ...block, thinking, signature: signThinking(thinking) }
  }
  return null
}

function cutAtStop(block: ReplyBlock | null, sequences: readonly string[]) {
  if (block?.type !== 'text') return null
  let first: { text: string; sequence: string } | null = null
  for (const sequence of sequences) {
    const at = block.text.indexOf(sequence)
    if (at >= 0 && (first === null || at < first.text.length)) {
      first = { text: block.text.slice(0, at), sequence }
    }
  }
  return first
}

function tokensOf(block: ReplyBlock): number {
  switch (block.type) {
    case 'text':
      return countTokens(block.text)
    case 'future_block':
      return countTokens(block.novelty)
    case 'thinking':
      return countTokens(block.thinking)
    case 'redacted_thinking':
      return countTokens(block.data)
    case 'tool_use':
    case 'server_tool_use':
      return countTokens(block.name) + countTokens(JSON.stringify(block.input))
    case 'web_search_tool_result':
      return 0
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
