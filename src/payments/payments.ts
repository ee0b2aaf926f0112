// The entry file of payments. A paid order is credited exactly once and within about a minute,
// whichever of the four triggers reports the payment; a payment that differs from its order is not
// credited. Refunds, disputes and promo codes use the same ledger. README.md has the state machine
// and what to do about each alarm.
import type { Registry } from 'prom-client'
import type { Ledger } from '../ledger/ledger.ts'
import { assert } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import type { BookId, OrderId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { createIntervalLoops } from '../platform/worker/interval-loops.ts'
import { creditsText } from '../units/credits.ts'
import { rublesText } from '../units/kopecks.ts'
import type { PaymentMetrics } from './metrics.ts'
import { createPaymentMetrics } from './metrics.ts'
import type { Brand, Mailer } from './order/emails.ts'
import { orderErase } from './order/queries.ts'
import type { Answer, Provider } from './port.ts'
import { createPromos } from './promos/promos.ts'
import { createApply } from './purchase/apply.ts'
import { createNotifications } from './purchase/notifications.ts'
import { createOrders } from './purchase/purchase.ts'
import { createReread } from './purchase/reread.ts'
import { createSweep } from './purchase/sweep.ts'
import { healthRead, notificationDeleteOld } from './purchase/upkeep-queries.ts'
import { createRefundApply } from './refunds/apply.ts'
import { createDisputes } from './refunds/disputes.ts'
import type { RefundPolicy } from './refunds/refundable.ts'
import { createRefunds } from './refunds/refunds.ts'
import { watchAlarms } from './reviews/alarms.ts'
import { createReconcile } from './reviews/reconcile.ts'
import { createReviews } from './reviews/reviews.ts'
import { createSearch } from './reviews/search.ts'
import { createTopUpEndings } from './top-ups/endings.ts'
import { createTopUps, type TopUpOptions } from './top-ups/top-ups.ts'
import { createYookassa, type YookassaOptions } from './yookassa/yookassa.ts'

export type { BuyInput, OrderState, OrderView } from './order/order.ts'
export type { Review } from './order/review-queries.ts'
export type { Confirmation, Locale, Method, Provider } from './port.ts'
export type { Promo } from './promos/queries.ts'
export type { NotificationInput } from './purchase/notifications.ts'
export type { DisputeInput } from './refunds/disputes.ts'
export type { Dispute, Refund } from './refunds/queries.ts'
export type { Refundable, RefundPolicy } from './refunds/refundable.ts'
export type { RefundInput } from './refunds/refunds.ts'
export type { PaymentDeskRefusalCode, PaymentRefusalCode } from './refusals.ts'
export type { Alarm, AlarmName } from './reviews/alarms.ts'
export type { Mismatch, Reconciled } from './reviews/reconcile.ts'
export type { ReviewInput } from './reviews/reviews.ts'
export type { FoundOrder, FoundPurchase } from './reviews/search.ts'

/** A stored notification waits at most this long before the provider is asked about it. */
const NOTIFICATIONS_MS = 1_000
const POLL_MS = 1_000
/** A balance just below its threshold lasts longer than this. */
const TOP_UPS_MS = 5_000
/**
 * A month is enough to answer customers' questions. Notifications contain the first and last digits
 * of cards, so they are not kept longer.
 */
const NOTIFICATION_DAYS = 30
/** Thirty purchases a day for a year. */
const COPY_MAX = 10_000

export type PaymentsOptions = {
  readonly db: Db
  readonly ledger: Ledger
  readonly mail: Mailer
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PaymentMetrics
  readonly cell: number
  readonly brand: Brand
  /** All providers in use. An order stays with the provider it was created with. */
  readonly providers: readonly Provider[]
  /** The one that takes new orders. */
  readonly provider: string
  readonly isOpen: boolean
  /** True: test money is credited and real money is refused. False: the other way round. */
  readonly acceptsTestPayments: boolean
  readonly refundPolicy: RefundPolicy
  readonly sweepSeconds: number
  readonly promoTriesPerHour: number
} & Pick<TopUpOptions, 'hasTopUps' | 'packOf' | 'ownerOf'>

/** The YooKassa adapter. The wiring calls this: each deployment chooses its providers. */
export function openYookassa(options: YookassaOptions): Provider {
  return createYookassa(options)
}

/** The module's metrics. Created first, because provider adapters count their calls in them. */
export function openPaymentMetrics(registry: Registry): PaymentMetrics {
  return createPaymentMetrics(registry)
}

export type { Answer }

export function createPayments(options: PaymentsOptions) {
  const { db, ledger, log } = options
  const providers = new Map(options.providers.map((one) => [one.name, one]))
  assert(providers.has(options.provider), `${options.provider} is not among the providers`)
  const shared = { ...options, providers, topUpEndings: createTopUpEndings(options) }
  const apply = createApply(shared)
  const refundApply = createRefundApply(shared)
  const refunds = createRefunds({ ...shared, policy: options.refundPolicy, apply: refundApply })
  const reread = createReread({ apply, refunds, log })
  const orders = createOrders({ ...shared, reread })
  const notifications = createNotifications({ ...shared, reread, refunds })
  const sweep = createSweep({ ...shared, instance: ledger.instance, reread, refunds })
  const disputes = createDisputes(shared)
  const reviews = createReviews({ ...shared, apply, refunds })
  const promos = createPromos({ db, ledger, triesPerHour: options.promoTriesPerHour })
  const topUps = createTopUps({ ...shared, orders })
  const { reconcile } = createReconcile(shared)
  const search = createSearch(shared)
  const loops = createIntervalLoops(
    [
      { name: 'notices', everyMs: NOTIFICATIONS_MS, run: () => notifications.applyDue() },
      { name: 'recover', everyMs: POLL_MS, run: () => orders.recover() },
      { name: 'poll', everyMs: POLL_MS, run: () => orders.poll() },
      { name: 'sweep', everyMs: options.sweepSeconds * 1_000, run: () => sweep.sweep() },
      { name: 'top-ups', everyMs: TOP_UPS_MS, run: () => topUps.run() },
    ],
    log,
  )

  return {
    /** Names of the providers in use; notifications of others get 404. */
    providers: [...providers.keys()] as readonly string[],

    /**
     * Creates an order and its payment, or returns the order that this attempt, or another one
     * within the hour for the same pack, created before. While the state is `created` the provider
     * has not answered yet: read the order again later.
     * Refuses: payment_unavailable, order_attempt_reused, top_up_refused.
     */
    buy: orders.buy,

    /** Payment methods for an amount; none while sales are closed. */
    methods: orders.methods,

    /** One order of a book. Refuses: order_unknown. */
    order: (id: OrderId, book: BookId) => orders.find(id, book),

    /** A page of a book's orders, newest first; `before` is the last id of the previous page. */
    orders: orders.list,

    /** Whether any order of the book was ever credited; only then it may have a key. */
    hasPurchased: orders.hasPurchased,

    /** Asks the provider about one order now; at most every two seconds. Refuses: order_unknown. */
    check: orders.check,

    /** Stores a notification and returns the reply that the provider expects. Never throws. */
    notify: notifications.notify,

    /** What can be refunded now; the policy applies if a book is given. Refuses: order_unknown. */
    refundable: refunds.refundable,

    /**
     * Refunds the unspent part, or some of it. Repeating an attempt returns its refund. Refuses:
     * order_unknown, refund_refused, refund_exceeds_unspent.
     */
    requestRefund: refunds.request,

    /** Refunds of a book's orders, newest first. */
    refunds: refunds.list,

    /** An operator opens, wins or loses a dispute. Refuses: order_unknown, order_state_wrong. */
    dispute: disputes.dispute,

    /** Disputes of all orders, open ones first. */
    disputes: search.disputes,

    /** An order by its own id or the id of its payment, of a refund or of a dispute. */
    search: search.find,

    /** Compares our orders of a period with the provider's payments. Changes nothing. */
    reconcile,

    /** Payments that wait for an operator's decision, oldest first. */
    reviewQueue: reviews.queue,

    /** Credits, refunds or dismisses one, once. Refuses: order_state_wrong. */
    resolveReview: reviews.resolve,

    /** A new promo code. Refuses: field_invalid. */
    createPromo: promos.create,
    promos: promos.list,

    /** Ends a promo code immediately. Refuses: field_invalid. */
    endPromo: promos.end,

    /** Refuses: promo_refused, promo_attempts_exceeded. */
    redeem: promos.redeem,

    /**
     * Automatic purchases with a saved payment method. `turnOn` records the agreement; `forget`
     * deletes the method and ends the agreement. Refuses: top_up_refused, pack_changed.
     */
    topUps,

    /** Recurring jobs. Each is idempotent and may run in several processes at once. */
    jobs: {
      applyNotification: notifications.applyDue,
      sweep: sweep.sweep,
      recover: orders.recover,
      poll: orders.poll,
      expire: orders.expire,
      topUp: topUps.run,
      pollRefunds: refunds.poll,
      sweepRefunds: sweep.sweepRefunds,
      watch: () => watchAlarms(db, log),
      forget: () => notificationDeleteOld(db, NOTIFICATION_DAYS),
    },

    /** Starts the worker's loops, for jobs that run more often than once a minute. */
    start: loops.start,
    async stop(): Promise<void> {
      await loops.stop()
      for (const provider of options.providers) await provider.close()
    },

    /** Everything about an owner's purchases, as JSON values. */
    async copy(book: BookId) {
      const bought = await orders.list({ book, before: null, limit: COPY_MAX })
      return {
        orders: bought.map(({ pack, priceKopecks, refundedKopecks, ...order }) => ({
          ...order,
          confirmation: null,
          pack: { ...pack, credits: creditsText(pack.credits) },
          price: rublesText(priceKopecks),
          refunded: rublesText(refundedKopecks),
        })),
        refunds: (await refunds.list(book)).map((refund) => ({
          id: refund.id,
          order: refund.order,
          state: refund.state,
          amount: rublesText(refund.amount),
          credits: creditsText(refund.credits),
          reason: refund.reason,
          createdAt: refund.createdAt,
          endedAt: refund.endedAt,
        })),
        topUpConsents: await topUps.consents(book),
      }
    },

    /**
     * Removes an owner's e-mail address from the orders, in the caller's transaction. Amounts stay:
     * the law requires them for longer than personal data. May be repeated.
     */
    async erase(tx: Tx, book: BookId): Promise<void> {
      await orderErase(tx, book)
      await topUps.erase(tx, book)
    },

    /** The numbers behind the alarms. */
    health: () => healthRead(db),
  }
}

export type Payments = ReturnType<typeof createPayments>
