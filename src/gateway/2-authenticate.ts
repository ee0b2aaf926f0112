// Step 2: finds the account by its key. `x-api-key` and `Authorization: Bearer` are equal: new
// client libraries send the first, older ones the second, some send both. It runs before the body
// is read, so that a client without a key cannot make us receive 32 MiB.
import type { Keys } from '../keys/keys.ts'
import type { BookId } from '../platform/ids.ts'
import { isRefusal } from '../platform/refusal.ts'
import type { Authenticated, Exchange } from './exchange.ts'
import { gatewayRefusal } from './refusals.ts'

/** Refuses: key_missing, and the refusals of keys.verify. */
export async function authenticate(
  exchange: Exchange,
  keys: Keys,
  slug: string,
): Promise<Authenticated> {
  const plainKey = keyOf(exchange, slug)
  const { journal, clock } = exchange
  const caller = await keys.verify(plainKey, exchange.address).catch((error: unknown) => {
    // The account that the key belonged to: its owner should see that it is still in use.
    if (isRefusal(error, 'key_revoked')) journal.book = error.detail.book as BookId | undefined
    throw error
  })
  journal.book = caller.book
  journal.keyId = caller.keyId
  journal.keyCheckedMs = clock.spanMs()
  return { ...caller, plainKey }
}

function keyOf({ clientRequest }: Exchange, slug: string): string {
  const { headers } = clientRequest
  const direct = (headers['x-api-key'] ?? '').trim()
  const bearer = /^bearer\s+(.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim() ?? ''
  if (direct === '' && bearer === '') {
    throw gatewayRefusal('key_missing', 'x-api-key header is required')
  }
  if (direct === '' || bearer === '' || direct === bearer) return direct || bearer
  // Both are set and differ: the client also sends another service's credential.
  const isOurs = (key: string) =>
    key.startsWith(`sk-${slug}-api03-`) || key.startsWith(`sk-${slug}-03-`)
  return !isOurs(direct) && isOurs(bearer) ? bearer : direct
}
