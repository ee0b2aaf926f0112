// Whose request it is. Anyone may send a header, so the one that names the client is read only when
// the peer is a proxy that we know; else a guesser would count as a new client with every request.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { type Networks, plainAddress } from '../platform/networks.ts'

export type AddressOptions = {
  /** In lower case; `none` reads no header. */
  readonly header: string
  readonly trusted: Networks
}

export function addressOf(
  { headers, socket }: IncomingMessage,
  { header, trusted }: AddressOptions,
): string {
  const peer = plainAddress(socket.remoteAddress ?? 'unknown')
  if (header === 'none' || !trusted.has(peer)) return peer
  // Every proxy adds the address it saw at the end. The first from the right that is not one of
  // ours is the client; what stands left of it came from the client and may say anything.
  const named = [headers[header] ?? []].flat().join(',')
  for (const one of named.split(',').reverse()) {
    const address = plainAddress(one.trim())
    if (isIP(address) === 0) break
    if (!trusted.has(address)) return address
  }
  return peer
}
