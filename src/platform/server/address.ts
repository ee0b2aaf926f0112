// The client's address. Any client can send any header, so we read the one that names the client
// only when the peer is a trusted proxy; otherwise a guesser could forge a new address each time.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { type Networks, plainAddress } from '../networks.ts'

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
  // Every proxy appends the address that it saw. The first from the right that is not a trusted
  // proxy is the client; the client itself may have sent everything to the left of it.
  const named = [headers[header] ?? []].flat().join(',')
  for (const one of named.split(',').reverse()) {
    const address = plainAddress(one.trim())
    if (isIP(address) === 0) break
    if (!trusted.has(address)) return address
  }
  return peer
}
