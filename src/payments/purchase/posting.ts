// Posts an order to its provider. What may have happened is repeated with the same key and bytes
// until it is known; an order that must not be posted again is looked for in the provider's list.
import { dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Order, Trigger } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { repeatSeconds } from '../order/schedule.ts'
import { whyOf } from '../port.ts'
import type { TopUpEndings } from '../top-ups/endings.ts'
import { type Providers, providerOf } from './providers.ts'
import type { Reread } from './reread.ts'

/** The provider's clock and ours are never further apart. */
const CLOCKS_APART_MS = 3_600_000

export type PostingOptions = {
  readonly db: Db
  readonly log: Log
  readonly providers: Providers
  readonly reread: Reread
  readonly topUpEndings: Pick<TopUpEndings, 'declined' | 'maySend' | 'absent'>
}

export function createPosting(options: PostingOptions) {
  const { db, log, reread } = options

  /** Posts a stored order. Its bytes are the stored ones, whoever posts it and how often. */
  async function post(order: Order, tries: number, by: Trigger): Promise<void> {
    if (order.requestBody === null) return
    const provider = providerOf(options.providers, order.provider)
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

  /** For an order that is not posted again: reads the provider's list around its making. */
  async function lookFor(order: Order, ifAbsent: () => Promise<void>): Promise<void> {
    const provider = providerOf(options.providers, order.provider)
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

  return { post, fail, lookFor, waitOrCancel }
}

export type Posting = ReturnType<typeof createPosting>
