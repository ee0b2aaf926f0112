// Receives the provider's notifications: stores one row for each event of an order and answers
// within milliseconds; a worker then fetches the payment from the provider and trusts only that.
// Fetching inside the handler would block it whenever the provider is slow. The row is the queue;
// if it cannot be stored, the reply is 503 and the provider repeats the notification for a day.
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import type { PaymentMetrics } from '../metrics.ts'
import { LEASE_SECONDS, processDue } from '../order/claims.ts'
import { isOrderOfCell } from '../order/decide.ts'
import { orderFindByPayment } from '../order/queries.ts'
import { retryDelaySeconds } from '../order/schedule.ts'
import { type NotificationEvent, type Provider, whyOf } from '../port.ts'
import type { Providers } from '../providers.ts'
import type { Refunds } from '../refunds/refunds.ts'
import {
  type NotificationRow,
  type NotificationTarget,
  notificationClaimDue,
  notificationEnd,
  notificationRetry,
  notificationStore,
  notificationTarget,
} from './notification-queries.ts'
import type { Reread } from './reread.ts'
import { createSenderLimit } from './sender-limit.ts'

export type NotificationInput = {
  readonly provider: string
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly peer: string
}

export type NotificationOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PaymentMetrics
  readonly cell: number
  readonly providers: Providers
  readonly reread: Reread
  readonly refunds: Refunds
}

/** A payment takes 2-6 KiB; one with a receipt of a hundred lines takes 40 KiB. */
const BYTES_MAX = 65_536
/**
 * Retries when the notification says paid and the API still shows pending: the API may lag by
 * seconds.
 */
const DISAGREEMENT_SECONDS = [5, 15, 60]
/** As long as the provider repeats its notifications. */
const GIVEN_UP_SECONDS = 24 * 3_600
/** At five calls a second a run takes four seconds; the next run continues. */
const ROUND_MAX = 20

export function createNotifications(options: NotificationOptions) {
  const { db, log, metrics, providers } = options
  const senderLimit = createSenderLimit(options.clock)

  const reply = (status: number, outcome: string, body = '') => {
    metrics.countNotification(outcome)
    return { status, body }
  }

  async function receive(input: NotificationInput): Promise<{ status: number; body: string }> {
    const provider = providers.get(input.provider)
    // A provider that is not configured is never trusted, whatever the notification contains.
    if (provider === undefined) return reply(404, 'no_provider')
    if (input.body.length > BYTES_MAX) return reply(413, 'too_large')
    const peer = input.peer.replace(/[^\x20-\x7e]/g, '?').slice(0, 64)
    if (senderLimit.isExceeded(peer)) return reply(429, 'too_many')
    const body = input.body.toString('utf8')
    const notification = provider.parseNotification({ body, headers: input.headers, peer })
    if (notification === undefined || notification.trust === 'rejected') {
      senderLimit.count(peer)
      log.warn({ peer, why: notification?.why ?? 'unreadable' }, 'a notification was rejected')
      return notification === undefined ? reply(400, 'unreadable') : reply(403, 'rejected')
    }
    const { status, body: ackBody } = provider.acknowledgement
    const { event, paymentId, digest } = notification
    // An event that we do not use, such as an authorisation: we never authorise without capturing.
    if (event === null) {
      senderLimit.count(peer)
      return reply(status, 'ignored', ackBody)
    }
    const orderRef = isOrderOfCell(notification.orderRef, options.cell)
      ? notification.orderRef
      : null
    const about = { provider: provider.name, paymentId, event }
    const target = await notificationTarget(db, { ...about, orderRef })
    if (target === undefined) {
      // Another site's payment, or a forged one. There is nothing to fetch and no need to repeat.
      senderLimit.count(peer)
      return reply(status, 'unknown', ackBody)
    }
    // True, so it does not count against its sender: a sweep was faster.
    if (isKnown(target, about)) return reply(status, 'settled', ackBody)
    const row = {
      ...about,
      ...target,
      paymentId,
      digest,
      peer,
      isOfOrder: isOfOrder(target, about),
    }
    const isStored = addsSomething(target, row) && (await notificationStore(db, row))
    if (!isStored) senderLimit.count(peer)
    return reply(status, isStored ? 'stored' : 'repeated', ackBody)
  }

  /** The notification's outcome; undefined when a retry is scheduled. */
  async function confirm(
    notification: NotificationRow,
    provider: Provider,
  ): Promise<string | undefined> {
    const found = await options.reread.reread(provider, notification.paymentId, 'webhook')
    if (found.kind === 'absent') return 'absent'
    if (found.kind !== 'ok') {
      log.warn(
        { notice: notification.id, why: whyOf(found) },
        'a notification could not be confirmed yet',
      )
      if (notification.ageSeconds > GIVEN_UP_SECONDS) return 'given_up'
      await notificationRetry(db, notification.id, retryDelaySeconds(notification.tries))
      return undefined
    }
    if (notification.event.startsWith('refund.')) {
      if (await options.refunds.sync(provider, notification.paymentId)) return 'applied'
      await notificationRetry(db, notification.id, retryDelaySeconds(notification.tries))
      return undefined
    }
    const isConfirmed =
      notification.event !== 'payment.succeeded' || found.value.status !== 'pending'
    if (isConfirmed) return 'applied'
    const pause = DISAGREEMENT_SECONDS[notification.tries - 1]
    if (pause === undefined) return 'unconfirmed'
    await notificationRetry(db, notification.id, pause)
    return undefined
  }

  /** The shop of the payment's order; another shop's credentials would not find the payment. */
  async function shopOf({ provider, paymentId }: NotificationRow): Promise<Provider | undefined> {
    const order = await orderFindByPayment(db, { provider, paymentId, orderRef: null })
    return order === undefined ? providers.get(provider) : providers.of(order)
  }

  async function applyOne(notification: NotificationRow): Promise<void> {
    try {
      const provider = await shopOf(notification)
      const outcome = provider === undefined ? 'no_provider' : await confirm(notification, provider)
      if (outcome === undefined) return
      await notificationEnd(db, notification, outcome)
      metrics.countNotification(outcome)
    } catch (error) {
      log.error({ notice: notification.id, err: error }, 'a notification could not be applied')
    }
  }

  return {
    /** Never throws: a notification that cannot be stored gets 503. */
    async notify(
      input: NotificationInput,
    ): Promise<{ readonly status: number; readonly body: string }> {
      try {
        return await receive(input)
      } catch (error) {
        log.error({ err: error }, 'a notification could not be stored')
        return reply(503, 'not_stored')
      }
    },

    /** The job: fetches each payment that a stored notification names. */
    applyDue: (): Promise<number> =>
      processDue(ROUND_MAX, () => notificationClaimDue(db, LEASE_SECONDS), applyOne),
  }
}

export type Notifications = ReturnType<typeof createNotifications>

type About = { readonly event: NotificationEvent; readonly paymentId: string }

function isOfOrder(target: NotificationTarget, { paymentId }: About): boolean {
  return target.paymentId === paymentId
}

/** The order shows already what the notification says. */
function isKnown(target: NotificationTarget, about: About): boolean {
  if (!isOfOrder(target, about)) return false
  if (about.event === 'payment.succeeded') return target.isCredited
  return about.event === 'payment.canceled' && target.state === 'canceled'
}

/**
 * False when the stored row makes us read the payment anyway, or has made us read it for the same
 * bytes. `notificationStore` decides again under the row's lock; this spares a flood the lock.
 */
function addsSomething(
  { stored }: NotificationTarget,
  row: { readonly paymentId: string; readonly digest: string; readonly isOfOrder: boolean },
): boolean {
  if (stored === null) return true
  if (stored.isDone) return stored.digest !== row.digest
  return stored.isRead || (row.isOfOrder && stored.paymentId !== row.paymentId)
}
