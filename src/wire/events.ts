// The events of a streamed reply that metering needs: those that carry counters, an error or the
// stop reason. sse.ts finds them in the bytes.

import { type Tokens, tokens } from '../units/tokens.ts'
import { isJsonObject, mergeUsage, type Usage } from './usage.ts'

/** What is known of a reply, streamed or not. */
export type ReplyFacts = {
  messageId: string | undefined
  model: string | undefined
  stopReason: string | undefined
  /** Undefined until the reply has given a usage object. */
  usage: Usage | undefined
  /** Results of server tools that a stream has sent, by tool; its end reports the uses. */
  results: Record<string, number>
  /** The `error` event of a stream. */
  error: { readonly type: string; readonly message: string } | undefined
}

export function noFacts(): ReplyFacts {
  return {
    messageId: undefined,
    model: undefined,
    stopReason: undefined,
    usage: undefined,
    results: {},
    error: undefined,
  }
}

/** Copies into `facts` what an event contains: a start of a message or block, an end, an error. */
export function applyEvent(facts: ReplyFacts, event: unknown): void {
  if (!isJsonObject(event)) return
  const { message, delta, error, content_block: block } = event
  if (isJsonObject(block)) countResult(facts, block)
  if (isJsonObject(message)) {
    applyMessage(facts, message)
    applyUsage(facts, message.usage)
  }
  if (isJsonObject(delta) && typeof delta.stop_reason === 'string') {
    facts.stopReason = delta.stop_reason
  }
  applyUsage(facts, event.usage)
  if (isJsonObject(error)) {
    facts.error = { type: String(error.type), message: String(error.message) }
  }
}

const resultTools: ReadonlyMap<unknown, string> = new Map([
  ['web_search_tool_result', 'web_search'],
  ['web_fetch_tool_result', 'web_fetch'],
  ['code_execution_tool_result', 'code_execution'],
  ['bash_code_execution_tool_result', 'code_execution'],
  ['text_editor_code_execution_tool_result', 'code_execution'],
  ['tool_search_tool_result', 'tool_search'],
])

/** A use that failed is not billed: its content is an object whose type says so. */
function countResult(facts: ReplyFacts, { type, content }: Readonly<Record<string, unknown>>) {
  const tool = resultTools.get(type)
  if (tool === undefined) return
  if (isJsonObject(content) && String(content.type).endsWith('_error')) return
  facts.results[tool] = (facts.results[tool] ?? 0) + 1
}

/** Copies the members of a message object, except its usage. */
function applyMessage(facts: ReplyFacts, message: Readonly<Record<string, unknown>>): void {
  applyMember(facts, 'id', message.id)
  applyMember(facts, 'model', message.model)
  applyMember(facts, 'stop_reason', message.stop_reason)
}

export function applyMember(facts: ReplyFacts, name: string, value: unknown): void {
  if (typeof value !== 'string') return
  if (name === 'id') facts.messageId = value
  else if (name === 'model') facts.model = value
  else if (name === 'stop_reason') facts.stopReason = value
}

export function applyUsage(facts: ReplyFacts, usage: unknown): void {
  if (!isJsonObject(usage)) return
  facts.usage ??= {}
  mergeUsage(facts.usage, usage)
}

/**
 * The published rule for a reply whose final counters did not arrive: ⌈ASCII bytes / 4 + other
 * bytes / 3⌉ of what was generated, computed in whole numbers.
 */
export function estimateOutput(asciiBytes: number, otherBytes: number): Tokens {
  return tokens(Math.ceil((3 * asciiBytes + 4 * otherBytes) / 12))
}
