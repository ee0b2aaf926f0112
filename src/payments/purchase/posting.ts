// Posts an order to its provider. After an unknown outcome the post is repeated with the same key
// and bytes; an order that must not be posted again is searched in the provider's list.
import { dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { TopUpEndings } from '../mandates/endings.ts'
import type { TopUpSending } from '../mandates/sending.ts'
import type { Order, Trigger } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { retryDelaySeconds } from '../order/schedule.ts'
import { whyOf } from '../port.ts'
import { type Providers, providerOf } from '../providers.ts'
import type { Reread } from './reread.ts'

/** The provider's clock and ours never differ by more. */
const CLOCKS_APART_MS = 3_600_000

export type PostingOptions = {
  readonly db: Db
  readonly log: Log
  readonly providers: Providers
  readonly reread: Reread
  readonly topUpEndings: Pick<TopUpEndings, 'onDeclined'>
  readonly topUpSending: TopUpSending
}

export function createPosting(options: PostingOptions) {
  const { db, log, reread } = options

  /** Posts a stored order, always with the stored bytes. */
  async function post(order: Order, tries: number, by: Trigger): Promise<void> {
    if (order.requestBody === null) return
    const provider = providerOf(options.providers, order)
    const card = provider.savedMethodOf(order.requestBody)
    if (card === undefined || (card !== null && !order.isTopUp)) {
      // No program makes such an order: a thief of a program's database password inserted it, and
      // would charge a card without a mandate.
      log.error({ order: order.id }, 'an order that charges a saved card is no top-up: not sent')
      return fail(order.id, 'no_mandate')
    }
    let decision = 'skip' as Awaited<ReturnType<TopUpSending['maySend']>>
    const answer = await provider.createPayment(order.id, order.requestBody, async () => {
      decision = await options.topUpSending.maySend(order, card)
      return decision === 'send'
    })
    const fields = { order: order.id, tries, why: whyOf(answer) }
    switch (answer.kind) {
      case 'ok':
        await reread.applyWithRefunds(provider, answer.value, by)
        return
      case 'rejected':
      case 'absent':
        // With refused credentials an earlier post may still have succeeded, and a top-up's card
        // was not declined: retry instead of failing the order.
        if ((tries > 1 || order.isTopUp) && answer.kind === 'rejected' && answer.isOurFault) {
          await queries.orderSetDue(db, order.id, retryDelaySeconds(tries))
        } else await fail(order.id, whyOf(answer))
        log.error(fields, 'the provider refused an order')
        return
      case 'unknown':
        log.warn(fields, 'the outcome of an order is unknown')
        await queries.orderSetDue(db, order.id, retryDelaySeconds(tries))
        return
      case 'throttled':
        await queries.orderSetDue(db, order.id, Math.ceil(answer.afterMs / 1_000) + 1)
        return
      case 'withheld':
        log.info(fields, 'a top-up that has ended was not sent')
        if (decision === 'find') await findAtProvider(order, () => retryOrCancel(order))
    }
  }

  async function fail(id: OrderId, reason: string): Promise<void> {
    await db.transaction(async (tx) => {
      const order = await queries.orderLock(tx, id)
      // A notification may have delivered the payment while we waited for the refusal.
      if (order?.state !== 'created') return
      await queries.orderEnd(tx, { id, state: 'failed', paymentId: null, reason })
      if (order.isTopUp) await options.topUpEndings.onDeclined(tx, order)
    })
  }

  /** Searches the provider's list around the order's creation, instead of posting again. */
  async function findAtProvider(order: Order, ifAbsent: () => Promise<void>): Promise<void> {
    const provider = providerOf(options.providers, order)
    const fromMs = order.createdAt.getTime()
    const keyMs = provider.capabilities().idempotencyKeySeconds * 1_000
    const answer = await provider.findByOrder(
      order.id,
      dateAt(fromMs - CLOCKS_APART_MS),
      dateAt(fromMs + keyMs + CLOCKS_APART_MS),
    )
    if (answer.kind === 'ok') await reread.applyWithRefunds(provider, answer.value, 'recovery')
    else if (answer.kind === 'absent') await ifAbsent()
    else {
      log.warn(
        { order: order.id, why: whyOf(answer) },
        'an order could not be searched at the provider',
      )
      await queries.orderSetDue(db, order.id, 10 * 60)
    }
  }

  /** The mandate ended and the provider does not show the payment: cancel it, or retry later. */
  async function retryOrCancel(order: Order): Promise<void> {
    if (await options.topUpSending.cancelIfAbsent(order)) return
    await queries.orderSetDue(db, order.id, retryDelaySeconds(order.tries + 1))
  }

  return { post, fail, findAtProvider, retryOrCancel }
}

export type Posting = ReturnType<typeof createPosting>
