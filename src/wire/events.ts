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
  /** What message_start reported: the input of the model's first pass. */
  firstPass: Usage
  /** The passes after it, as far as the counters do not include them. */
  later: LaterPasses
  /** The output that the last message_delta reported. */
  reportedOutput: number
  /** The `error` event of a stream. */
  error: { readonly type: string; readonly message: string } | undefined
}

/**
 * The model runs again after each result of a server tool, or group of results, and then reads
 * everything again. A stream reports the input of these passes only at its end.
 */
export type LaterPasses = {
  passes: number
  /** What these passes read besides the input of the first one: output and results, estimated. */
  tokens: number
  /** Bytes of the results so far. */
  asciiBytes: number
  otherBytes: number
  /** A result was the last block: the pass that reads it has not sent anything yet. */
  isAfterResult: boolean
}

export function noFacts(): ReplyFacts {
  return {
    messageId: undefined,
    model: undefined,
    stopReason: undefined,
    usage: undefined,
    results: {},
    firstPass: {},
    later: { passes: 0, tokens: 0, asciiBytes: 0, otherBytes: 0, isAfterResult: false },
    reportedOutput: 0,
    error: undefined,
  }
}

/** Bytes that a stream has generated so far, by the published rule for estimates. */
export type GeneratedBytes = { readonly asciiBytes: number; readonly otherBytes: number }

/** Copies into `facts` what an event contains: a start of a message or block, an end, an error. */
export function applyEvent(facts: ReplyFacts, event: unknown, generated: GeneratedBytes): void {
  if (!isJsonObject(event)) return
  const { message, delta, error, content_block: block } = event
  if (isJsonObject(block)) {
    countResult(facts, block)
    countPass(facts.later, block, generated)
  }
  if (isJsonObject(message)) {
    applyMessage(facts, message)
    applyUsage(facts, message.usage)
    facts.firstPass = { ...facts.usage }
  }
  if (isJsonObject(event.usage)) noteReported(facts, event.usage)
  if (isJsonObject(delta) && typeof delta.stop_reason === 'string') {
    facts.stopReason = delta.stop_reason
  }
  applyUsage(facts, event.usage)
  if (isJsonObject(error)) {
    facts.error = { type: String(error.type), message: String(error.message) }
  }
}

/** The counters of a message_delta are sums: they include the passes so far. */
function noteReported(facts: ReplyFacts, usage: Readonly<Record<string, unknown>>): void {
  if (typeof usage.output_tokens === 'number') facts.reportedOutput = usage.output_tokens
  if (typeof usage.input_tokens !== 'number') return
  facts.later.passes = 0
  facts.later.tokens = 0
}

function countPass(
  later: LaterPasses,
  { type, content }: Readonly<Record<string, unknown>>,
  generated: GeneratedBytes,
): void {
  if (String(type).endsWith('_tool_result')) {
    const text = typeof content === 'string' ? `"${content}"` : JSON.stringify(content ?? '')
    const bytes = Buffer.byteLength(text)
    const asciiBytes = bytes === text.length ? bytes : text.replaceAll(/[^\0-\x7f]/g, '').length
    countResultBytes(later, asciiBytes, bytes - asciiBytes)
  } else if (later.isAfterResult) beginPass(later, generated)
}

function countResultBytes(later: LaterPasses, asciiBytes: number, otherBytes: number): void {
  later.asciiBytes += asciiBytes
  later.otherBytes += otherBytes
  later.isAfterResult = true
}

function beginPass(later: LaterPasses, generated: GeneratedBytes): void {
  const asciiBytes = later.asciiBytes + generated.asciiBytes
  const otherBytes = later.otherBytes + generated.otherBytes
  later.passes += 1
  later.tokens += Number(estimateOutput(asciiBytes, otherBytes))
  later.isAfterResult = false
}

/**
 * The counts of a stream that its client left: those that were reported, the passes after that, and
 * the output, reported or estimated, whichever is more.
 */
export function abandonedUsage(facts: ReplyFacts, generated: GeneratedBytes): Usage {
  const { usage = {}, firstPass } = facts
  const later = { ...facts.later }
  if (later.isAfterResult) beginPass(later, generated)
  const { passes, tokens: reread } = later
  const estimated = estimateOutput(generated.asciiBytes, generated.otherBytes)
  const cached = (firstPass.cacheReadTokens ?? 0) + (firstPass.cacheWriteTokens ?? 0)
  return {
    ...usage,
    inputTokens: (usage.inputTokens ?? 0) + passes * (firstPass.inputTokens ?? 0) + reread,
    cacheReadTokens: (usage.cacheReadTokens ?? 0) + passes * cached,
    outputTokens: Math.max(facts.reportedOutput, Number(estimated)),
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

/** The vendor writes the type of a block before its content. */
const UNREAD_TYPE_BYTES = 4_096
// JSON escapes the quotes in a text, so only a type of the block itself looks like this.
const RESULT_TYPE = /"type": ?"([a-z_]+_tool_result)"/

/**
 * The start of a block of which only the first `bytes` bytes were kept: it is too long to parse.
 * Only results of tools are that long, and a failed one is short, so it is a use of its tool.
 */
export function countUnreadBlock(facts: ReplyFacts, kept: readonly Buffer[], bytes: number): void {
  const beginning = Buffer.concat(kept, UNREAD_TYPE_BYTES).toString('latin1')
  countResult(facts, { type: RESULT_TYPE.exec(beginning)?.[1] })
  countResultBytes(facts.later, bytes, 0)
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
