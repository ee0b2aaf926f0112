// Posts a stored refund to its provider, always with the same key and bytes, until its outcome is
// known; and reads the provider's list for refunds whose notification was lost.
import type { Clock } from '../../platform/clock.ts'
import { dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import { isMissingGrant } from '../../platform/db/missing-grants.ts'
import type { Log } from '../../platform/log.ts'
import { LEASE_SECONDS, processDue } from '../order/claims.ts'
import { orderFindByPayment } from '../order/queries.ts'
import { refundPollSeconds, retryDelaySeconds } from '../order/schedule.ts'
import {
  type Answer,
  type Page,
  type Period,
  type Provider,
  type RefundSnapshot,
  whyOf,
} from '../port.ts'
import { type Providers, providerOf } from '../providers.ts'
import type { Compare } from '../watch/compare.ts'
import type { Findings } from '../watch/findings.ts'
import type { RefundApply } from './apply.ts'
import { type BackingOptions, unbackedWhy } from './backing.ts'
import { type Refund, refundClaimDue, refundIsKnown, refundSetDue } from './queries.ts'

/** Fits in a minute at five calls a second; the next minute's run takes the rest. */
const ROUND_MAX = 200
const PAGES_MAX = 100

export type RefundPostingOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly providers: Providers
  readonly compare: Pick<Compare, 'reportUnreadable'>
  readonly findings: Pick<Findings, 'open'>
  readonly apply: RefundApply
} & BackingOptions

export type RefundPosting = ReturnType<typeof createRefundPosting>

export function createRefundPosting(options: RefundPostingOptions) {
  const { db, log, apply } = options

  /** Posts a stored refund, always with the stored bytes, if the ledger has taken its credits. */
  async function post(refund: Refund): Promise<void> {
    if (refund.requestBody === null) return
    const provider = providerOf(options.providers, refund)
    const why = await unbackedWhy(refund, provider, options)
    if (why !== null) return withhold(refund, why)
    const answer = await provider.createRefund(refund.id, refund.requestBody)
    await storeAnswer(refund, answer).catch((error: unknown) => {
      throw isMissingGrant(error) ? unstored(refund, error) : error
    })
  }

  /** The refund was not made by this program: it is not posted, and an operator is told. */
  async function withhold({ id, order }: Refund, why: string): Promise<void> {
    await refundSetDue(db, id, null)
    const detail = `of ${order} was not sent: ${why}`
    await options.findings.open([{ rule: 'refund_unbacked', subject: id, detail, provider: null }])
  }

  async function storeAnswer(refund: Refund, answer: Answer<RefundSnapshot>): Promise<void> {
    if (answer.kind === 'ok') {
      await apply.applyRefund(answer.value, refund.order)
    } else if (isRejected(answer) && (refund.tries === 0 || !isOurFault(answer))) {
      log.error({ refund: refund.id, why: whyOf(answer) }, 'the provider refused a refund')
      await apply.release(refund, whyOf(answer))
    } else {
      log.warn({ refund: refund.id, why: whyOf(answer) }, 'the outcome of a refund is unknown')
      await refundSetDue(db, refund.id, retryDelaySeconds(refund.tries + 1))
    }
  }

  /** The key is too old to post again: searches the payment's refunds; if absent, releases it. */
  async function find(refund: Refund): Promise<void> {
    const found = await listAll(providerOf(options.providers, refund), {
      paymentId: refund.paymentId,
    })
    const same = found?.items.find((one) => one.refundRef === refund.id)
    if (same !== undefined) await apply.applyRefund(same, refund.order)
    // A refund that cannot be read may be this one.
    else if (found?.isWhole) await apply.release(refund, 'it never reached the provider')
    else await refundSetDue(db, refund.id, retryDelaySeconds(refund.tries))
  }

  async function checkRefund(refund: Refund & { readonly ageSeconds: number }): Promise<void> {
    const provider = providerOf(options.providers, refund)
    if (refund.state === 'created') {
      const isYoung = refund.ageSeconds < provider.capabilities().idempotencyKeySeconds
      return isYoung ? post(refund) : find(refund)
    }
    const answer = await provider.fetchRefund(refund.refundId ?? '')
    if (answer.kind === 'ok') await apply.applyRefund(answer.value, refund.order)
    else log.warn({ refund: refund.id, why: whyOf(answer) }, 'a refund could not be read')
    const isOpen = answer.kind !== 'ok' || answer.value.status === 'pending'
    if (isOpen) await refundSetDue(db, refund.id, refundPollSeconds(refund.tries))
  }

  /**
   * Every page; undefined when one could not be read. A refund that cannot be read becomes a
   * finding, and the list is not whole.
   */
  async function listAll(provider: Provider, of: { readonly paymentId: string } | Period) {
    const items: RefundSnapshot[] = []
    let isWhole = true
    let cursor: string | null = null
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page: Answer<Page<RefundSnapshot>> = await provider.listRefunds(of, cursor)
      if (page.kind !== 'ok') return undefined
      items.push(...page.value.items)
      const { unreadable } = page.value
      isWhole &&= unreadable.length === 0
      await options.compare.reportUnreadable(provider, 'refund_unreadable', unreadable)
      cursor = page.value.next
      if (cursor === null) return { items, isWhole }
    }
    return undefined
  }

  return {
    post,

    /** The job: posts due refunds again, or fetches their state. */
    async poll(): Promise<void> {
      const claim = () => refundClaimDue(db, LEASE_SECONDS)
      await processDue(ROUND_MAX, claim, (refund) =>
        checkRefund(refund).catch((error: unknown) =>
          log.error({ refund: refund.id, err: error }, 'a refund could not be processed'),
        ),
      )
    },

    /** Reads all refunds of one payment and applies each; false when they could not be read. */
    async sync(provider: Provider, paymentId: string): Promise<boolean> {
      const found = await listAll(provider, { paymentId })
      for (const one of found?.items ?? []) await apply.applyRefund(one)
      return found !== undefined
    },

    /**
     * Payments of our orders with a refund of the last days whose notification was lost. Throws if
     * the list could not be read: an empty one would mean that nothing was lost.
     */
    async paymentsWithUnknownRefunds(provider: Provider, days: number): Promise<string[]> {
      const since = dateAt(options.clock.nowMs() - days * 86_400_000)
      const found = await listAll(provider, { since })
      if (found === undefined) throw new Error(`the list of refunds could not be read`)
      const payments = new Set<string>()
      for (const one of found.items) {
        if (await refundIsKnown(db, one.provider, one.refundId)) continue
        const order = await orderFindByPayment(db, { ...one, orderRef: null })
        if (order !== undefined) payments.add(one.paymentId)
      }
      return [...payments]
    },
  }
}

/**
 * The provider has answered about a refund, and the answer could not be stored: the money may be on
 * its way. The refund and its reserved credits were stored before, and it stays due: the job `poll`
 * posts the same bytes under the same key, and the provider answers with the same refund.
 */
function unstored(refund: Refund, cause: Error): Error {
  return new Error(
    `the provider has answered about ${refund.id}, but its answer could not be stored: ` +
      `${cause.message}. The refund is stored with its credits set aside; a worker asks the ` +
      'provider again and completes it. Do not request it a second time',
    { cause },
  )
}

function isRejected(answer: Answer<unknown>): boolean {
  return answer.kind === 'rejected' || answer.kind === 'absent'
}

function isOurFault(answer: Answer<unknown>): boolean {
  return answer.kind === 'rejected' && answer.isOurFault
}
