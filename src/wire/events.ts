// The events of a streamed reply, as far as metering needs them: which kinds there are, and what
// the few that carry counters or an end say. Finding them in the bytes is sse.ts's work.

import { type Tokens, tokens } from '../units/tokens.ts'
import { isJsonObject, mergeUsage, type Usage } from './usage.ts'

/** What is known of a reply, streamed or not. */
export type ReplyFacts = {
  messageId: string | undefined
  model: string | undefined
  stopReason: string | undefined
  /** Undefined until the reply has given a usage object. */
  usage: Usage | undefined
  /** The `error` event of a stream. */
  error: { readonly type: string; readonly message: string } | undefined
}

export function noFacts(): ReplyFacts {
  return {
    messageId: undefined,
    model: undefined,
    stopReason: undefined,
    usage: undefined,
    error: undefined,
  }
}

/** Takes over what a `message_start`, `message_delta` or `error` event says. */
export function applyEvent(facts: ReplyFacts, event: unknown): void {
  if (!isJsonObject(event)) return
  const { message, delta, error } = event
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

/** Takes over the members of a message object, except its usage. */
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
 * The published rule for a reply whose end was not awaited: ⌈ASCII bytes / 4 + other bytes / 3⌉ of
 * what was generated, in whole numbers.
 */
export function estimateOutput(asciiBytes: number, otherBytes: number): Tokens {
  return tokens(Math.ceil((3 * asciiBytes + 4 * otherBytes) / 12))
}
