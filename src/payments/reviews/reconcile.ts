// Compares our orders with the provider's payments for a period: every settled payment has an order
// credited with that amount, every credited order is in the provider's list, and refunded amounts
// are equal. It changes nothing; the usual triggers apply what is missing.
import type { Db } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { Order } from '../order/order.ts'
import { orderFindByPayment } from '../order/queries.ts'
import { type Answer, type Page, type Provider, type Snapshot, whyOf } from '../port.ts'
import { orderListCaptured } from './search-queries.ts'

export type Mismatch = {
  readonly provider: string
  readonly paymentId: string
  readonly order: OrderId | null
  readonly what:
    | 'order_unknown'
    | 'not_credited'
    | 'paid_twice'
    | 'amount'
    | 'refunded'
    | 'payment_missing'
  readonly detail: string
}

export type Reconciled = {
  readonly provider: string
  /** How many payments the provider shows for the period, and how many orders we credited. */
  readonly payments: number
  readonly orders: number
  readonly mismatches: readonly Mismatch[]
  /** Why the provider's list could not be read; null when it was. */
  readonly why: string | null
}

/** As for a sweep: a longer list goes in circles. */
const PAGES_MAX = 1_000

export function createReconcile(options: {
  readonly db: Db
  readonly providers: ReadonlyMap<string, Provider>
}) {
  const { db } = options

  async function compare(provider: Provider, from: Date, to: Date): Promise<Reconciled> {
    const shown = await readAll(provider, from, to)
    const own = await orderListCaptured(db, { provider: provider.name, from, to })
    if (typeof shown === 'string') {
      return {
        provider: provider.name,
        payments: 0,
        orders: own.length,
        mismatches: [],
        why: shown,
      }
    }
    const mismatches: Mismatch[] = []
    for (const snapshot of shown.values()) {
      const order = await orderFindByPayment(db, snapshot)
      const found = mismatchOf(snapshot, order)
      if (found !== undefined) mismatches.push(found)
    }
    for (const { id, paymentId, state, price } of own) {
      if (shown.has(paymentId)) continue
      mismatches.push({
        provider: provider.name,
        paymentId,
        order: id,
        what: 'payment_missing',
        detail: `${state} here with ${rublesText(price)} RUB; the provider does not show it`,
      })
    }
    const counts = { payments: shown.size, orders: own.length }
    return { provider: provider.name, ...counts, mismatches, why: null }
  }

  return {
    /** One result for each provider that has a list. Changes nothing. */
    async reconcile(p: { readonly from: Date; readonly to: Date }): Promise<Reconciled[]> {
      const all: Reconciled[] = []
      for (const provider of options.providers.values()) {
        if (!provider.capabilities().hasSettledList) continue
        all.push(await compare(provider, p.from, p.to))
      }
      return all
    },
  }
}

/** Settled payments of the period by their id, or the reason why they could not all be read. */
async function readAll(
  provider: Provider,
  from: Date,
  to: Date,
): Promise<Map<string, Snapshot> | string> {
  const found = new Map<string, Snapshot>()
  let cursor: string | null = null
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page: Answer<Page<Snapshot>> = await provider.listSettled(from, cursor)
    if (page.kind !== 'ok') return whyOf(page)
    for (const one of page.value.items) {
      if (one.capturedAt !== null && one.capturedAt < to) found.set(one.paymentId, one)
    }
    cursor = page.value.next
    if (cursor === null) return found
  }
  return 'its list does not end'
}

function mismatchOf(snapshot: Snapshot, order: Order | undefined): Mismatch | undefined {
  const { provider, paymentId } = snapshot
  const differs = (what: Mismatch['what'], detail: string): Mismatch => ({
    ...{ provider, paymentId, order: order?.id ?? null, what, detail },
  })
  const paid = `${snapshot.amountText} ${snapshot.currency}`
  if (order === undefined) return differs('order_unknown', `${paid} paid; no such order here`)
  if (order.creditedAt === null) return differs('not_credited', `${paid} paid; ${order.state} here`)
  if (order.paymentId !== paymentId) {
    return differs('paid_twice', `${paid} paid; the order was credited for ${order.paymentId}`)
  }
  if (snapshot.amount !== order.price) {
    return differs('amount', `${paid} paid; sold for ${rublesText(order.price)} RUB`)
  }
  const back = snapshot.refunded
  if (back === order.refunded) return undefined
  const there = back === null ? 'an unreadable sum' : `${rublesText(back)} RUB`
  return differs('refunded', `${there} went back there, ${rublesText(order.refunded)} RUB here`)
}
