// The rules of `messages`: roles, block kinds, non-empty texts, tool results that answer tool uses,
// and thinking blocks that come back exactly as they were signed. The last rule detects a relay
// that alters history.
import { createHmac } from 'node:crypto'
import { invalid } from './errors.ts'
import { isObject, type JsonObject } from './json.ts'
import type { ApiVersion } from './version.ts'

export type Turn = {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: readonly JsonObject[]
}

const blockKinds = new Set(
  (
    'text image document search_result tool_use tool_result thinking redacted_thinking ' +
    'server_tool_use web_search_tool_result web_fetch_tool_result code_execution_tool_result ' +
    'bash_code_execution_tool_result text_editor_code_execution_tool_result ' +
    'tool_search_tool_result container_upload mcp_tool_use mcp_tool_result mcp_tool_listing ' +
    'advisor_tool_result compaction fallback tool_addition tool_removal'
  ).split(' '),
)

/** The signature sent with a thinking text, which must come back with it. */
export function signThinking(thinking: string): string {
  return createHmac('sha512', 'stand-in').update(thinking).digest('base64')
}

/** May throw a 400 that names the place. */
export function readTurns(messages: unknown, version: ApiVersion): Turn[] {
  if (messages === undefined) throw invalid('messages: Field required')
  if (!Array.isArray(messages)) throw invalid('messages: Input should be a valid list')
  if (messages.length === 0) throw invalid('messages: at least one message is required')
  const turns = messages.map((message: unknown, at) =>
    readTurn(message, at, at === messages.length - 1),
  )
  for (const [at, turn] of turns.entries()) {
    for (const [place, block] of turn.content.entries()) {
      checkBlock(block, turn, `messages.${at}.content.${place}`, version)
    }
  }
  checkToolResults(turns)
  return turns
}

/** The turns of a body that may be invalid: instructions are read before it is validated. */
export function readTurnsLoosely(body: unknown): Turn[] {
  const messages = isObject(body) && Array.isArray(body.messages) ? body.messages : []
  const last = messages.findLast((message) => isObject(message) && message.role === 'user')
  if (last === undefined) return []
  const content =
    typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content
  return [{ role: 'user', content: Array.isArray(content) ? content.filter(isObject) : [] }]
}

function readTurn(message: unknown, at: number, isLast: boolean): Turn {
  if (!isObject(message)) throw invalid(`messages.${at}: Input should be a valid dictionary`)
  const { role, content } = message
  if (role === undefined) throw invalid(`messages.${at}.role: Field required`)
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw invalid(
      `messages: Unexpected role "${role}". Allowed roles are "user", "assistant" or "system"`,
    )
  }
  if (content === undefined) throw invalid(`messages.${at}.content: Field required`)
  if (typeof content !== 'string' && !Array.isArray(content)) {
    throw invalid(`messages.${at}.content: Input should be a valid list`)
  }
  if (content.length === 0 && !(isLast && role === 'assistant')) {
    throw invalid(
      `messages.${at}: all messages must have non-empty content except for the optional final ` +
        'assistant message',
    )
  }
  return {
    role,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  }
}

function checkBlock(block: unknown, turn: Turn, path: string, version: ApiVersion): void {
  if (!isObject(block)) throw invalid(`${path}: Input should be a valid dictionary`)
  if (block.type === undefined) throw invalid(`${path}.type: Field required`)
  if (typeof block.type !== 'string' || !blockKinds.has(block.type)) {
    const expected = [...blockKinds].map((kind) => `'${kind}'`).join(', ')
    throw invalid(
      `${path}: Input tag '${block.type}' found using 'type' does not match any of the expected ` +
        `tags: ${expected}`,
    )
  }
  if (block.type === 'text') {
    if (typeof block.text !== 'string') throw invalid(`${path}.text.text: Field required`)
    if (block.text === '') throw invalid('messages: text content blocks must be non-empty')
  }
  if (block.type === 'thinking' && block.signature !== signThinking(`${block.thinking}`)) {
    throw invalid(`${path}: Invalid \`signature\` in \`thinking\` block`)
  }
  const ttl = isObject(block.cache_control) ? (block.cache_control.ttl ?? '5m') : '5m'
  if (ttl !== '5m' && ttl !== '1h') {
    throw invalid(`${path}.${block.type}.cache_control.ephemeral.ttl: Input should be '5m' or '1h'`)
  }
  if (version === '2026-10-21') checkBlockOfNewVersion(block, turn, path)
}

function checkBlockOfNewVersion(block: JsonObject, turn: Turn, path: string): void {
  if (block.type === 'document' && turn.role === 'assistant') {
    throw invalid(`${path}: \`document\` blocks are not permitted in assistant messages`)
  }
  const hasCitations = Array.isArray(block.citations) && block.citations.length > 0
  if (block.type === 'text' && turn.role === 'user' && hasCitations) {
    throw invalid(`${path}.text.citations: citations are not permitted in user messages`)
  }
}

// Neighbouring turns of one role count as one message, as they do at the vendor.
function checkToolResults(turns: readonly Turn[]): void {
  let asked = new Set<unknown>()
  let askedAt = 0
  let previousRole = ''
  for (const [at, turn] of turns.entries()) {
    if (turn.role === 'system') continue
    if (turn.role === 'assistant') {
      if (previousRole !== 'assistant') asked = new Set()
      for (const block of turn.content) if (block.type === 'tool_use') asked.add(block.id)
      askedAt = at
    } else {
      answerToolUses(turn, at, asked)
    }
    previousRole = turn.role
    const isFollowedBySameRole = turns[at + 1]?.role === turn.role
    if (turn.role === 'user' && !isFollowedBySameRole && asked.size > 0) {
      throw invalid(
        `messages.${askedAt}: \`tool_use\` ids were found without \`tool_result\` blocks ` +
          `immediately after: ${[...asked].join(', ')}. Each \`tool_use\` block must have a ` +
          'corresponding `tool_result` block in the next message.',
      )
    }
  }
}

function answerToolUses(turn: Turn, at: number, asked: Set<unknown>): void {
  for (const [place, block] of turn.content.entries()) {
    if (block.type !== 'tool_result' || asked.delete(block.tool_use_id)) continue
    throw invalid(
      `messages.${at}.content.${place}: unexpected \`tool_use_id\` found in \`tool_result\` ` +
        `blocks: ${block.tool_use_id}. Each \`tool_result\` block must have a corresponding ` +
        '`tool_use` block in the previous message.',
    )
  }
}
