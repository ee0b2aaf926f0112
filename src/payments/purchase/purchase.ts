// Creates orders, reads them, and checks one when its payer asks. A second click never creates a
// second payment. posting.ts posts an order to the provider; waiting-orders.ts polls open ones.
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/db.ts'
import { type BookId, newOrderId, type OrderId } from '../../platform/ids.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { PackPrice } from '../../units/pack-price.ts'
import type { BuyInput, Order, OrderInput, OrderView } from '../order/order.ts'
import { viewOf } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { firstPollSeconds } from '../order/schedule.ts'
import type { Method, Provider } from '../port.ts'
import { unavailable } from '../providers.ts'
import { paymentRefusal } from '../refusals.ts'
import { createPosting, type PostingOptions } from './posting.ts'
import { orderFindLastPack } from './queries.ts'
import { createWaitingOrders, type WaitingOptions } from './waiting-orders.ts'

export type OrderOptions = {
  readonly clock: Clock
  readonly cell: number
  readonly isOpen: boolean
  /** The provider of new orders; an existing order stays with its own. */
  readonly provider: string
  readonly hasTopUps: boolean
} & PostingOptions &
  Omit<WaitingOptions, 'posting'>

/** Longer than a post can take, so that no other process posts the same order meanwhile. */
const POST_SECONDS = 45
/** The payer's page polls every second; the provider must not be called that often. */
const QUIET_SECONDS = 2

export function createOrders(options: OrderOptions) {
  const { db, reread, providers } = options
  const posting = createPosting(options)
  const waiting = createWaitingOrders({ ...options, posting })

  /** The shop that takes new orders. Refuses: payment_unavailable. */
  function current(name: string): Provider {
    const provider = providers.get(name)
    if (provider === undefined) throw unavailable({ provider: name })
    return provider
  }

  /** The provider for a new order. Refuses: payment_unavailable. */
  function providerFor(input: BuyInput): Provider {
    if (!options.isOpen) throw unavailable({ why: 'closed' })
    const provider = current(options.provider)
    const { min, max } = provider.capabilities().methods[input.method]
    const { priceKopecks } = input.pack
    if (priceKopecks < min || priceKopecks > max) throw unavailable({ priceKopecks, min, max })
    return provider
  }

  /** The order of this attempt, or an open order for the same pack, or a new order. */
  async function place(tx: Tx, input: BuyInput, provider: Provider) {
    const { book, pack, method, attempt, savesMethod = false } = input
    await queries.bookOrdersLock(tx, book)
    const same = await queries.orderFindByAttempt(tx, book, attempt)
    if (same !== undefined) {
      const isSame =
        same.packId === pack.id && same.method === method && same.savesMethod === savesMethod
      if (isSame) return { order: same, isNew: false }
      throw paymentRefusal('order_attempt_reused', 'This attempt was for another purchase.', {
        order: same.id,
      })
    }
    const open = await queries.orderFindReopenable(tx, {
      ...{ book, method, savesMethod },
      provider: provider.name,
      shop: provider.shopRef,
      packId: pack.id,
      credits: pack.credits,
      price: pack.priceKopecks,
    })
    if (open !== undefined) return { order: open, isNew: false }
    const own = { savesMethod, savedMethodId: null, mandate: null }
    const order = await insert(tx, { ...input, ...own }, provider)
    return { order, isNew: true }
  }

  /** Stores an order and its request body; the provider is called later. */
  function insert(tx: Tx, input: OrderInput, provider: Provider): Promise<Order> {
    const { book, pack, method, attempt, email, locale, savesMethod, savedMethodId, mandate } =
      input
    const id = newOrderId(options.cell, options.clock.nowMs())
    const { body, receipt } = provider.draftPayment({
      ...{ order: id, method, email, locale, savesMethod, savedMethodId },
      sale: {
        ...{ book, packId: pack.id, catalogueVersion: pack.catalogueVersion },
        isTopUp: savedMethodId !== null,
      },
      price: pack.priceKopecks,
      title: pack.title,
      credits: pack.credits,
      returnUrl: input.returnUrl.replaceAll('{order}', id),
    })
    return queries.orderInsert(tx, {
      ...{ id, book, attempt, method, email, locale, receipt, savesMethod, mandate },
      provider: provider.name,
      shop: provider.shopRef,
      packId: pack.id,
      packTitle: pack.title,
      credits: pack.credits,
      price: pack.priceKopecks,
      catalogueVersion: pack.catalogueVersion,
      requestBody: body,
      isTopUp: savedMethodId !== null,
      dueSeconds: POST_SECONDS,
    })
  }

  async function find(id: OrderId, book?: BookId): Promise<Order> {
    const order = await queries.orderFind(db, id)
    if (order !== undefined && (book === undefined || order.book === book)) return order
    throw paymentRefusal('order_unknown', 'There is no such order.', { order: id })
  }

  return {
    /** Payment methods for an amount, SBP first: its fee is lowest. None while sales are closed. */
    methods(price: Kopecks): Method[] {
      const { methods } = current(options.provider).capabilities()
      const isTaken = (method: Method) =>
        methods[method].min <= price && price <= methods[method].max
      return options.isOpen ? (['sbp', 'card'] as const).filter(isTaken) : []
    },

    async buy(input: BuyInput): Promise<OrderView> {
      const provider = providerFor(input)
      if (input.savesMethod === true && !options.hasTopUps) {
        throw paymentRefusal('top_up_refused', 'Nothing is kept for automatic top-ups here.')
      }
      const { order, isNew } = await db.transaction((tx) => place(tx, input, provider))
      if (isNew) await posting.post(order, 1, 'buy')
      return viewOf(await find(order.id))
    },

    /** For top-ups: an order paid by the saved method, to be posted after the commit. */
    placeTopUp: (tx: Tx, input: OrderInput, provider: string): Promise<Order> =>
      insert(tx, input, current(provider)),
    post: (order: Order): Promise<void> => posting.post(order, 1, 'buy'),

    find: async (id: OrderId, book?: BookId): Promise<OrderView> => viewOf(await find(id, book)),

    async list(p: { book: BookId; before: OrderId | null; limit: number }): Promise<OrderView[]> {
      return (await queries.orderList(db, p)).map(viewOf)
    },

    hasPurchased: (book: BookId): Promise<boolean> => queries.orderExistsCredited(db, book),

    lastPack: (book: BookId): Promise<PackPrice | undefined> => orderFindLastPack(db, book),

    /** The payer returned or pressed check: fetch the payment, unless that was just done. */
    async check(id: OrderId): Promise<OrderView> {
      const order = await queries.orderClaimCheck(db, id, QUIET_SECONDS)
      const provider = order && providers.of(order)
      if (order !== undefined && order.paymentId !== null && provider !== undefined) {
        await reread.reread(provider, order.paymentId, 'return')
        const { hasSettledList } = provider.capabilities()
        if (!hasSettledList) await queries.orderSetDue(db, id, firstPollSeconds(false))
      }
      return viewOf(await find(id))
    },

    /** Jobs of workers: recover, poll, expire. */
    ...waiting,
  }
}

export type Orders = ReturnType<typeof createOrders>
