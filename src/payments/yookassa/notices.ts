// YooKassa's notifications. They carry no signature, no id and no time, so nothing in them is
// believed: they only say which payment to ask about. The sender's address is a first filter that
// an operator may switch on; asking the provider is the proof.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { assert } from '../../platform/assert.ts'
import { readNetworks } from '../../platform/networks.ts'
import type { Notice } from '../port.ts'

/** As the provider publishes them. */
const PUBLISHED =
  '185.71.76.0/27,185.71.77.0/27,77.75.153.0/25,77.75.154.128/25,77.75.156.11,77.75.156.35,' +
  '2a02:5180::/32'

const id = z.string().regex(/^[0-9A-Za-z-]{1,64}$/)
const notification = z.looseObject({
  type: z.literal('notification'),
  event: z.string().regex(/^[a-z_]{1,30}(?:\.[a-z_]{1,30}){1,2}$/),
  object: z.looseObject({
    id,
    payment_id: id.optional(),
    metadata: z.looseObject({ order_id: z.string().max(100).optional() }).optional(),
  }),
})

/** `any`, `published`, or a list of addresses and networks between commas. */
export function createNoticeReader(sources: string) {
  const allowed = sources === 'any' ? undefined : readNetworks(networksOf(sources))
  assert(allowed === undefined || 'has' in allowed, 'the sources were checked with the settings')

  return (given: { readonly body: string; readonly peer: string }): Notice | undefined => {
    if (allowed !== undefined && !allowed.has(given.peer)) {
      return { trust: 'rejected', why: 'the sender is not on the list' }
    }
    const read = notification.safeParse(jsonOf(given.body)).data
    if (read === undefined) return undefined
    const { event, object } = read
    // A refund is known by its payment: it may have been made at the provider's own desk.
    const paymentId = event.startsWith('payment.') ? object.id : object.payment_id
    if (paymentId === undefined) return undefined
    const digest = createHash('sha256').update(given.body).digest('hex').slice(0, 32)
    return {
      trust: 'unverified',
      event,
      paymentId,
      orderRef: object.metadata?.order_id ?? null,
      dedupe: `${event}:${object.id}:${digest}`,
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
    return undefined // whoever sent it, it was not the provider
  }
}
