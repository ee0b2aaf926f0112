// The entry file of payments. A paid order is credited exactly once and within about a minute,
// whichever of the four triggers reports the payment; a payment that differs from its order is not
// credited. Refunds, disputes and promo codes use the same ledger. README.md has the state machine
// and what to do about each alarm.
import type { Registry } from 'prom-client'
import type { Ledger } from '../ledger/ledger.ts'
import { assert } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db/db.ts'
import type { BookId, OrderId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import type { BlockedWork } from '../platform/worker/blocked-work.ts'
import { createIntervalLoops } from '../platform/worker/interval-loops.ts'
import { createDigests } from './digests.ts'
import { createOwnerData } from './erasure/erasure.ts'
import { redeemersForget } from './erasure/queries.ts'
import { createTopUpEndings } from './mandates/endings.ts'
import { createMandates, type MandateOptions } from './mandates/mandates.ts'
import { createTopUpSending } from './mandates/sending.ts'
import type { PaymentMetrics } from './metrics.ts'
import { createPaymentMetrics } from './metrics.ts'
import type { Brand, Mailer } from './order/emails.ts'
import type { Answer, Provider } from './port.ts'
import { createPromos } from './promos/promos.ts'
import { createProviders, type Providers } from './providers.ts'
import { createApply } from './purchase/apply.ts'
import { createLostOrders } from './purchase/lost-orders.ts'
import { notificationDeleteOld } from './purchase/notification-queries.ts'
import { createNotifications, type Notifications } from './purchase/notifications.ts'
import { createOrders, type Orders } from './purchase/purchase.ts'
import { createReread, type Reread } from './purchase/reread.ts'
import { createSweep, type Sweep } from './purchase/sweep.ts'
import { createReceipts, type Receipts } from './receipts/receipts.ts'
import { createRefundApply } from './refunds/apply.ts'
import { type ClosingRefundOptions, createClosingRefunds } from './refunds/closing.ts'
import { createClosingRequests } from './refunds/closing-requests.ts'
import { createDisputes } from './refunds/disputes.ts'
import type { RefundPolicy } from './refunds/refundable.ts'
import { createRefunds } from './refunds/refunds.ts'
import { healthRead } from './reviews/alarm-queries.ts'
import { alarmsOf, watchAlarms, watchNumbers } from './reviews/alarms.ts'
import { createReviews } from './reviews/reviews.ts'
import { createSearch } from './reviews/search.ts'
import { createSignals } from './signals/signals.ts'
import { createStuckOrders } from './stuck/stuck.ts'
import { takings } from './takings/takings.ts'
import { createTrials, type TrialSettings } from './trials/trials.ts'
import type { TieOptions } from './watch/ties.ts'
import { createWatch, type Watch } from './watch/watch.ts'
import { createYookassaShops, type YookassaOptions } from './yookassa/yookassa.ts'

export type { BuyInput, OrderState, OrderView } from './order/order.ts'
export type { Review } from './order/review-queries.ts'
export type { Confirmation, Locale, Method, Provider, Snapshot } from './port.ts'
export type { Promo } from './promos/queries.ts'
export type { LostPayments } from './purchase/lost-orders.ts'
export type { NotificationInput } from './purchase/notifications.ts'
export type { ReceiptView } from './receipts/fiscal.ts'
export type { AccountEnding } from './refunds/closing.ts'
export type { ClosingRefund } from './refunds/closing-requests.ts'
export type { DisputeInput } from './refunds/disputes.ts'
export type { Dispute, Refund } from './refunds/queries.ts'
export type { Refundable, RefundPolicy } from './refunds/refundable.ts'
export type { RefundInput } from './refunds/refunds.ts'
export type { PaymentDeskRefusalCode, PaymentRefusalCode } from './refusals.ts'
export type { Alarm, AlarmName } from './reviews/alarms.ts'
export type { ReviewInput } from './reviews/reviews.ts'
export type { FoundOrder, FoundPurchase } from './reviews/search.ts'
export type { Signals } from './signals/signals.ts'
export type { FailedReceipt, StuckOrder } from './stuck/queries.ts'
export type { CapturedSum, RefundedSum, SoldTerms } from './takings/queries.ts'
export type { TakingsRows } from './takings/rows.ts'
export type { Mismatch } from './watch/compare.ts'
export type { Reconciled } from './watch/reconcile.ts'

/** A notification that is due waits at most this long before the provider is asked about it. */
const NOTIFICATIONS_MS = 1_000
const POLL_MS = 1_000
/**
 * How often a worker tries to claim the sweep in one interval. The claim keeps the interval; with
 * one try, workers that are killed every few seconds would never sweep.
 */
const SWEEP_TRIES = 3
/** A balance just below its threshold lasts longer than this. */
const TOP_UPS_MS = 5_000
/** A payer waits for the numbers of a receipt, and registration takes seconds. */
const RECEIPTS_MS = 5_000
/** Enough to answer customers' questions; a row has the sender's address. */
const NOTIFICATION_DAYS = 30

export type PaymentsOptions = {
  readonly db: Db
  readonly ledger: Ledger
  readonly mail: Mailer
  readonly clock: Clock
  readonly log: Log
  readonly blockedWork?: BlockedWork
  readonly metrics: PaymentMetrics
  readonly cell: number
  readonly brand: Brand
  /**
   * All shops in use, of each provider first the one that takes new orders, then earlier ones, the
   * earliest last. An order stays with the shop that it was created in.
   */
  readonly providers: readonly Provider[]
  /** The one that takes new orders. */
  readonly provider: string
  readonly isOpen: boolean
  /** True: test money is credited and real money is refused. False: the other way round. */
  readonly acceptsTestPayments: boolean
  readonly refundPolicy: RefundPolicy
  readonly sweepSeconds: number
  readonly promoTriesPerHour: number
  /** Refunds that an owner may request within thirty days; a person decides about more. */
  readonly refundsPerMonth: number
  /** The key of the digests of addresses and cards. */
  readonly digestSecret: Masked<string>
  /** Where months of receipts begin; the link to a registered receipt. */
  readonly timeZone: string
  readonly receiptUrl: string
  readonly trial: TrialSettings
} & Pick<MandateOptions, 'hasTopUps' | 'packOf' | 'ownerOf'> &
  Pick<ClosingRefundOptions, 'endingOf'> &
  Pick<TieOptions, 'packSold'>

/**
 * The YooKassa adapters of a shop and of earlier shops, whose orders are still read and refunded.
 * The wiring calls this: each deployment chooses its providers.
 */
export function openYookassaShops(
  options: YookassaOptions,
  earlier: Parameters<typeof createYookassaShops>[1],
): Provider[] {
  return createYookassaShops(options, earlier)
}

/** The module's metrics. Created first, because provider adapters count their calls in them. */
export function openPaymentMetrics(registry: Registry): PaymentMetrics {
  return createPaymentMetrics(registry)
}

export type { Answer }

export function createPayments(options: PaymentsOptions) {
  const { db, ledger, log } = options
  const providers = providersOf(options)
  const watch = createWatch({ ...options, providers })
  const shared = { ...options, providers, ...sharedParts({ ...options, providers }, watch) }
  const apply = createApply(shared)
  const refundApply = createRefundApply(shared)
  const policed = { ...shared, policy: options.refundPolicy }
  const refunds = createRefunds({ ...policed, apply: refundApply })
  const reread = createReread({ apply, refunds, log })
  const orders = createOrders({ ...shared, reread })
  const notifications = createNotifications({ ...shared, reread, refunds })
  const sweep = createSweep({ ...shared, instance: ledger.instance, reread, refunds })
  const disputes = createDisputes(shared)
  const reviews = createReviews({ ...shared, apply, refunds, refundApply })
  const promos = createPromos({ ...shared, triesPerHour: options.promoTriesPerHour })
  const trials = createTrials({ ...shared, hasPurchased: orders.hasPurchased })
  const topUps = createMandates({ ...shared, orders })
  const search = createSearch(shared)
  const receipts = createReceipts(shared)
  const loops = workerLoops(options, { notifications, orders, sweep, topUps, receipts })

  return {
    /** Names of the providers in use; notifications of others get 404. */
    providers: providers.names(),
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

    /** Whether any order of the book was ever credited. */
    ...{ ...trials, hasPurchased: orders.hasPurchased },

    /** Credits and price of the pack that was credited last, for credits in roubles. */
    lastPack: orders.lastPack,

    /** Asks the provider about one order now; at most every two seconds. Refuses: order_unknown. */
    check: orders.check,

    /** Stores a notification and returns the reply that the provider expects. Never throws. */
    notify: notifications.notify,

    /** What can be refunded now; the policy applies if a book is given. Refuses: order_unknown. */
    refundable: refunds.refundable,

    /**
     * Refunds the unspent part, or some of it. Repeating an attempt returns its refund. Refuses:
     * order_unknown, refund_refused, refund_needs_support, refund_exceeds_unspent.
     */
    requestRefund: refunds.request,

    /** What the closing of an account needs: orders that run out, refunds, their states. */
    closings: createClosingRequests({ ...policed, posting: refunds }),

    /** Refunds of a book's orders, newest first; receipts as payers see them. */
    ...{ refunds: refunds.list, receipts },

    /** An operator opens, wins or loses a dispute. Refuses: order_unknown, order_state_wrong. */
    dispute: disputes.dispute,

    /** Disputes, open ones first; and an order by any id of it, its payment or a refund. */
    ...{ disputes: search.disputes, search: search.find },

    /** For operators: orders that hang, what the provider says of one, receipts that failed. */
    ...createStuckOrders({ ...shared, reread }),

    /** Compares our orders of a period with the provider's payments. Changes nothing. */
    reconcile: watch.reconcile,

    /** After a restore to an earlier moment: payments that the database lost, and their repair. */
    lost: createLostOrders({ ...shared, reread, reconcile: watch.reconcile }),

    /** Money taken and returned in a period, for reports. */
    takings,

    /** What the settlement watch found and still holds. */
    findings: watch.list,

    /** As `findings`, but orders and postings are all compared now. Changes nothing. */
    audit: watch.audit,

    /** Payments that wait for an operator's decision, oldest first. */
    reviewQueue: reviews.queue,

    /** Credits, refunds or dismisses one, once. Refuses: order_state_wrong. */
    resolveReview: reviews.resolve,

    /** A new promo code. Refuses: field_invalid. */
    ...{ createPromo: promos.create, promos: promos.list },

    /** Ends a promo code immediately. Refuses: field_invalid. */
    endPromo: promos.end,

    /** Refuses: promo_refused, promo_attempts_exceeded. */
    redeem: promos.redeem,

    /** What accounts of the last days have in common; for a person, never a reason to refuse. */
    signals: shared.signals.read,

    /**
     * Automatic purchases with a saved payment method. `turnOn` records the owner's mandate;
     * `forget` deletes the method and ends the mandate. Refuses: top_up_refused, pack_changed.
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
      receipts: receipts.run,
      findUsedUp: receipts.findUsedUp,
      sweepRefunds: sweep.sweepRefunds,
      ...watchJobs(options, watch, reread),
      async forget(): Promise<void> {
        await notificationDeleteOld(db, NOTIFICATION_DAYS)
        await shared.signals.forget()
        await trials.forget()
        await redeemersForget(db)
      },
    },

    /** Starts the worker's loops, for jobs that run more often than once a minute. */
    start: loops.start,
    async stop(): Promise<void> {
      await loops.stop()
      for (const provider of options.providers) await provider.close()
    },

    /** For the owner's copy of the data, and for erasing the owner: copy, needs, erase. */
    ...createOwnerData({ db, orders, refunds, topUps, receipts, trials }),

    ...healthVerbs(options),
  }
}

export type Payments = ReturnType<typeof createPayments>

function healthVerbs(options: PaymentsOptions) {
  const health = () => healthRead(options.db, shopsOf(options))
  return {
    /** The numbers behind the alarms. */
    health,
    /** The alarms that are on now; the worker logs them every minute. */
    alarms: async () => alarmsOf(await health()),
    /** Exports the watch's numbers; for every process that is scraped. */
    exportWatch: () => options.metrics.exportWatch(async () => watchNumbers(await health())),
  }
}

function providersOf(options: PaymentsOptions): Providers {
  const providers = createProviders(options.providers)
  assert(providers.get(options.provider) !== undefined, `no provider ${options.provider}`)
  return providers
}

function shopsOf({ providers }: PaymentsOptions) {
  return providers.map(({ name, shopRef }) => ({ provider: name, shop: shopRef }))
}

/** The jobs of the settlement watch. */
function watchJobs(options: PaymentsOptions, watch: Watch, { reread }: Reread) {
  return {
    /** Computes and logs the alarms. */
    watch: () => watchAlarms(options.db, options.log, shopsOf(options)),
    /** Orders and postings since the last run; and all of them. */
    tie: watch.tieNew,
    tieAll: watch.tieAll,
    /** Whole days of the provider's payments and refunds that were not compared yet. */
    compareDays: watch.compareDays,
    /** Fetches what open findings are about. */
    recheck: () => watch.recheck((provider, id) => reread(provider, id, 'poll')),
  }
}

/** Jobs that run more often than once a minute. */
function workerLoops(
  { sweepSeconds, log, blockedWork }: PaymentsOptions,
  parts: {
    readonly notifications: Notifications
    readonly orders: Orders
    readonly sweep: Sweep
    readonly topUps: { run(): Promise<unknown> }
    readonly receipts: Pick<Receipts, 'run'>
  },
) {
  const { notifications, orders, sweep, topUps, receipts } = parts
  return createIntervalLoops(
    [
      { name: 'notices', everyMs: NOTIFICATIONS_MS, run: () => notifications.applyDue() },
      { name: 'recover', everyMs: POLL_MS, run: () => orders.recover() },
      { name: 'poll', everyMs: POLL_MS, run: () => orders.poll() },
      {
        name: 'sweep',
        everyMs: (sweepSeconds * 1_000) / SWEEP_TRIES,
        isImmediate: true,
        run: () => sweep.sweep(),
      },
      { name: 'top-ups', everyMs: TOP_UPS_MS, run: () => topUps.run() },
      { name: 'receipts', everyMs: RECEIPTS_MS, run: () => receipts.run() },
    ],
    log,
    blockedWork,
  )
}

type WithProviders = Omit<PaymentsOptions, 'providers'> & { readonly providers: Providers }

/** What several parts use: checks, digests, how top-ups end and may be sent, closing accounts. */
function sharedParts(options: WithProviders, { findings, compare }: Watch) {
  const digests = createDigests(options.digestSecret)
  const topUpEndings = createTopUpEndings(options)
  return {
    ...{ findings, compare, digests, topUpEndings },
    signals: createSignals({ db: options.db, digests }),
    topUpSending: createTopUpSending({ ...options, topUpEndings }),
    closingRefunds: createClosingRefunds({ ...options, digests }),
  }
}
