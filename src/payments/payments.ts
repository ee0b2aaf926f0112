// The door of payments: how money comes in. Paid is credited, exactly once and within about a
// minute, whichever of four triggers brings the news, and nothing is credited whose facts differ
// from the order. Refunds, disputes and promo codes go through the same ledger. README.md has the
// state machine and what to do with each alarm.
import type { Registry } from 'prom-client'
import type { Ledger } from '../ledger/ledger.ts'
import { assert } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import type { BookId, OrderId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { createRounds } from '../platform/worker/rounds.ts'
import { creditsText } from '../units/credits.ts'
import { rublesText } from '../units/kopecks.ts'
import type { PaymentMetrics } from './metrics.ts'
import { createPaymentMetrics } from './metrics.ts'
import type { Brand, Mailer } from './order/letters.ts'
import { orderErase } from './order/queries.ts'
import type { Answer, Provider } from './port.ts'
import { createPromos } from './promos/promos.ts'
import { createApply } from './purchase/apply.ts'
import { createNotices } from './purchase/notices.ts'
import { createOrders } from './purchase/purchase.ts'
import { createReread } from './purchase/reread.ts'
import { createSweep } from './purchase/sweep.ts'
import { healthRead, noticeDeleteOld } from './purchase/upkeep-queries.ts'
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

export type { BuyAsk, OrderState, OrderView } from './order/order.ts'
export type { Review } from './order/review-queries.ts'
export type { Confirmation, Locale, Method, Provider } from './port.ts'
export type { Promo } from './promos/queries.ts'
export type { NoticeAsk } from './purchase/notices.ts'
export type { DisputeAsk } from './refunds/disputes.ts'
export type { Dispute, Refund } from './refunds/queries.ts'
export type { Refundable, RefundPolicy } from './refunds/refundable.ts'
export type { RefundAsk } from './refunds/refunds.ts'
export type { Alarm, AlarmName } from './reviews/alarms.ts'
export type { Mismatch, Reconciled } from './reviews/reconcile.ts'
export type { ReviewAsk } from './reviews/reviews.ts'
export type { FoundOrder, FoundPurchase } from './reviews/search.ts'

/** How fresh a stored notice is when somebody asks about it. */
const NOTICES_MS = 1_000
const LOOKS_MS = 1_000
/** A balance that falls below its threshold has requests left for longer than this. */
const TOP_UPS_MS = 5_000
/** A month answers any customer who asks; they hold the first and last digits of cards. */
const NOTICE_DAYS = 30
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
  /** All that are in use. An order stays with the provider it was made with. */
  readonly providers: readonly Provider[]
  /** Which of them takes new orders. */
  readonly provider: string
  readonly isOpen: boolean
  /** Test money is credited, and real money refused; or the other way round. */
  readonly takesTest: boolean
  readonly refundPolicy: RefundPolicy
  readonly sweepSeconds: number
  readonly promoTriesPerHour: number
} & Pick<TopUpOptions, 'hasTopUps' | 'packOf' | 'ownerOf'>

/** The YooKassa adapter, for wiring: which providers there are is the deployment's choice. */
export function openYookassa(options: YookassaOptions): Provider {
  return createYookassa(options)
}

/** The room's metrics on the process's registry; made first, since adapters count too. */
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
  const notices = createNotices({ ...shared, reread, refunds })
  const sweep = createSweep({ ...shared, instance: ledger.instance, reread, refunds })
  const disputes = createDisputes(shared)
  const reviews = createReviews({ ...shared, apply, refunds })
  const promos = createPromos({ db, ledger, triesPerHour: options.promoTriesPerHour })
  const topUps = createTopUps({ ...shared, orders })
  const { reconcile } = createReconcile(shared)
  const search = createSearch(shared)
  const rounds = createRounds(
    [
      { name: 'notices', everyMs: NOTICES_MS, run: () => notices.applyDue() },
      { name: 'recover', everyMs: LOOKS_MS, run: () => orders.recover() },
      { name: 'poll', everyMs: LOOKS_MS, run: () => orders.poll() },
      { name: 'sweep', everyMs: options.sweepSeconds * 1_000, run: () => sweep.sweep() },
      { name: 'top-ups', everyMs: TOP_UPS_MS, run: () => topUps.run() },
    ],
    log,
  )

  return {
    /** Names of the providers in use; a notification of any other is unknown. */
    providers: [...providers.keys()] as readonly string[],

    /**
     * Makes an order and its payment, or finds the one that this click, or another within the
     * hour for the same pack, made before. An order in state `created` has no answer yet: look at
     * it again.
     * Refuses: payment_unavailable, order_attempt_reused, top_up_refused.
     */
    buy: orders.buy,

    /** Ways to pay a sum now; none while nothing is sold. */
    methods: orders.methods,

    /** One order of a book. Refuses: order_unknown. */
    order: (id: OrderId, book: BookId) => orders.find(id, book),

    /** A page of a book's orders, newest first; `before` is the last id of the page before. */
    orders: orders.list,

    /** Whether the book may have a key: something was bought and credited. */
    hasPurchased: orders.hasPurchased,

    /** Asks the provider about one order now; at most every two seconds. Refuses: order_unknown. */
    check: orders.check,

    /** Stores a notification and says what the provider wants to hear. Never throws. */
    notify: notices.notify,

    /** What could be given back now; with the book's id, by the policy. Refuses: order_unknown. */
    refundable: refunds.refundable,

    /**
     * Gives back the unspent part, or some of it. May be repeated by its attempt. Refuses:
     * order_unknown, refund_refused, refund_exceeds_unspent.
     */
    requestRefund: refunds.request,

    /** Refunds of a book's orders, newest first. */
    refunds: refunds.list,

    /** An operator's word about a dispute. Refuses: order_unknown, order_state_wrong. */
    dispute: disputes.dispute,

    /** Disputes of all orders, open ones first. */
    disputes: search.disputes,

    /** An order by any number of it: its own, its payment's, a refund's or a dispute's. */
    search: search.find,

    /** Our books beside the provider's, for a period. Changes nothing. */
    reconcile,

    /** Payments that wait for a person, oldest first. */
    reviewQueue: reviews.queue,

    /** Credits, refunds or dismisses one, once. Refuses: order_state_wrong. */
    resolveReview: reviews.resolve,

    /** A new promo code. Refuses: field_invalid. */
    createPromo: promos.create,
    promos: promos.list,

    /** Ends a promo code at once. Refuses: field_invalid. */
    endPromo: promos.end,

    /** Refuses: promo_refused, promo_attempts_exceeded. */
    redeem: promos.redeem,

    /**
     * Automatic purchases by a kept method. `turnOn` records the agreement; `forget` also ends
     * them. Refuses: top_up_refused, pack_changed.
     */
    topUps,

    /** What must be done again and again. Each may be repeated and run beside itself. */
    jobs: {
      applyNotification: notices.applyDue,
      sweep: sweep.sweep,
      recover: orders.recover,
      poll: orders.poll,
      expire: orders.expire,
      topUp: topUps.run,
      pollRefunds: refunds.poll,
      sweepRefunds: sweep.sweepRefunds,
      watch: () => watchAlarms(db, log),
      forget: () => noticeDeleteOld(db, NOTICE_DAYS),
    },

    /** The loops of a worker, for what cannot wait for the next minute. */
    start: rounds.start,
    async stop(): Promise<void> {
      await rounds.stop()
      for (const provider of options.providers) await provider.close()
    },

    /** Everything about an owner's purchases, fit for JSON. */
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
     * Takes an owner's address out of the orders, in the caller's transaction. What was bought,
     * paid and given back stays: the law keeps sums longer than people. May be repeated.
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
