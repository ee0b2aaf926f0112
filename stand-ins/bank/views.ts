// What GET /sim/… shows: state, payments, refunds, receipts, notices, calls, rules.
import type { ReceivedCall } from './calls.ts'
import { BankError } from './errors.ts'
import type { Payment, Refund } from './objects.ts'
import type { Parts } from './parts.ts'
import type { Receipt } from './receipts.ts'
import type { Delivery } from './webhooks.ts'

type View = (parts: Parts, query: URLSearchParams) => object

// A page of any record, unless `last` asks for more.
const shownByDefault = 100

export const views: Readonly<Record<string, View>> = {
  state: ({ store, webhooks, calls }) => ({
    now: new Date(store.now()).toISOString(),
    settings: store.settings,
    counts: {
      payments: store.payments().length,
      refunds: store.refunds.all().length,
      deliveries: webhooks.count(),
      calls: calls.count(),
    },
  }),

  payments({ store }, query) {
    const isAsked = both(
      asked(query, 'paymentId', ({ id }: Payment) => id),
      asked(query, 'orderId', ({ metadata }: Payment) => metadata?.order_id),
      asked(query, 'status', ({ status }: Payment) => status),
    )
    const payments = newest(store.payments(), count(query), isAsked)
    return {
      payments: payments.map((payment) => ({ ...store.shown(payment), sim: toldOf(payment) })),
    }
  },

  refunds({ store }, query) {
    const isAsked = both(
      asked(query, 'paymentId', ({ payment_id }: Refund) => payment_id),
      asked(query, 'refundId', ({ id }: Refund) => id),
    )
    const refunds = newest(store.refunds.all(), count(query), isAsked)
    return { refunds: refunds.map((refund) => store.shown(refund)) }
  },

  receipts({ store }, query) {
    const isAsked = both(
      asked(query, 'paymentId', ({ payment_id }: Receipt) => payment_id),
      asked(query, 'refundId', ({ refund_id }: Receipt) => refund_id),
      asked(query, 'status', ({ status }: Receipt) => status),
    )
    const receipts = newest(store.receipts.all(), count(query), isAsked)
    return { receipts: receipts.map(store.receipts.shown) }
  },

  deliveries({ webhooks }, query) {
    const isAsked = both(
      asked(query, 'paymentId', ({ paymentId }: Delivery) => paymentId),
      asked(query, 'event', ({ event }: Delivery) => event),
      asked(query, 'outcome', ({ outcome }: Delivery) => outcome),
    )
    return { count: webhooks.count(), deliveries: webhooks.deliveries(count(query), isAsked) }
  },

  calls({ calls }, query) {
    const isAsked = both(
      asked(query, 'orderId', ({ orderId }: ReceivedCall) => orderId),
      asked(query, 'method', ({ method }: ReceivedCall) => method),
    )
    return { count: calls.count(), calls: calls.last(count(query), isAsked) }
  },

  faults: ({ faults }) => ({ faults: faults.list() }),
  modes: ({ webhooks }) => ({ modes: webhooks.modes.list() }),
}

function count(query: URLSearchParams): number {
  const last = query.get('last') ?? String(shownByDefault)
  if (!/^\d{1,7}$/.test(last)) throw new BankError(400, 'stand-in: last is a whole number')
  return Number(last)
}

function asked<Item>(query: URLSearchParams, name: string, value: (item: Item) => unknown) {
  const wanted = query.get(name)
  return (item: Item) => wanted === null || value(item) === wanted
}

function both<Item>(...checks: ((item: Item) => boolean)[]) {
  return (item: Item) => checks.every((check) => check(item))
}

/** Oldest first, like every record. */
function newest<Item>(items: readonly Item[], most: number, isAsked: (item: Item) => boolean) {
  const found: Item[] = []
  for (let at = items.length - 1; at >= 0 && found.length < most; at -= 1) {
    const item = items[at]
    if (item !== undefined && isAsked(item)) found.push(item)
  }
  return found.reverse()
}

/** The private data of a payment, as far as JSON can carry it. */
function toldOf({ sim }: Payment): object {
  const { attempts, returnUrl, locale, method, isCapture, isRefundPending, sbpLink, shown } = sim
  return { attempts, returnUrl, locale, method, isCapture, isRefundPending, sbpLink, shown }
}
