// Orders, refunds and promo codes of an owner. Somebody else's order gets the same answer as one
// that does not exist. The payments module decides when an order is credited.
import { z } from 'zod'
import type { Ledger } from '../../../ledger/ledger.ts'
import type { OrderView, Payments, ReceiptView, Refund } from '../../../payments/payments.ts'
import { type BookId, isOrderId, type OrderId } from '../../../platform/ids.ts'
import type { Pricing } from '../../../pricing/pricing.ts'
import { kopecks } from '../../../units/kopecks.ts'
import type * as contract from '../../contract/contract.ts'
import { CabinetRefusal } from '../../refusals.ts'
import { creditsOf, timeOf, timeOrNull } from '../amounts.ts'
import type { RouteTable } from '../routes.ts'
import { declineOf } from './declines.ts'
import { packsOf } from './packs.ts'

export type OrderOptions = {
  readonly payments: Pick<
    Payments,
    | 'buy'
    | 'order'
    | 'orders'
    | 'check'
    | 'refundable'
    | 'requestRefund'
    | 'refunds'
    | 'redeem'
    | 'methods'
    | 'receipts'
  >
  readonly ledger: Pick<Ledger, 'lots'>
  readonly pricing: Pick<Pricing, 'current'>
  /** Payers return there. */
  readonly cabinetUrl: string
}

/** An owner who mistypes a card tries a few times an hour; only a program makes a hundred. */
const BUY_ALLOWANCE = { max: 30, seconds: 3_600 }
/** A page checks every two seconds while its payer waits. */
const CHECK_ALLOWANCE = { max: 60, seconds: 60 }
const REFUND_ALLOWANCE = { max: 20, seconds: 3_600 }
/** The payments module counts wrong codes per hour as well. */
const REDEEM_ALLOWANCE = { max: 30, seconds: 3_600 }
const PAGE = 20
const PAGE_MAX = 100

const attempt = z.string().regex(/^[\w-]{1,100}$/)
const purchase = z.object({
  pack: z.string().max(64),
  method: z.enum(['sbp', 'card']),
  attempt,
  savesMethod: z.boolean().optional(),
})

export function orderRoutes({
  payments,
  ledger,
  pricing,
  cabinetUrl,
}: OrderOptions): RouteTable<
  | 'GET /api/packs'
  | 'POST /api/orders'
  | 'GET /api/orders'
  | 'GET /api/orders/:id'
  | 'POST /api/orders/:id/check'
  | 'GET /api/orders/:id/refundable'
  | 'POST /api/orders/:id/refund'
  | 'POST /api/promo'
> {
  return {
    'GET /api/packs': {
      session: 'required',
      async run() {
        const { version } = pricing.current()
        return { catalogueVersion: version, packs: packsOf(pricing, payments) }
      },
    },

    'POST /api/orders': {
      session: 'open',
      allowance: BUY_ALLOWANCE,
      body: purchase,
      async run({ session, body }) {
        // One read, so that price and catalogue version belong together.
        const { version, packs } = pricing.current()
        const pack = packs.find(({ id }) => id === body.pack)
        if (pack === undefined) throw new CabinetRefusal('pack_unknown', 'There is no such pack.')
        const { id, name, credits, priceKopecks } = pack
        const { book, email, language: locale } = session
        const order = await payments.buy({
          ...{ book, email, locale, method: body.method, attempt: body.attempt },
          // Receipts are in Russian.
          pack: { id, title: name.ru, credits, priceKopecks, catalogueVersion: version },
          returnUrl: `${cabinetUrl}/orders/{order}`,
          savesMethod: body.savesMethod === true && body.method === 'card',
        })
        return orderOf(order)
      },
    },

    'GET /api/orders': {
      session: 'required',
      query: z.object({
        before: z.string().max(100).optional(),
        limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
      }),
      async run({ session, query }) {
        const { before, limit = PAGE } = query
        const page = await payments.orders({
          book: session.book,
          before: before === undefined ? null : orderId(before),
          limit: limit + 1,
        })
        const orders = page.slice(0, limit)
        const next = page.length > limit ? (orders.at(-1)?.id ?? null) : null
        return { orders: orders.map(await viewsOf(ledger, session.book)), next }
      },
    },

    'GET /api/orders/:id': {
      session: 'required',
      async run({ session, params }) {
        const order = await payments.order(orderId(params.id), session.book)
        const refunds = await payments.refunds(session.book)
        const view = await viewsOf(ledger, session.book)
        return {
          ...view(order),
          refunds: refunds.filter((one) => one.order === order.id).map(refundOf),
          receipts: (await payments.receipts.of([order.id])).map(receiptOf),
        }
      },
    },

    'POST /api/orders/:id/check': {
      session: 'required',
      allowance: CHECK_ALLOWANCE,
      body: z.object({}),
      async run({ session, params }) {
        return orderOf(await payments.check(await ownOrder(params.id, session.book)))
      },
    },

    'GET /api/orders/:id/refundable': {
      session: 'required',
      async run({ session, params }) {
        const found = await payments.refundable(orderId(params.id), session.book)
        return {
          amountKopecks: String(found.amountKopecks),
          credits: creditsOf(found.credits),
          why: found.why,
        }
      },
    },

    'POST /api/orders/:id/refund': {
      session: 'open',
      action: 'order.refund',
      allowance: REFUND_ALLOWANCE,
      body: z.object({
        attempt,
        amountKopecks: z
          .string()
          .regex(/^[1-9]\d{0,14}$/)
          .optional(),
      }),
      async run({ session, params, body }) {
        const { amountKopecks } = body
        const refund = await payments.requestRefund({
          order: orderId(params.id),
          book: session.book,
          attempt: body.attempt,
          ...(amountKopecks !== undefined && { amountKopecks: kopecks(BigInt(amountKopecks)) }),
          by: session.account,
          reason: 'The owner asked for it in the cabinet.',
        })
        return refundOf(refund)
      },
    },

    'POST /api/promo': {
      session: 'open',
      allowance: REDEEM_ALLOWANCE,
      body: z.object({ code: z.string().max(100) }),
      async run({ session, body }) {
        const { credits } = await payments.redeem(session.book, body.code)
        return { credits: creditsOf(credits) }
      },
    },
  }

  /** `payments.check` takes any order, so this makes sure that it is the owner's. */
  async function ownOrder(text: string, book: BookId): Promise<OrderId> {
    return (await payments.order(orderId(text), book)).id
  }
}

function orderId(text: string): OrderId {
  if (isOrderId(text)) return text
  throw new CabinetRefusal('order_unknown', 'There is no such order.')
}

/** Shows orders of a book, each with what is left of its lot, which bears the order's id. */
async function viewsOf(
  ledger: OrderOptions['ledger'],
  book: BookId,
): Promise<(order: OrderView) => contract.OrderWithUnspent> {
  const lots = new Map((await ledger.lots(book)).map((lot) => [lot.ref, lot.unspent]))
  return (order) => {
    const unspent = lots.get(order.id)
    return { ...orderOf(order), unspent: unspent === undefined ? null : creditsOf(unspent) }
  }
}

export function orderOf(order: OrderView): contract.Order {
  const { pack, receiptState } = order
  return {
    id: order.id,
    state: order.state,
    method: order.method,
    pack: { id: pack.id, title: pack.title, credits: creditsOf(pack.credits) },
    priceKopecks: String(order.priceKopecks),
    refundedKopecks: String(order.refundedKopecks),
    confirmation: order.confirmation,
    payableUntil: timeOrNull(order.payableUntil),
    decline: declineOf(order),
    receipt: receiptState === null ? null : { state: receiptState },
    createdAt: timeOf(order.createdAt),
    creditedAt: timeOrNull(order.creditedAt),
    isTopUp: order.isTopUp,
  }
}

function receiptOf(receipt: ReceiptView): contract.Receipt {
  const { id, kind, state, amountKopecks, createdAt, periodUntil, fiscal } = receipt
  return {
    ...{ id, kind, state, amountKopecks: String(amountKopecks), createdAt: timeOf(createdAt) },
    usedUntil: timeOrNull(periodUntil),
    fiscal: fiscal && { ...fiscal, registeredAt: timeOf(fiscal.registeredAt) },
  }
}

function refundOf(refund: Refund): contract.Refund {
  return {
    id: refund.id,
    order: refund.order,
    state: refund.state,
    amountKopecks: String(refund.amount),
    credits: creditsOf(refund.credits),
    createdAt: timeOf(refund.createdAt),
    endedAt: timeOrNull(refund.endedAt),
  }
}
