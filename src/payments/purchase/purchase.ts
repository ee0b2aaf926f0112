// Orders from the click to the provider and back: buying, asking again when the outcome is unknown,
// looking after those that wait, and letting them expire. A second click never makes a second
// payment, and what may have happened is repeated with the same key and bytes until it is known.
import type { Clock } from '../../platform/clock.ts'
import { dateAt } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { type BookId, newOrderId, type OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { LEASE_SECONDS, oneByOne } from '../order/claims.ts'
import type { BuyAsk, Order, OrderAsk, OrderView, Trigger } from '../order/order.ts'
import { viewOf } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import {
  firstLookSeconds,
  LOOKED_FOR_SECONDS,
  nextLookSeconds,
  repeatSeconds,
  UNRESOLVED_LOOK_SECONDS,
} from '../order/schedule.ts'
import { type Method, type Provider, whyOf } from '../port.ts'
import type { TopUpEndings } from '../top-ups/endings.ts'
import type { Reread } from './reread.ts'

export type OrderOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly cell: number
  readonly isOpen: boolean
  readonly providers: ReadonlyMap<string, Provider>
  /** Who takes new orders; an old order stays with its own provider. */
  readonly provider: string
  readonly reread: Reread
  readonly hasTopUps: boolean
  readonly topUpEndings: Pick<
    TopUpEndings,
    'declined' | 'unresolved' | 'maySend' | 'isInForce' | 'absent'
  >
}

/** Longer than a post may take: nobody posts the same order beside the process that is at it. */
const POST_SECONDS = 45
/** A page that asks every second must not ask the provider every second. */
const QUIET_SECONDS = 2
/** On top of the payer's hour: a bank that answers at its end still finds the order open. */
const GRACE_SECONDS = 600
/** At five calls a second a round lasts four seconds; the next one goes on. */
const ROUND_MAX = 20
/** The provider's clock and ours are never further apart. */
const CLOCKS_APART_MS = 3_600_000

export function createOrders(options: OrderOptions) {
  const { db, log, reread } = options

  function providerOf(name: string): Provider {
    const provider = options.providers.get(name)
    if (provider === undefined) throw unavailable({ provider: name })
    return provider
  }

  /** The provider for a new order, or a refusal. */
  function providerFor(ask: BuyAsk): Provider {
    if (!options.isOpen) throw unavailable({ why: 'closed' })
    const provider = providerOf(options.provider)
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

  /** Posts a stored order. Its bytes are the stored ones, whoever posts it and how often. */
  async function post(order: Order, tries: number, by: Trigger): Promise<void> {
    if (order.requestBody === null) return
    const provider = providerOf(order.provider)
    let may = 'over' as Awaited<ReturnType<TopUpEndings['maySend']>>
    const answer = await provider.createPayment(order.id, order.requestBody, async () => {
      may = await options.topUpEndings.maySend(order)
      return may === 'send'
    })
    const fields = { order: order.id, tries, why: whyOf(answer) }
    switch (answer.kind) {
      case 'ok':
        await reread.bring(provider, answer.value, by)
        return
      case 'rejected':
      case 'absent':
        // Refused credentials say nothing about an earlier post that may have gone through, nor
        // about a card that its owner left with us.
        if ((tries > 1 || order.isTopUp) && answer.kind === 'rejected' && answer.isOurs) {
          await queries.orderSetDue(db, order.id, repeatSeconds(tries))
        } else await fail(order.id, whyOf(answer))
        log.error(fields, 'the provider refused an order')
        return
      case 'unknown':
        log.warn(fields, 'the outcome of an order is unknown')
        await queries.orderSetDue(db, order.id, repeatSeconds(tries))
        return
      case 'throttled':
        await queries.orderSetDue(db, order.id, Math.ceil(answer.afterMs / 1_000) + 1)
        return
      case 'withheld':
        log.info(fields, 'a top-up that has ended was not sent')
        if (may === 'look') await lookFor(order, () => waitOrCancel(order))
    }
  }

  async function fail(id: OrderId, reason: string): Promise<void> {
    await db.transaction(async (tx) => {
      const order = await queries.orderLock(tx, id)
      // A notice may have brought its payment while we waited for the refusal.
      if (order?.state !== 'created') return
      await queries.orderEnd(tx, { id, state: 'failed', paymentId: null, reason })
      if (order.isTopUp) await options.topUpEndings.declined(tx, order)
    })
  }

  type Due = Order & { readonly ageSeconds: number; readonly pollSeconds: number }

  async function recoverOne(order: Due): Promise<void> {
    const provider = providerOf(order.provider)
    const { keySeconds } = provider.capabilities()
    if (order.ageSeconds < keySeconds) return post(order, order.looks + 1, 'recovery')
    // The key would make a second payment now. If there is a first, it is in the list.
    await lookFor(order, async () => {
      const isEnded = order.isTopUp && !(await options.topUpEndings.isInForce(order))
      if (isEnded) await waitOrCancel(order)
      else await fail(order.id, 'it never reached the provider')
    })
  }

  /** For an order that is not posted again: reads the provider's list around its making. */
  async function lookFor(order: Order, ifAbsent: () => Promise<void>): Promise<void> {
    const provider = providerOf(order.provider)
    const fromMs = order.createdAt.getTime()
    const keyMs = provider.capabilities().keySeconds * 1_000
    const answer = await provider.findByOrder(
      order.id,
      dateAt(fromMs - CLOCKS_APART_MS),
      dateAt(fromMs + keyMs + CLOCKS_APART_MS),
    )
    if (answer.kind === 'ok') await reread.bring(provider, answer.value, 'recovery')
    else if (answer.kind === 'absent') await ifAbsent()
    else {
      log.warn({ order: order.id, why: whyOf(answer) }, 'an order could not be looked for')
      await queries.orderSetDue(db, order.id, 10 * 60)
    }
  }

  /** The agreement has ended and the provider does not show the order: it is over, or late. */
  async function waitOrCancel(order: Order): Promise<void> {
    if (await options.topUpEndings.absent(order)) return
    await queries.orderSetDue(db, order.id, repeatSeconds(order.looks + 1))
  }

  async function pollOne(order: Due): Promise<void> {
    if (order.paymentId === null) return queries.orderSetDue(db, order.id, null)
    const provider = providerOf(order.provider)
    const answer = await reread.reread(provider, order.paymentId, 'poll')
    const { hasSettledList } = provider.capabilities()
    const isOver = order.ageSeconds >= LOOKED_FOR_SECONDS
    if (answer.kind === 'ok' || answer.kind === 'absent') {
      if (answer.kind === 'absent') log.error({ order: order.id }, 'the provider lost a payment')
      const pause = isOver ? null : nextLookSeconds(order.pollSeconds, hasSettledList)
      if (isOver && order.isTopUp) return leaveUnresolved(order.id)
      await queries.orderSetDue(db, order.id, pause)
    } else await queries.orderSetDue(db, order.id, repeatSeconds(order.looks + 4))
  }

  /** An open top-up keeps the next one from being bought, so it is looked at until it ends. */
  async function leaveUnresolved(id: OrderId): Promise<void> {
    await db.transaction(async (tx) => {
      const order = await queries.orderLock(tx, id)
      if (order !== undefined) await options.topUpEndings.unresolved(tx, order)
    })
    await queries.orderSetDue(db, id, UNRESOLVED_LOOK_SECONDS)
  }

  function each(isCreated: boolean, work: (order: Due) => Promise<void>): Promise<number> {
    const claim = () => queries.orderClaimDue(db, isCreated, LEASE_SECONDS)
    return oneByOne(ROUND_MAX, claim, (order) =>
      work(order).catch((error: unknown) =>
        log.error({ order: order.id, err: error }, 'an order could not be looked at'),
      ),
    )
  }

  async function find(id: OrderId, book?: BookId): Promise<Order> {
    const order = await queries.orderFind(db, id)
    if (order !== undefined && (book === undefined || order.book === book)) return order
    throw new Refusal('order_unknown', 'There is no such order.', { order: id })
  }

  return {
    /** Ways to pay a sum now, SBP first: it costs us least. None while nothing is sold. */
    methods(price: Kopecks): Method[] {
      const { methods } = providerOf(options.provider).capabilities()
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
      if (isNew) await post(order, 1, 'buy')
      return viewOf(await find(order.id))
    },

    /** For top-ups: an order that its kept method pays, to be posted after the commit. */
    placeTopUp: (tx: Tx, ask: OrderAsk, provider: string): Promise<Order> =>
      insert(tx, ask, providerOf(provider)),
    post: (order: Order): Promise<void> => post(order, 1, 'buy'),

    find: async (id: OrderId, book?: BookId): Promise<OrderView> => viewOf(await find(id, book)),

    async list(p: { book: BookId; before: OrderId | null; limit: number }): Promise<OrderView[]> {
      return (await queries.orderList(db, p)).map(viewOf)
    },

    hasPurchased: (book: BookId): Promise<boolean> => queries.orderExistsCredited(db, book),

    /** The payer is back, or asks: look now, unless somebody has just looked. */
    async check(id: OrderId): Promise<OrderView> {
      const order = await queries.orderClaimLook(db, id, QUIET_SECONDS)
      const provider = order && options.providers.get(order.provider)
      if (order !== undefined && order.paymentId !== null && provider !== undefined) {
        await reread.reread(provider, order.paymentId, 'return')
        const { hasSettledList } = provider.capabilities()
        if (!hasSettledList) await queries.orderSetDue(db, id, firstLookSeconds(false))
      }
      return viewOf(await find(id))
    },

    /** Orders whose creation had an unknown outcome. */
    recover: () => each(true, recoverOne),

    /** Orders that wait for their payer. */
    poll: () => each(false, pollOne),

    async expire(): Promise<number> {
      const expired = await queries.orderExpire(db, GRACE_SECONDS)
      if (expired.length > 0) log.info({ orders: expired.length }, 'orders expired')
      return expired.length
    },
  }
}

export type Orders = ReturnType<typeof createOrders>

function unavailable(detail: Record<string, unknown>): Refusal {
  return new Refusal('payment_unavailable', 'This payment is not available right now.', detail)
}
