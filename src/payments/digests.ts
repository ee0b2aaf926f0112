// Keyed digests of addresses, networks and cards. Equal ones can be recognised; without the key
// nobody can compute them, so a copy of the database does not tell whose they are. A new
// key makes all earlier digests useless: addresses may then use their promo codes, and get
// a trial, again.
import { createHmac } from 'node:crypto'
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

const GMAIL = /^(?:gmail|googlemail)\.com$/
const YANDEX = /^(?:ya\.ru|yandex\.(?:ru|com|by|kz|ua|com\.tr))$/

/**
 * One spelling for each mailbox: lower case, without the part after a plus sign, which almost all
 * mail servers ignore. Gmail ignores dots, and Yandex takes a dot for a dash; elsewhere they make
 * another mailbox. Somebody whose server knows plus signs as letters loses a promo code at most.
 */
export function normalizeAddress(email: string): string {
  const address = email.trim().toLowerCase()
  const split = address.lastIndexOf('@')
  const [name, domain] = [address.slice(0, split), address.slice(split + 1)]
  const base = name.replace(/(?<=.)\+.*$/, '')
  if (GMAIL.test(domain)) return `${base.replaceAll('.', '')}@gmail.com`
  if (YANDEX.test(domain)) return `${base.replaceAll('.', '-')}@yandex.ru`
  return `${base}@${domain}`
}
