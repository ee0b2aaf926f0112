// A finished message as the events of a stream, in the vendor's grammar: message_start, blocks
// with their deltas, message_delta with cumulative usage, message_stop. Events are made one at a
// time as the sender asks for them, so ten thousand open streams hold texts, not events.
import { messageObject, type Reply, type ReplyBlock, stopDetails } from './reply.ts'
import { deltasOf } from './text.ts'

/** The data of one event; its name is its type. */
export type StreamEvent = { readonly type: string; readonly [member: string]: unknown }

export const ping: StreamEvent = { type: 'ping' }

export function* eventsOf(reply: Reply): Generator<StreamEvent> {
  const {
    output_tokens: outputTokens,
    output_tokens_details,
    server_tool_use,
    ...start
  } = reply.usage
  const shell = { ...messageObject(reply), content: [], stop_reason: null, stop_sequence: null }
  const usage = { ...start, output_tokens: Math.min(1, outputTokens) }
  yield { type: 'message_start', message: { ...shell, stop_details: null, usage } }
  for (const [index, block] of reply.content.entries()) {
    yield { type: 'content_block_start', index, content_block: openingOf(block) }
    // The vendor sends one ping here; clients have to expect it anywhere.
    if (index === 0) yield ping
    for (const delta of deltasOfBlock(block)) yield { type: 'content_block_delta', index, delta }
    yield { type: 'content_block_stop', index }
  }
  yield {
    type: 'message_delta',
    delta: {
      stop_reason: reply.stopReason,
      stop_sequence: reply.stopSequence,
      stop_details: stopDetails(reply.stopReason),
    },
    usage: {
      input_tokens: start.input_tokens,
      cache_creation_input_tokens: start.cache_creation_input_tokens,
      cache_read_input_tokens: start.cache_read_input_tokens,
      output_tokens: outputTokens,
      ...(output_tokens_details === undefined ? {} : { output_tokens_details }),
      ...(server_tool_use === undefined ? {} : { server_tool_use }),
    },
  }
  yield { type: 'message_stop' }
}

function openingOf(block: ReplyBlock): object {
  switch (block.type) {
    case 'text':
      return block.citations === undefined
        ? { type: 'text', text: '' }
        : { type: 'text', text: '', citations: [] }
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'tool_use':
    case 'server_tool_use':
      return { ...block, input: {} }
    case 'future_block':
      return { type: 'future_block', novelty: '' }
    default:
      // Redacted thinking and search results arrive complete, without deltas.
      return block
  }
}

function* deltasOfBlock(block: ReplyBlock): Generator<object> {
  if (block.type === 'text') {
    for (const text of deltasOf(block.text)) yield { type: 'text_delta', text }
    for (const citation of block.citations ?? []) yield { type: 'citations_delta', citation }
  } else if (block.type === 'thinking') {
    for (const thinking of deltasOf(block.thinking)) yield { type: 'thinking_delta', thinking }
    yield { type: 'signature_delta', signature: block.signature }
  } else if (block.type === 'tool_use' || block.type === 'server_tool_use') {
    // The first piece is empty, as the vendor's often is; an empty input has no further piece.
    yield { type: 'input_json_delta', partial_json: '' }
    if (Object.keys(block.input).length === 0) return
    for (const partial_json of deltasOf(JSON.stringify(block.input))) {
      yield { type: 'input_json_delta', partial_json }
    }
  } else if (block.type === 'future_block') {
    yield { type: 'future_delta', novelty: block.novelty }
  }
}
