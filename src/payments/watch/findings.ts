// What the checks of the settlement watch can find. A finding stays open until a later check finds
// it gone. An event (a sweep was blind) is over when it is found; its alarm lasts for an hour.
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import type { PaymentMetrics } from '../metrics.ts'
import type { Provider } from '../port.ts'
import { findingClear, findingInsert, findingOpen } from './queries.ts'

/** The sweep did not see what it promises to see. */
export const eventRules = ['watermark_unproven', 'sweep_missed', 'list_incomplete'] as const
/** An order and its posting in the ledger disagree. */
export const tieRules = [
  'posting_without_order',
  'posting_of_uncredited_order',
  'posting_differs',
  'order_without_posting',
] as const
/**
 * An order was credited for a payment in a shop that is not configured, so that no comparison with
 * a provider can find it. Only new ones: a shop that was closed leaves its old orders.
 */
export const shopRule = 'order_of_unknown_shop'
/** An order was credited with other credits, or for another price, than its catalogue sold. */
export const packRule = 'order_differs_from_pack'
/** A refund of a credited payment whose credits the ledger has not taken, or too few of them. */
export const backingRule = 'refund_unbacked'
/** The provider's payment and our order disagree. */
export const paymentRules = [
  'payment_not_credited',
  'payment_paid_twice',
  'payment_amount',
  'payment_refunded',
  'payment_missing',
  'payment_unreadable',
] as const
/** The provider's refund and ours disagree. */
export const refundRules = ['refund_unknown', 'refund_missing', 'refund_unreadable'] as const

export type EventRule = (typeof eventRules)[number]
export type FindingRule =
  | (typeof tieRules)[number]
  | typeof shopRule
  | typeof packRule
  | typeof backingRule
  | (typeof paymentRules)[number]
  | (typeof refundRules)[number]

export type Found = {
  readonly rule: FindingRule
  readonly subject: string
  readonly detail: string
  /** Null for what concerns only our own tables. */
  readonly provider: Pick<Provider, 'name' | 'shopRef'> | null
}

export function createFindings(options: {
  readonly db: Db
  readonly log: Log
  readonly metrics: PaymentMetrics
}) {
  const { db, log, metrics } = options

  return {
    /** The sweep was blind. Every call is a new event. */
    async report(
      rule: EventRule,
      provider: Pick<Provider, 'name' | 'shopRef'>,
      subject: string,
      detail: string,
    ): Promise<void> {
      await findingInsert(db, { rule, subject, detail, ...keyOf(provider) })
      metrics.countFinding(rule)
      log.error({ rule, provider: provider.name, subject, why: detail }, 'the sweep was blind')
    },

    /** Opens the findings that are not open yet. */
    async open(found: readonly Found[]): Promise<void> {
      for (const { rule, subject, detail, provider } of found) {
        const isNew = await findingOpen(db, { rule, subject, detail, ...keyOf(provider) })
        if (!isNew) continue
        metrics.countFinding(rule)
        log.error({ rule, subject, why: detail }, 'payments do not tie out')
      }
    },

    /** Closes the open findings about these subjects, except those that were found again. */
    async clear(
      rules: readonly FindingRule[],
      subjects: readonly string[],
      except: readonly Found[] = [],
    ): Promise<void> {
      const still = new Set(except.map(({ rule, subject }) => `${rule} ${subject}`))
      for (const { rule, subject } of await findingClear(db, {
        rules,
        subjects,
        still: [...still],
      }))
        log.info({ rule, subject }, 'a finding is gone')
    },
  }
}

export type Findings = ReturnType<typeof createFindings>

function keyOf(provider: Pick<Provider, 'name' | 'shopRef'> | null) {
  return { provider: provider?.name ?? null, shop: provider?.shopRef ?? null }
}
