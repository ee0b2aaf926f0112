// Keyed digests of addresses, networks and cards. Equal ones can be recognised; without the key
// nobody can compute them, so a copy of the database does not tell whose they are. A new
// key makes all earlier digests useless: addresses may then use their promo codes, and get
// a trial, again.
import { createHmac } from 'node:crypto'
import { normalizeAddress } from '../platform/mail/normalize-address.ts'
import type { Masked } from '../platform/masked.ts'
import type { PayerCard } from './port.ts'

export function createDigests(secret: Masked<string>) {
  const digest = (kind: string, text: string): Buffer =>
    createHmac('sha256', secret.reveal()).update(`${kind}\n${text}`).digest()

  return {
    address: (email: string): Buffer => digest('address', normalizeAddress(email)),
    /** Of an IPv4 /24 or an IPv6 /48, as `siteOf` names it. */
    network: (network: string): Buffer => digest('network', network),
    card: (card: PayerCard): Buffer =>
      digest('card', [card.first6, card.last4, card.expiryMonth, card.expiryYear].join(' ')),
  }
}

export type Digests = ReturnType<typeof createDigests>
