// The sweep guarantees that a paid order is credited within a minute. Every fifteen seconds it
// reads the provider's list of settled payments from a watermark to the end and applies each. It
// takes a few calls a minute, whatever the number of open orders, and needs no notifications. The
// watermark is a time of the provider's clock, so a wrong clock here hides no payment.
import { dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { InstanceId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { PaymentMetrics } from '../metrics.ts'
import { type Answer, type Page, type Provider, type Snapshot, whyOf } from '../port.ts'
import type { Refunds } from '../refunds/refunds.ts'
import type { Reread } from './reread.ts'
import { sweepClaim, sweepEnd, sweepRenew } from './upkeep-queries.ts'

export type SweepOptions = {
  readonly db: Db
  readonly instance: InstanceId
  readonly log: Log
  readonly metrics: PaymentMetrics
  readonly providers: ReadonlyMap<string, Provider>
  readonly reread: Reread
  readonly refunds: Refunds
  readonly sweepSeconds: number
}

/** Payments that settle out of order or appear late in the list do so within this time. */
const OVERLAP_MS = 180_000
/**
 * Renewed with each page, which takes about 1 s and at most 20 s. A killed worker delays the next
 * sweep by this much, which is well within the promised minute. If it is too short, two workers
 * sweep at once, which does no harm.
 */
const LEASE_SECONDS = 25
const PAGES_MAX = 1_000
/** A refund may take three days from its creation to its success. */
const REFUND_DAYS = 4

export function createSweep(options: SweepOptions) {
  const { db, instance, log, metrics, reread } = options

  /**
   * Applies a page; returns the newest capture time and whether every payment was applied. A
   * capture later than the database's time does not count as newest: as a watermark it would hide
   * every payment until then. If the provider's clock is ahead, a later sweep reads that payment
   * again.
   */
  async function applyAll(provider: Provider, page: Page<Snapshot>, now: Date) {
    let newestMs = 0
    let isWhole = true
    for (const snapshot of page.items) {
      const capturedMs = snapshot.capturedAt?.getTime() ?? 0
      if (capturedMs <= now.getTime()) newestMs = Math.max(newestMs, capturedMs)
      try {
        await reread.applyWithRefunds(provider, snapshot, 'sweep')
      } catch (error) {
        // The other payments are applied all the same; only the watermark stays.
        log.error({ payment: snapshot.paymentId, err: error }, 'a payment could not be applied')
        isWhole = false
      }
    }
    return { newestMs, isWhole }
  }

  async function readAll(provider: Provider, { watermark, now }: { watermark: Date; now: Date }) {
    const since = dateAt(watermark.getTime() - OVERLAP_MS)
    let cursor: string | null = null
    let newestMs = 0
    let isWhole = true
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page: Answer<Page<Snapshot>> = await provider.listSettled(since, cursor)
      if (page.kind !== 'ok') {
        log.warn({ provider: provider.name, why: whyOf(page) }, 'a sweep was cut short')
        return { newestMs, isWhole: false }
      }
      const applied = await applyAll(provider, page.value, now)
      newestMs = Math.max(newestMs, applied.newestMs)
      isWhole &&= applied.isWhole
      cursor = page.value.next
      if (cursor === null) return { newestMs, isWhole }
      await sweepRenew(db, { provider: provider.name, instance, leaseSeconds: LEASE_SECONDS })
    }
    return { newestMs, isWhole: false }
  }

  async function sweepOne(provider: Provider): Promise<boolean> {
    const own = { provider: provider.name, instance }
    // A little less than the interval; else the loop would find the lease taken every other time.
    const pauseSeconds = options.sweepSeconds * 0.8
    const leaseSecondsMax = Math.max(LEASE_SECONDS, pauseSeconds)
    const claimed = await sweepClaim(db, { ...own, leaseSeconds: LEASE_SECONDS, leaseSecondsMax })
    if (claimed === undefined) return false
    const { newestMs, isWhole } = await readAll(provider, claimed)
    const { failures } = await sweepEnd(db, {
      ...own,
      isDone: isWhole,
      watermark: newestMs === 0 ? null : dateAt(newestMs),
      pauseSeconds,
    })
    metrics.countSweep(isWhole ? 'done' : 'failed')
    if (failures >= 3) log.error({ provider: provider.name, failures }, 'sweeps keep failing')
    return true
  }

  return {
    /** Sweeps every provider that has a list; returns how many this process swept. */
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
