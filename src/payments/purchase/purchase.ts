// Orders from the click on: buying, reading, and looking when the payer asks. A second click never
// makes a second payment. posting.ts brings an order to the provider; waiting-orders.ts looks after
// those that are not over.
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/db.ts'
import { type BookId, newOrderId, type OrderId } from '../../platform/ids.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { BuyAsk, Order, OrderAsk, OrderView } from '../order/order.ts'
import { viewOf } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { firstLookSeconds } from '../order/schedule.ts'
import type { Method, Provider } from '../port.ts'
import { createPosting, type PostingOptions } from './posting.ts'
import { providerOf, unavailable } from './providers.ts'
import { createWaitingOrders, type WaitingOptions } from './waiting-orders.ts'

export type OrderOptions = {
  readonly clock: Clock
  readonly cell: number
  readonly isOpen: boolean
  /** Who takes new orders; an old order stays with its own provider. */
  readonly provider: string
  readonly hasTopUps: boolean
} & PostingOptions &
  Omit<WaitingOptions, 'posting'>

/** Longer than a post may take: nobody posts the same order beside the process that is at it. */
const POST_SECONDS = 45
/** A page that asks every second must not ask the provider every second. */
const QUIET_SECONDS = 2

export function createOrders(options: OrderOptions) {
  const { db, reread, providers } = options
  const posting = createPosting(options)
  const waiting = createWaitingOrders({ ...options, posting })

  /** The provider for a new order, or a refusal. */
  function providerFor(ask: BuyAsk): Provider {
    if (!options.isOpen) throw unavailable({ why: 'closed' })
    const provider = providerOf(providers, options.provider)
    const { min, max } = provider.capabilities().methods[ask.method]
    const { priceKopecks } = ask.pack
    if (priceKopecks < min || priceKopecks > max) throw unavailable({ priceKopecks, min, max })
    return provider
  }

  /** The order of this attempt, one that is open for the same thing, or a new one. */
  async function place(tx: Tx, ask: BuyAsk, provider: Provider) {
    const { book, pack, method, attempt, savesMethod = false } = ask
    await queries.bookOrdersLock(tx, book)
    const same = await queries.orderFindByAttempt(tx, book, attempt)
    if (same !== undefined) {
      const isSame =
        same.packId === pack.id && same.method === method && same.savesMethod === savesMethod
      if (isSame) return { order: same, isNew: false }
      throw new Refusal('order_attempt_reused', 'This attempt was for another purchase.', {
        order: same.id,
      })
    }
    const open = await queries.orderFindReopenable(tx, {
      ...{ book, method, savesMethod },
      provider: provider.name,
      packId: pack.id,
      credits: pack.credits,
      price: pack.priceKopecks,
    })
    if (open !== undefined) return { order: open, isNew: false }
    const own = { savesMethod, savedMethodId: null, consent: null }
    const order = await insert(tx, { ...ask, ...own }, provider)
    return { order, isNew: true }
  }

  /** Stores an order and the bytes to post; nobody is asked yet. */
  function insert(tx: Tx, ask: OrderAsk, provider: Provider): Promise<Order> {
    const { book, pack, method, attempt, email, locale, savesMethod, savedMethodId, consent } = ask
    const id = newOrderId(options.cell, options.clock.nowMs())
    const { body, receipt } = provider.draftPayment({
      ...{ order: id, method, email, locale, savesMethod, savedMethodId },
      price: pack.priceKopecks,
      title: pack.title,
      credits: pack.credits,
      returnUrl: ask.returnUrl.replaceAll('{order}', id),
    })
    return queries.orderInsert(tx, {
      ...{ id, book, attempt, method, email, locale, receipt, savesMethod, consent },
      provider: provider.name,
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
    throw new Refusal('order_unknown', 'There is no such order.', { order: id })
  }

  return {
    /** Ways to pay a sum now, SBP first: it costs us least. None while nothing is sold. */
    methods(price: Kopecks): Method[] {
      const { methods } = providerOf(providers, options.provider).capabilities()
      const isTaken = (method: Method) =>
        methods[method].min <= price && price <= methods[method].max
      return options.isOpen ? (['sbp', 'card'] as const).filter(isTaken) : []
    },

    async buy(ask: BuyAsk): Promise<OrderView> {
      const provider = providerFor(ask)
      if (ask.savesMethod === true && !options.hasTopUps) {
        throw new Refusal('top_up_refused', 'Nothing is kept for automatic top-ups here.')
      }
      const { order, isNew } = await db.transaction((tx) => place(tx, ask, provider))
      if (isNew) await posting.post(order, 1, 'buy')
      return viewOf(await find(order.id))
    },

    /** For top-ups: an order that its kept method pays, to be posted after the commit. */
    placeTopUp: (tx: Tx, ask: OrderAsk, provider: string): Promise<Order> =>
      insert(tx, ask, providerOf(providers, provider)),
    post: (order: Order): Promise<void> => posting.post(order, 1, 'buy'),

    find: async (id: OrderId, book?: BookId): Promise<OrderView> => viewOf(await find(id, book)),

    async list(p: { book: BookId; before: OrderId | null; limit: number }): Promise<OrderView[]> {
      return (await queries.orderList(db, p)).map(viewOf)
    },

    hasPurchased: (book: BookId): Promise<boolean> => queries.orderExistsCredited(db, book),

    /** The payer is back, or asks: look now, unless somebody has just looked. */
    async check(id: OrderId): Promise<OrderView> {
      const order = await queries.orderClaimLook(db, id, QUIET_SECONDS)
      const provider = order && providers.get(order.provider)
      if (order !== undefined && order.paymentId !== null && provider !== undefined) {
        await reread.reread(provider, order.paymentId, 'return')
        const { hasSettledList } = provider.capabilities()
        if (!hasSettledList) await queries.orderSetDue(db, id, firstLookSeconds(false))
      }
      return viewOf(await find(id))
    },

    /** For workers: recover, poll, expire. */
    ...waiting,
  }
}

export type Orders = ReturnType<typeof createOrders>
