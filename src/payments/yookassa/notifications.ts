// Parses YooKassa's notifications. They have no signature, id or time, so they only hint at which
// payment to fetch. An operator can switch on a filter by the sender's address.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { assert } from '../../platform/assert.ts'
import { readNetworks } from '../../platform/networks.ts'
import type { Notification, NotificationEvent } from '../port.ts'

/** The addresses of senders, as the provider publishes them. */
const PUBLISHED =
  '185.71.76.0/27,185.71.77.0/27,77.75.153.0/25,77.75.154.128/25,77.75.156.11,77.75.156.35,' +
  '2a02:5180::/32'

const EVENTS: readonly NotificationEvent[] = [
  'payment.succeeded',
  'payment.canceled',
  'refund.succeeded',
]

const id = z.string().regex(/^[0-9A-Za-z-]{1,64}$/)
const notificationShape = z.looseObject({
  type: z.literal('notification'),
  event: z.string().regex(/^[a-z_]{1,30}(?:\.[a-z_]{1,30}){1,2}$/),
  object: z.looseObject({
    id,
    payment_id: id.optional(),
    metadata: z.looseObject({ order_id: z.string().max(100).optional() }).optional(),
  }),
})

/** `sources`: `any`, `published`, or a comma-separated list of addresses and networks. */
export function createNotificationParser(sources: string) {
  const allowed = sources === 'any' ? undefined : readNetworks(networksOf(sources))
  assert(allowed === undefined || 'has' in allowed, 'the sources were checked with the settings')

  return (given: { readonly body: string; readonly peer: string }): Notification | undefined => {
    if (allowed !== undefined && !allowed.has(given.peer)) {
      return { trust: 'rejected', why: 'the sender is not on the list' }
    }
    const read = notificationShape.safeParse(jsonOf(given.body)).data
    if (read === undefined) return undefined
    const { event, object } = read
    // For a refund fetch its payment: refunds made in the merchant portal are unknown to us.
    const paymentId = event.startsWith('payment.') ? object.id : object.payment_id
    if (paymentId === undefined) return undefined
    return {
      trust: 'unverified',
      event: EVENTS.find((known) => known === event) ?? null,
      paymentId,
      orderRef: object.metadata?.order_id ?? null,
      digest: createHash('sha256').update(given.body).digest('hex'),
    }
  }
}

function networksOf(sources: string): string {
  return sources === 'published' ? PUBLISHED : sources
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not JSON, so not from the provider
  }
}
