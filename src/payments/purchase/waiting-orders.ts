// Orders that are not over, looked after by workers: those whose posting has an unknown outcome,
// those that wait for their payer, and those that have waited too long.
import type { Db } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { LEASE_SECONDS, oneByOne } from '../order/claims.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import {
  LOOKED_FOR_SECONDS,
  nextLookSeconds,
  repeatSeconds,
  UNRESOLVED_LOOK_SECONDS,
} from '../order/schedule.ts'
import type { TopUpEndings } from '../top-ups/endings.ts'
import type { Posting } from './posting.ts'
import { type Providers, providerOf } from './providers.ts'
import type { Reread } from './reread.ts'

/** On top of the payer's hour: a bank that answers at its end still finds the order open. */
const GRACE_SECONDS = 600
/** At five calls a second a round lasts four seconds; the next one goes on. */
const ROUND_MAX = 20

export type WaitingOptions = {
  readonly db: Db
  readonly log: Log
  readonly providers: Providers
  readonly posting: Posting
  readonly reread: Reread
  readonly topUpEndings: Pick<TopUpEndings, 'unresolved' | 'isInForce'>
}

type Due = Order & { readonly ageSeconds: number; readonly pollSeconds: number }

export function createWaitingOrders(options: WaitingOptions) {
  const { db, log, posting, reread } = options

  async function recoverOne(order: Due): Promise<void> {
    const provider = providerOf(options.providers, order.provider)
    const { keySeconds } = provider.capabilities()
    if (order.ageSeconds < keySeconds) return posting.post(order, order.looks + 1, 'recovery')
    // The key would make a second payment now. If there is a first, it is in the list.
    await posting.lookFor(order, async () => {
      const isEnded = order.isTopUp && !(await options.topUpEndings.isInForce(order))
      if (isEnded) await posting.waitOrCancel(order)
      else await posting.fail(order.id, 'it never reached the provider')
    })
  }

  async function pollOne(order: Due): Promise<void> {
    if (order.paymentId === null) return queries.orderSetDue(db, order.id, null)
    const provider = providerOf(options.providers, order.provider)
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

  return {
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
