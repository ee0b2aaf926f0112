// The sweep guarantees that a paid order is credited within a minute. Every fifteen seconds it
// reads the provider's list of settled payments from a watermark to the end and applies each. It
// takes a few calls a minute, whatever the number of open orders, and needs no notifications. The
// watermark is a capture that the provider has shown, so each sweep proves it by finding it again.
import { dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { InstanceId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { PaymentMetrics } from '../metrics.ts'
import { type Answer, type Page, type Provider, type Snapshot, whyOf } from '../port.ts'
import type { Providers } from '../providers.ts'
import type { Refunds } from '../refunds/refunds.ts'
import type { Compare } from '../watch/compare.ts'
import type { Findings } from '../watch/findings.ts'
import type { Reread } from './reread.ts'
import {
  type ClaimedSweep,
  type Shop,
  sweepClaim,
  sweepEnd,
  sweepRenew,
  sweepWiden,
} from './sweep-queries.ts'

export type SweepOptions = {
  readonly db: Db
  readonly instance: InstanceId
  readonly log: Log
  readonly metrics: PaymentMetrics
  readonly providers: Providers
  readonly reread: Reread
  readonly refunds: Refunds
  readonly findings: Findings
  readonly compare: Compare
  readonly sweepSeconds: number
}

/** Payments that settle out of order or appear late in the list do so within this time. */
const OVERLAP_MS = 180_000
const PAGE_TRIES_MAX = 3
/** Each takes a connection of the pool for about 10 ms; others need some, too. */
const APPLIED_AT_ONCE = 4
/**
 * Renewed before each call for a page, which takes about 1 s and at most 20 s. A killed worker
 * delays the next sweep by this much, which is well within the promised minute. If it is too short,
 * two workers sweep at once, which does no harm.
 */
const LEASE_SECONDS = 25
const PAGES_MAX = 1_000
/** A refund may take three days from its creation to its success. */
const REFUND_DAYS = 4
/**
 * A watermark this old hides nothing of the last half day, so it needs no proof. The first
 * watermark of a shop and a reset one are 25 hours old and no captures.
 */
const PROOF_MS_MAX = 12 * 3_600_000

/** What one reading of the list has shown. */
type Reading = {
  readonly since: Date
  readonly ids: Set<string>
  newestMs: number
  isWhole: boolean
  /** The list has a payment captured at the watermark, or one that cannot be read. */
  isProven: boolean
}

export function createSweep(options: SweepOptions) {
  const { db, instance, log, metrics, reread, findings, compare } = options

  /** False when it failed: the others are applied all the same; only the watermark stays. */
  function applyOne(provider: Provider, snapshot: Snapshot): Promise<boolean> {
    return reread.applyWithRefunds(provider, snapshot, 'sweep').then(
      () => true,
      (error: unknown) => {
        log.error({ payment: snapshot.paymentId, err: error }, 'a payment could not be applied')
        return false
      },
    )
  }

  /**
   * Applies a page. A capture later than the database's time does not count as newest: as a
   * watermark it would hide every payment until then. If the provider's clock is ahead, a later
   * sweep reads that payment again. An unreadable payment becomes a finding and does not hold the
   * watermark: it is fetched again until it can be read.
   */
  async function applyPage(
    provider: Provider,
    page: Page<Snapshot>,
    claimed: ClaimedSweep,
    reading: Reading,
  ): Promise<void> {
    for (const { capturedAt, status, paymentId } of page.items) {
      const capturedMs = capturedAt?.getTime() ?? 0
      if (capturedMs <= claimed.now.getTime())
        reading.newestMs = Math.max(reading.newestMs, capturedMs)
      reading.isProven ||= capturedMs === claimed.watermark.getTime()
      if (status === 'succeeded') reading.ids.add(paymentId)
    }
    const changed = await compare.changedOf(provider, page.items)
    for (let i = 0; i < changed.length; i += APPLIED_AT_ONCE) {
      const some = changed.slice(i, i + APPLIED_AT_ONCE)
      const done = await Promise.all(some.map((snapshot) => applyOne(provider, snapshot)))
      reading.isWhole &&= done.every(Boolean)
    }
    if (page.unreadable.length > 0) {
      reading.isProven = true
      await compare.reportUnreadable(provider, 'payment_unreadable', page.unreadable)
    }
    await compare.compareSettled(provider, page.items, changed)
  }

  /**
   * A page, tried three times: if a third of the calls fails, a list of six pages would be read to
   * its end only once in eleven sweeps. The lease is renewed before each call.
   */
  async function readPage(
    provider: Provider,
    since: Date,
    cursor: string | null,
  ): Promise<Answer<Page<Snapshot>>> {
    for (let tries = 1; ; tries++) {
      await sweepRenew(db, { ...shopOf(provider), instance, leaseSeconds: LEASE_SECONDS })
      const page = await provider.listSettled({ since }, cursor)
      const mayHelp = page.kind === 'unknown' || page.kind === 'throttled'
      if (!mayHelp || tries === PAGE_TRIES_MAX) return page
    }
  }

  async function readAll(provider: Provider, claimed: ClaimedSweep): Promise<Reading> {
    const since = dateAt(claimed.watermark.getTime() - OVERLAP_MS)
    const isOld = claimed.now.getTime() - claimed.watermark.getTime() > PROOF_MS_MAX
    const reading: Reading = {
      ...{ since, ids: new Set(), newestMs: 0, isWhole: true },
      isProven: claimed.isWide || isOld,
    }
    let cursor: string | null = null
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page = await readPage(provider, since, cursor)
      if (page.kind !== 'ok') {
        log.warn({ provider: provider.name, why: whyOf(page) }, 'a sweep was cut short')
        return { ...reading, isWhole: false }
      }
      await applyPage(provider, page.value, claimed, reading)
      cursor = page.value.next
      if (cursor === null) return reading
    }
    return { ...reading, isWhole: false }
  }

  /** Reads from the watermark; if the list disproves the watermark, reads the last 25 hours. */
  async function readProven(provider: Provider, claimed: ClaimedSweep): Promise<Reading> {
    if (claimed.ahead !== null)
      await reportWatermark(provider, claimed.ahead, 'is later than the database’s time')
    const reading = await readAll(provider, claimed)
    if (!reading.isWhole || reading.isProven) return reading
    await reportWatermark(provider, claimed.watermark, 'is no capture that the provider shows')
    return readAll(provider, await sweepWiden(db, shopOf(provider)))
  }

  async function reportWatermark(provider: Provider, watermark: Date, what: string): Promise<void> {
    const subject = watermark.toISOString()
    const detail = `the watermark ${subject} ${what}; the last 25 hours are read`
    await findings.report('watermark_unproven', provider, subject, detail)
  }

  async function sweepOne(provider: Provider): Promise<boolean> {
    const own = { ...shopOf(provider), instance }
    // A little less than the interval; else the loop would find the lease taken every other time.
    const pauseSeconds = options.sweepSeconds * 0.8
    const leaseSecondsMax = Math.max(LEASE_SECONDS, pauseSeconds)
    const claimed = await sweepClaim(db, {
      ...{ ...own, leaseSeconds: LEASE_SECONDS, leaseSecondsMax },
      isEarliest: options.providers.isEarliest(provider),
    })
    if (claimed === undefined) return false
    const { isWhole, newestMs, since, ids } = await readProven(provider, claimed)
    if (isWhole) await compare.compareCredited(provider, { from: since, began: claimed.now, ids })
    const { failures } = await sweepEnd(db, {
      ...own,
      isDone: isWhole,
      began: claimed.now,
      watermark: newestMs === 0 ? null : dateAt(newestMs),
      pauseSeconds,
    })
    metrics.countSweep(isWhole ? 'done' : 'failed')
    if (failures >= 3) log.error({ provider: provider.name, failures }, 'sweeps keep failing')
    return true
  }

  return {
    /** Sweeps every shop whose provider has a list; returns how many this process swept. */
    async sweep(): Promise<number> {
      let done = 0
      for (const provider of options.providers.values()) {
        if (!provider.capabilities().hasSettledList) continue
        if (await sweepOne(provider)) done += 1
      }
      return done
    },

    /** Applies refunds of the last days whose notification was lost. */
    async sweepRefunds(): Promise<void> {
      for (const provider of options.providers.values()) {
        for (const paymentId of await options.refunds.paymentsWithUnknownRefunds(
          provider,
          REFUND_DAYS,
        )) {
          await reread.reread(provider, paymentId, 'sweep')
        }
      }
    },
  }
}

export type Sweep = ReturnType<typeof createSweep>

function shopOf(provider: Provider): Shop {
  return { provider: provider.name, shop: provider.shopRef }
}
