// Compares our orders with the provider's payments for a period: for an operator, and each hour for
// the whole days that have not been compared yet. It changes no order; the usual triggers apply
// what is missing. Pages are read slowly, so that sweeps and purchases get their calls.
import { setTimeout as pause } from 'node:timers/promises'
import { dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { Answer, Page, Period, Provider, RefundSnapshot } from '../port.ts'
import { whyOf } from '../port.ts'
import type { Providers } from '../providers.ts'
import { type Compare, foundOf, isMissing, type Mismatch, mismatchesOf } from './compare.ts'
import type { Findings, Found } from './findings.ts'
import { paymentRules, refundRules } from './findings.ts'
import {
  type CreditedOrder,
  checkFind,
  checkStore,
  orderListCreditedOfShop,
  orderListOfPayments,
  refundListKnown,
  refundListSucceeded,
  timeNow,
} from './queries.ts'

export type Reconciled = {
  readonly provider: string
  readonly shop: string
  /** How many payments the provider shows for the period, and how many orders we credited. */
  readonly payments: number
  readonly orders: number
  readonly mismatches: readonly Mismatch[]
  /** Why the provider's list could not be read; null when it was. */
  readonly why: string | null
}

type Listed<T> = { readonly items: T[]; readonly unreadable: Page<T>['unreadable'] }

/** As for a sweep: a longer list goes in circles. */
const PAGES_MAX = 1_000
const DAY_MS = 86_400_000
/** Payments captured at the end of a day are credited and listed by then. */
const QUIET_MS = 2 * 3_600_000
/** After a longer pause of the worker, `op reconcile` compares the rest. */
const DAYS_MAX = 7
/** One page a second leaves four of the five calls a second to the sweep and to purchases. */
const PAGE_PAUSE_MS = 1_000
/** A day has a few refunds; each is one call, and more would take a quarter of an hour. */
const REFUNDS_MAX = 1_000
/**
 * Each is one call. Usually a handful are credited after midnight; of more than these, the rest are
 * findings without a fetch, and the job that fetches what findings are about closes the wrong ones.
 */
const FETCHES_MAX = 1_000

export function createReconcile(options: {
  readonly db: Db
  readonly log: Log
  readonly providers: Providers
  readonly findings: Findings
  readonly compare: Pick<Compare, 'reportUnreadable'>
  /** Waits between pages; tests do not. */
  readonly pagePauseMs?: number
}) {
  const { db, log, providers, findings } = options
  const { pagePauseMs = PAGE_PAUSE_MS } = options
  const shopsWithList = () => providers.values().filter((one) => one.capabilities().hasSettledList)

  async function compareOne(
    provider: Provider,
    from: Date,
    to: Date,
    pauseMs: number,
  ): Promise<Reconciled & { readonly ids: readonly string[] }> {
    const head = { provider: provider.name, shop: provider.shopRef }
    const read = await readAll(
      (cursor) => provider.listSettled({ since: from, until: to }, cursor),
      pauseMs,
    )
    const own = await orderListCreditedOfShop(db, {
      ...{ ...head, from, to },
      isEarliest: providers.isEarliest(provider),
    })
    const orders = own.length
    if (typeof read === 'string')
      return { ...head, payments: 0, orders, mismatches: [], why: read, ids: [] }
    const shown = new Map(read.items.map((one) => [one.paymentId, one]))
    const unreadable = new Set(read.unreadable.map(({ id }) => id))
    const mismatches = await mismatchesOf(db, provider, [...shown.values()])
    for (const { id, text, why } of read.unreadable) {
      mismatches.push({
        ...{ provider: provider.name, paymentId: id ?? text.slice(0, 100) },
        ...{ order: null, orderRef: null },
        ...{ what: 'unreadable', detail: why, isReviewed: false },
      })
    }
    const absent = own.filter(({ paymentId: id }) => !shown.has(id) && !unreadable.has(id))
    const others = await mismatchesOfAbsent(provider, absent, pauseMs)
    if (typeof others === 'string')
      return { ...head, payments: 0, orders, mismatches: [], why: others, ids: [] }
    mismatches.push(...others)
    const payments = shown.size + read.unreadable.length
    const ids = [...shown.keys(), ...absent.map(({ paymentId }) => paymentId)]
    return { ...head, payments, orders, mismatches, why: null, ids }
  }

  /**
   * Orders that were credited in a period whose list does not show their payment. Those captured
   * before it began are paid all the same: a fetch of each tells. A string: it could not be told.
   */
  async function mismatchesOfAbsent(
    provider: Provider,
    absent: readonly CreditedOrder[],
    pauseMs: number,
  ): Promise<Mismatch[] | string> {
    const found: Mismatch[] = []
    for (const [i, { id, paymentId, state, price }] of absent.entries()) {
      if (pauseMs > 0 && i < FETCHES_MAX) await pause(pauseMs)
      const answer = i < FETCHES_MAX ? await provider.fetchPayment(paymentId) : undefined
      if (answer === undefined || isMissing(answer)) {
        found.push({
          ...{ provider: provider.name, paymentId, order: id, orderRef: id },
          what: 'payment_missing',
          detail: `${state} here with ${rublesText(price)} RUB; the provider does not show it`,
          isReviewed: false,
        })
      } else if (answer.kind === 'ok') {
        found.push(...(await mismatchesOf(db, provider, [answer.value])))
      } else return whyOf(answer)
    }
    return found
  }

  /** Refunds that the provider created in a period, and those that we recorded. */
  async function compareRefunds(provider: Provider, period: Required<Period>) {
    const read = await readAll((cursor) => provider.listRefunds(period, cursor), pagePauseMs)
    if (typeof read === 'string') return read
    await options.compare.reportUnreadable(provider, 'refund_unreadable', read.unreadable)
    const found = await unknownRefunds(provider, read.items)
    const own = await refundListSucceeded(db, {
      ...{ provider: provider.name, shop: provider.shopRef, limit: REFUNDS_MAX },
      ...{ from: period.since, to: period.until, isEarliest: providers.isEarliest(provider) },
    })
    for (const { id, refundId, amount } of own) {
      if (pagePauseMs > 0) await pause(pagePauseMs)
      const answer = await provider.fetchRefund(refundId)
      if (answer.kind !== 'ok' && answer.kind !== 'absent') return whyOf(answer)
      const there = answer.kind === 'ok' ? answer.value : undefined
      if (there?.status === 'succeeded' && there.amount === amount) continue
      const state = there === undefined ? 'absent' : `${there.status}, ${there.amountText}`
      const detail = `${id} gave back ${rublesText(amount)} RUB here; there it is ${state}`
      found.push({ rule: 'refund_missing', subject: refundId, detail, provider })
    }
    const subjects = [...read.items, ...own].map(({ refundId }) => refundId)
    await findings.clear(refundRules, subjects, found)
    await findings.open(found)
    return null
  }

  /** Refunds of our payments that succeeded there, and not here or with another amount. */
  async function unknownRefunds(provider: Provider, items: readonly RefundSnapshot[]) {
    const known = await refundListKnown(
      db,
      provider.name,
      items.map(({ refundId }) => refundId),
    )
    const others = items.filter(({ refundId, amount }) => known.get(refundId) !== amount)
    const payments = others.map(({ paymentId }) => ({ paymentId, orderRef: null }))
    const { orders, reviewed } = await orderListOfPayments(db, provider.name, payments)
    return others.flatMap(({ refundId, paymentId, amountText }): Found[] => {
      if (!orders.has(paymentId) || reviewed.has(paymentId)) return []
      const detail = `${amountText} went back there for ${paymentId}; we do not have this refund`
      return [{ rule: 'refund_unknown', subject: refundId, detail, provider }]
    })
  }

  async function compareDay(provider: Provider, from: Date): Promise<boolean> {
    const to = dateAt(from.getTime() + DAY_MS)
    const { mismatches, why, ids } = await compareOne(provider, from, to, pagePauseMs)
    const failed = why ?? (await compareRefunds(provider, { since: from, until: to }))
    if (failed !== null) {
      log.warn({ day: from, shop: provider.shopRef, why: failed }, 'a day could not be compared')
      return false
    }
    const found = mismatches.flatMap((one) => foundOf(one, provider))
    await findings.clear(paymentRules, ids, found)
    await findings.open(found)
    return true
  }

  return {
    /** One result for each shop whose provider has a list. Changes nothing. */
    async reconcile(p: { readonly from: Date; readonly to: Date }): Promise<Reconciled[]> {
      const all: Reconciled[] = []
      for (const provider of shopsWithList()) {
        const { ids: _, ...result } = await compareOne(provider, p.from, p.to, 0)
        all.push(result)
      }
      return all
    },

    /** The job: compares every whole day (UTC) that was not compared yet; returns how many. */
    async compareDays(): Promise<number> {
      const nowMs = (await timeNow(db)).getTime()
      const endMs = Math.floor((nowMs - QUIET_MS) / DAY_MS) * DAY_MS
      let days = 0
      for (const provider of shopsWithList()) {
        const name = `days ${provider.name} ${provider.shopRef}`
        const mark = (await checkFind(db, name))?.getTime() ?? endMs - DAY_MS
        const firstMs = endMs - DAYS_MAX * DAY_MS
        // A mark of the future was stored before the clock was set back: it says nothing.
        const fromMs = mark > endMs ? firstMs : Math.max(mark, firstMs)
        for (let ms = fromMs; ms < endMs; ms += DAY_MS) {
          if (!(await compareDay(provider, dateAt(ms)))) break
          await checkStore(db, name, dateAt(ms + DAY_MS))
          days += 1
        }
      }
      return days
    },
  }
}

/** All items of a list, or the reason why they could not all be read. */
async function readAll<T>(
  read: (cursor: string | null) => Promise<Answer<Page<T>>>,
  pauseMs: number,
): Promise<Listed<T> | string> {
  const items: T[] = []
  const unreadable: Page<T>['unreadable'][number][] = []
  let cursor: string | null = null
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page: Answer<Page<T>> = await read(cursor)
    if (page.kind !== 'ok') return whyOf(page)
    items.push(...page.value.items)
    unreadable.push(...page.value.unreadable)
    cursor = page.value.next
    if (cursor === null) return { items, unreadable }
    if (pauseMs > 0) await pause(pauseMs)
  }
  return 'its list does not end'
}
