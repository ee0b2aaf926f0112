// Chooses the same target for all turns of a conversation, because an upstream keeps its prompt
// cache per credential. Weighted rendezvous hashing: each target gets a score from a hash of the
// conversation, and the highest goes first; when a target drops out, only its own conversations
// move.
import type { IncomingHttpHeaders } from 'node:http'
import { crc32 } from 'node:zlib'
import type { CountRequest } from '../wire/draft.ts'
import { openingOf } from '../wire/opening.ts'

/**
 * The session of a coding agent. It stays when the agent compacts a conversation or changes its
 * tools, and its subagents send it too: their prompts begin like those of the session.
 */
const SESSION_HEADER = 'x-claude-code-session-id'

/** What identifies the conversation of a request. */
export type ConversationSource = {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly request: CountRequest
}

/** A hash of the conversation that a request belongs to: all its turns have the same one. */
export function conversationOf(
  book: bigint,
  { headers, body, request }: ConversationSource,
): number {
  const session = headers[SESSION_HEADER] || openingOf(body, request)
  return crc32(String(session), Number(book & 0xffff_ffffn))
}

/** The targets in the order in which the conversation tries them, without those of weight 0. */
export function rank<Target extends { readonly salt: number; readonly weight: number }>(
  targets: readonly Target[],
  conversation: number,
): Target[] {
  return targets
    .filter((target) => target.weight > 0)
    .map((target) => ({ target, score: score(conversation, target.salt, target.weight) }))
    .sort((a, b) => b.score - a.score)
    .map(({ target }) => target)
}

// -weight / ln(u), u uniform in (0, 1): the share of first places is proportional to the weights.
function score(conversation: number, salt: number, weight: number): number {
  const uniform = (mix(conversation ^ salt) + 0.5) / 4_294_967_296
  return -weight / Math.log(uniform)
}

/** The finaliser of murmur3: every bit of the input reaches every bit of the output. */
function mix(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
