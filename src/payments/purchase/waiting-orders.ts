// The worker's jobs for open orders: post again after an unknown outcome, poll orders that wait for
// their payer, and expire those that have waited too long.
import type { Db } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { TopUpEndings } from '../mandates/endings.ts'
import { LEASE_SECONDS, processDue } from '../order/claims.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import {
  nextPollSeconds,
  POLL_AGE_SECONDS_MAX,
  retryDelaySeconds,
  UNRESOLVED_POLL_SECONDS,
} from '../order/schedule.ts'
import { type Providers, providerOf } from '../providers.ts'
import type { Posting } from './posting.ts'
import type { Reread } from './reread.ts'

/** Added to the payer's hour, so that a payment in its last minute finds the order open. */
const GRACE_SECONDS = 600
/** At five calls a second a run takes four seconds; the next run continues. */
const ROUND_MAX = 20

export type WaitingOptions = {
  readonly db: Db
  readonly log: Log
  readonly providers: Providers
  readonly posting: Posting
  readonly reread: Reread
  readonly topUpEndings: Pick<TopUpEndings, 'onUnresolved'>
}

type DueOrder = Order & { readonly ageSeconds: number; readonly pollSeconds: number }

export function createWaitingOrders(options: WaitingOptions) {
  const { db, log, posting, reread } = options

  async function recoverOne(order: DueOrder): Promise<void> {
    const provider = providerOf(options.providers, order)
    const { idempotencyKeySeconds } = provider.capabilities()
    if (order.ageSeconds < idempotencyKeySeconds)
      return posting.post(order, order.tries + 1, 'recovery')
    // The provider has forgotten the key: a post would create a second payment. Search the list.
    await posting.findAtProvider(order, async () => {
      // The bank declined nothing: the mandate lives on, and the next top-up is a new order.
      if (order.isTopUp) await posting.retryOrCancel(order)
      else await posting.fail(order.id, 'it never reached the provider')
    })
  }

  async function pollOne(order: DueOrder): Promise<void> {
    if (order.paymentId === null) return queries.orderSetDue(db, order.id, null)
    const provider = providerOf(options.providers, order)
    const answer = await reread.reread(provider, order.paymentId, 'poll')
    const { hasSettledList } = provider.capabilities()
    const isPastPolling = order.ageSeconds >= POLL_AGE_SECONDS_MAX
    if (answer.kind === 'ok' || answer.kind === 'absent') {
      if (answer.kind === 'absent') log.error({ order: order.id }, 'the provider lost a payment')
      const pause = isPastPolling ? null : nextPollSeconds(order.pollSeconds, hasSettledList)
      if (isPastPolling && order.isTopUp) return markUnresolved(order.id)
      await queries.orderSetDue(db, order.id, pause)
    } else await queries.orderSetDue(db, order.id, retryDelaySeconds(order.tries + 4))
  }

  /** An open top-up prevents the next one, so it is polled until it ends. */
  async function markUnresolved(id: OrderId): Promise<void> {
    await db.transaction(async (tx) => {
      const order = await queries.orderLock(tx, id)
      if (order !== undefined) await options.topUpEndings.onUnresolved(tx, order)
    })
    await queries.orderSetDue(db, id, UNRESOLVED_POLL_SECONDS)
  }

  function processEach(
    isCreated: boolean,
    work: (order: DueOrder) => Promise<void>,
  ): Promise<number> {
    const claim = () => queries.orderClaimDue(db, isCreated, LEASE_SECONDS)
    return processDue(ROUND_MAX, claim, (order) =>
      work(order).catch((error: unknown) =>
        log.error({ order: order.id, err: error }, 'an order could not be processed'),
      ),
    )
  }

  return {
    /** Posts orders again whose creation had an unknown outcome, or searches them. */
    recover: () => processEach(true, recoverOne),

    /** Polls orders that wait for their payer. */
    poll: () => processEach(false, pollOne),

    async expire(): Promise<number> {
      const expired = await queries.orderExpire(db, GRACE_SECONDS)
      if (expired.length > 0) log.info({ orders: expired.length }, 'orders expired')
      return expired.length
    },
  }
}
