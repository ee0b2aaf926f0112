// Notifications: stored as they came and answered in milliseconds, then believed only as far as the
// provider confirms them. Asking the provider inside the handler would hang the intake whenever the
// provider is slow, which is when notices matter. The stored row is the job; a notice that cannot
// be stored is answered 503, and the provider repeats it for a day.
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import type { PaymentMetrics } from '../metrics.ts'
import { LEASE_SECONDS, oneByOne } from '../order/claims.ts'
import { isOfCell } from '../order/decide.ts'
import * as queries from '../order/queries.ts'
import { repeatSeconds } from '../order/schedule.ts'
import { type Provider, whyOf } from '../port.ts'
import type { Refunds } from '../refunds/refunds.ts'
import type { Reread } from './reread.ts'
import { createStrangers } from './strangers.ts'
import type { NoticeRow } from './upkeep-queries.ts'
import { noticeClaimDue, noticeEnd, noticeInsert, noticeRetry } from './upkeep-queries.ts'

export type NoticeAsk = {
  readonly provider: string
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly peer: string
}

export type NoticeOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly metrics: PaymentMetrics
  readonly cell: number
  readonly providers: ReadonlyMap<string, Provider>
  readonly reread: Reread
  readonly refunds: Refunds
}

/** A payment is 2-6 KiB; one with a receipt of a hundred lines, 40. */
const BYTES_MAX = 65_536
/** The provider says paid, and shows it as waiting: its own parts may be seconds apart. */
const DISAGREEMENT_SECONDS = [5, 15, 60]
/** As long as the provider itself repeats. */
const GIVEN_UP_SECONDS = 24 * 3_600
/** At five calls a second a round lasts four seconds; the next one goes on. */
const ROUND_MAX = 20

export function createNotices(options: NoticeOptions) {
  const { db, log, metrics, providers } = options
  const strangers = createStrangers(options.clock)

  const answer = (status: number, outcome: string, body = '') => {
    metrics.noticed(outcome)
    return { status, body }
  }

  async function take(ask: NoticeAsk): Promise<{ status: number; body: string }> {
    const provider = providers.get(ask.provider)
    // Whoever is not configured cannot tell us anything, not even with a forged signature.
    if (provider === undefined) return answer(404, 'no_provider')
    if (ask.body.length > BYTES_MAX) return answer(413, 'too_large')
    const peer = ask.peer.replace(/[^\x20-\x7e]/g, '?').slice(0, 64)
    if (strangers.isOver(peer)) return answer(429, 'too_many')
    const body = ask.body.toString('utf8')
    const notice = provider.parseNotification({ body, headers: ask.headers, peer })
    if (notice === undefined || notice.trust === 'rejected') {
      strangers.count(peer)
      log.warn({ peer, why: notice?.why ?? 'unreadable' }, 'a notice was turned away')
      return notice === undefined ? answer(400, 'unreadable') : answer(403, 'rejected')
    }
    const { event, paymentId, dedupe } = notice
    const orderRef = isOfCell(notice.orderRef, options.cell) ? notice.orderRef : null
    const known = { provider: provider.name, paymentId, orderRef }
    const { status, body: said } = provider.acknowledgement
    if ((await queries.orderFindByPayment(db, known)) === undefined) {
      // Another site's payment, or nobody's. There is nothing to ask about and nothing to repeat.
      strangers.count(peer)
      return answer(status, 'unknown', said)
    }
    const row = { provider: provider.name, dedupe, event, paymentId, body, peer }
    const isNew = await noticeInsert(db, row)
    return answer(status, isNew ? 'stored' : 'repeated', said)
  }

  /** What became of it; undefined when it is to be tried again. */
  async function work(notice: NoticeRow, provider: Provider): Promise<string | undefined> {
    const found = await options.reread.reread(provider, notice.paymentId, 'webhook')
    if (found.kind === 'absent') return 'absent'
    if (found.kind !== 'ok') {
      log.warn({ notice: notice.id, why: whyOf(found) }, 'a notice could not be confirmed yet')
      if (notice.ageSeconds > GIVEN_UP_SECONDS) return 'given_up'
      await noticeRetry(db, notice.id, repeatSeconds(notice.tries))
      return undefined
    }
    if (notice.event.startsWith('refund.')) {
      if (await options.refunds.sync(provider, notice.paymentId)) return 'applied'
      await noticeRetry(db, notice.id, repeatSeconds(notice.tries))
      return undefined
    }
    const isConfirmed = notice.event !== 'payment.succeeded' || found.value.status !== 'pending'
    if (isConfirmed) return 'applied'
    const pause = DISAGREEMENT_SECONDS[notice.tries - 1]
    if (pause === undefined) return 'unconfirmed'
    await noticeRetry(db, notice.id, pause)
    return undefined
  }

  async function applyOne(notice: NoticeRow): Promise<void> {
    const provider = providers.get(notice.provider)
    try {
      const outcome = provider === undefined ? 'no_provider' : await work(notice, provider)
      if (outcome === undefined) return
      await noticeEnd(db, notice, outcome)
      metrics.noticed(outcome)
    } catch (error) {
      log.error({ notice: notice.id, err: error }, 'a notice could not be applied')
    }
  }

  return {
    /** Never throws: what cannot be stored is answered 503. */
    async notify(ask: NoticeAsk): Promise<{ readonly status: number; readonly body: string }> {
      try {
        return await take(ask)
      } catch (error) {
        log.error({ err: error }, 'a notice could not be stored')
        return answer(503, 'not_stored')
      }
    },

    /** The job: asks the provider about each payment that a notice named. */
    applyDue: (): Promise<number> =>
      oneByOne(ROUND_MAX, () => noticeClaimDue(db, LEASE_SECONDS), applyOne),
  }
}

export type Notices = ReturnType<typeof createNotices>
