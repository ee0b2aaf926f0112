// Step 2: whose request is it? `x-api-key` or `Authorization: Bearer`, both first class: new client
// libraries send the one, older ones the other, some both. Before the body is read, so that a
// stranger cannot make us take 32 MiB.
import type { Keys } from '../keys/keys.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Authenticated, Exchange } from './exchange.ts'

/** Refuses: key_missing, and whatever keys.verify refuses. */
export async function authenticate(
  exchange: Exchange,
  keys: Keys,
  slug: string,
): Promise<Authenticated> {
  const plain = keyOf(exchange, slug)
  const caller = await keys.verify(plain, exchange.address)
  return { ...caller, plain }
}

function keyOf({ incoming }: Exchange, slug: string): string {
  const { headers } = incoming
  const direct = (headers['x-api-key'] ?? '').trim()
  const bearer = /^bearer\s+(.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim() ?? ''
  if (direct === '' && bearer === '') {
    throw new Refusal('key_missing', 'x-api-key header is required')
  }
  if (direct === '' || bearer === '' || direct === bearer) return direct || bearer
  // Both, and different: a client with another service's credential beside ours.
  const isOurs = (key: string) =>
    key.startsWith(`sk-${slug}-api03-`) || key.startsWith(`sk-${slug}-03-`)
  return !isOurs(direct) && isOurs(bearer) ? bearer : direct
}
