// Chooses the same target for all turns of a conversation, because an upstream keeps its prompt
// cache per credential. Weighted rendezvous hashing: each target gets a score from a hash of the
// conversation, and the highest goes first; when a target drops out, only its own conversations
// move.
import { crc32 } from 'node:zlib'

/** How much of a body is hashed; this includes the system prompt or the first message. */
const PREFIX_BYTES = 1_024

/** A hash of the conversation that a body belongs to: all its turns begin with the same bytes. */
export function conversationOf(book: bigint, body: Buffer): number {
  return crc32(body.subarray(0, PREFIX_BYTES), Number(book & 0xffff_ffffn))
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
