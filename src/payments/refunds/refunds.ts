// Refunds that people ask for. The default policy gives back the unspent part of a pack: its
// credits are set aside in the same transaction that makes the refund, so they cannot be spent
// while the bank takes its days. Then the provider is asked, with one key and the same bytes, until
// it says.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import { dateAt } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { type BookId, newRefundId, type OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { isRefusal, Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { LEASE_SECONDS, oneByOne } from '../order/claims.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { refundLookSeconds, repeatSeconds } from '../order/schedule.ts'
import { type Answer, type Page, type Provider, type RefundSnapshot, whyOf } from '../port.ts'
import type { TopUpEndings } from '../top-ups/endings.ts'
import { backOf, type Locked, lockWhole, type RefundApply, settleState } from './apply.ts'
import type { Refund } from './queries.ts'
import {
  disputeList,
  refundClaimDue,
  refundInsert,
  refundIsKnown,
  refundListByBook,
  refundListByOrder,
  refundSetDue,
} from './queries.ts'
import { creditsOf, worthOf } from './sums.ts'

export type RefundPolicy = 'prorata' | 'full' | 'none'

export type RefundOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'refund' | 'lots' | 'balance'>
  readonly clock: Clock
  readonly log: Log
  readonly cell: number
  readonly providers: ReadonlyMap<string, Provider>
  readonly policy: RefundPolicy
  readonly apply: RefundApply
  readonly topUpEndings: Pick<TopUpEndings, 'ended'>
}

export type RefundAsk = {
  readonly order: OrderId
  /** Whose order it must be; absent for an operator. */
  readonly book?: BookId
  /** One per click: a repeat answers the first. */
  readonly attempt: string
  /** Part of what is refundable; absent: all of it. */
  readonly amountKopecks?: Kopecks
  readonly by: string
  readonly reason: string
}

export type Refundable = {
  readonly amountKopecks: Kopecks
  readonly credits: Credits
  /** Why nothing can be given back; null when something can. */
  readonly why: 'not_credited' | 'disputed' | 'policy' | 'spent' | null
}

/** Longer than a post may take, so that nobody posts the same refund beside us. */
const POST_SECONDS = 45
/**
 * A busy book spends while we count; a few counts later the sums meet. A count takes some 8 ms: at
 * a hundred requests a second one in five succeeds, and five of them gave up one refund in ten.
 */
const COUNTS_MAX = 30
/** At five calls a second a minute holds this many and more; the next minute takes the rest. */
const ROUND_MAX = 200
const PAGES_MAX = 100

export function createRefunds(options: RefundOptions) {
  const { db, ledger, log, apply } = options

  function providerOf(name: string): Provider {
    const provider = options.providers.get(name)
    if (provider === undefined) throw new Refusal('payment_unavailable', CLOSED, { name })
    return provider
  }

  /** What can be given back now. An operator is not bound by the policy. */
  async function count(whole: Locked, isOwner: boolean): Promise<Refundable> {
    const nothing = (why: Refundable['why']): Refundable => ({
      amountKopecks: 0n as Kopecks,
      credits: 0n as Credits,
      why,
    })
    const { order, disputes } = whole
    if (order.creditedAt === null) return nothing('not_credited')
    if (disputes.some((one) => one.state !== 'won')) return nothing('disputed')
    if (isOwner && options.policy === 'none') return nothing('policy')
    const [lots, book] = [await ledger.lots(order.book), await ledger.balance(order.book)]
    const lot = lots.find(({ seq }) => seq === order.lot)
    const unspent = smaller(lot?.unspent ?? 0n, book?.available ?? 0n)
    // The whole pack or nothing: a pack that was opened is not taken back.
    if (isOwner && options.policy === 'full' && unspent < order.credits) return nothing('policy')
    const amountKopecks = worthOf(order, unspent, backOf(whole))
    return amountKopecks === 0n ? nothing('spent') : { amountKopecks, credits: unspent, why: null }
  }

  async function read(id: OrderId, book?: BookId): Promise<Locked> {
    const order = await queries.orderFind(db, id)
    if (order === undefined || (book !== undefined && order.book !== book)) {
      throw new Refusal('order_unknown', 'There is no such order.', { order: id })
    }
    return {
      order,
      refunds: await refundListByOrder(db, id),
      disputes: await disputeList(db, id),
    }
  }

  /** What was counted without the lock is checked under it: by the sums and by the ledger. */
  async function insert(tx: Tx, ask: RefundAsk, counted: Refundable): Promise<Refund> {
    const whole = await lockWhole(tx, ask.order)
    if (whole === undefined) throw new Refusal('order_unknown', 'There is no such order.')
    const { order } = whole
    const same = whole.refunds.find((one) => one.attempt === ask.attempt)
    if (same !== undefined) return same
    const amount = ask.amountKopecks ?? counted.amountKopecks
    const rest = order.price - backOf(whole).promised
    if (order.lot === null || order.paymentId === null || order.state === 'disputed') {
      throw refused('not_credited')
    }
    if (amount <= 0n || amount > counted.amountKopecks || amount > rest) throw exceeds(order)
    const credits =
      amount === counted.amountKopecks ? counted.credits : creditsOf(order, amount, backOf(whole))
    const refund = await make(tx, {
      order,
      paymentId: order.paymentId,
      amount,
      credits,
      attempt: ask.attempt,
      by: ask.by,
      reason: ask.reason,
      review: null,
    })
    await settleState(tx, { ...whole, refunds: [...whole.refunds, refund] })
    const { book, lot } = order
    await ledger.refund(tx, { book, lot, ref: refund.id, amount: credits, note: ask.reason })
    return refund
  }

  async function make(
    tx: Tx,
    p: {
      readonly order: Order
      readonly paymentId: string
      readonly amount: Kopecks
      readonly credits: Credits
      readonly attempt: string
      readonly by: string
      readonly reason: string
      readonly review: bigint | null
    },
  ): Promise<Refund> {
    const id = newRefundId(options.cell, options.clock.nowMs())
    const requestBody = providerOf(p.order.provider).draftRefund({
      refund: id,
      paymentId: p.paymentId,
      amount: p.amount,
      title: p.order.packTitle,
      email: p.order.email,
      reason: p.reason,
      receipt: p.order.receipt,
    })
    // Else the card would be charged for what its owner has just got back.
    await options.topUpEndings.ended(tx, p.order.book, 'refunded')
    return refundInsert(tx, {
      id,
      order: p.order.id,
      provider: p.order.provider,
      paymentId: p.paymentId,
      attempt: p.attempt,
      amount: p.amount,
      credits: p.credits,
      review: p.review,
      askedBy: p.by,
      reason: p.reason.slice(0, 250),
      requestBody,
      dueSeconds: POST_SECONDS,
    })
  }

  /** Asks the provider for a refund that is stored; the same bytes each time. */
  async function post(refund: Refund): Promise<void> {
    if (refund.requestBody === null) return
    const answer = await providerOf(refund.provider).createRefund(refund.id, refund.requestBody)
    if (answer.kind === 'ok') {
      await apply.applyRefund(answer.value, refund.order)
    } else if (isNo(answer) && (refund.looks === 0 || !isOurs(answer))) {
      log.error({ refund: refund.id, why: whyOf(answer) }, 'the provider refused a refund')
      await apply.release(refund, whyOf(answer))
    } else {
      log.warn({ refund: refund.id, why: whyOf(answer) }, 'the outcome of a refund is unknown')
      await refundSetDue(db, refund.id, repeatSeconds(refund.looks + 1))
    }
  }

  /** Its key is too old to repeat: it is among the payment's refunds, or it never was. */
  async function find(refund: Refund): Promise<void> {
    const found = await listAll(providerOf(refund.provider), { paymentId: refund.paymentId })
    if (found === undefined) return refundSetDue(db, refund.id, repeatSeconds(refund.looks))
    const same = found.find((one) => one.refundRef === refund.id)
    if (same === undefined) await apply.release(refund, 'it never reached the provider')
    else await apply.applyRefund(same, refund.order)
  }

  async function look(refund: Refund & { readonly ageSeconds: number }): Promise<void> {
    const provider = providerOf(refund.provider)
    if (refund.state === 'created') {
      const isYoung = refund.ageSeconds < provider.capabilities().keySeconds
      return isYoung ? post(refund) : find(refund)
    }
    const answer = await provider.fetchRefund(refund.refundId ?? '')
    if (answer.kind === 'ok') await apply.applyRefund(answer.value, refund.order)
    else log.warn({ refund: refund.id, why: whyOf(answer) }, 'a refund could not be read')
    const isOpen = answer.kind !== 'ok' || answer.value.status === 'pending'
    if (isOpen) await refundSetDue(db, refund.id, refundLookSeconds(refund.looks))
  }

  /** Every page; undefined when one could not be read. */
  async function listAll(
    provider: Provider,
    of: { readonly paymentId: string } | { readonly since: Date },
  ): Promise<RefundSnapshot[] | undefined> {
    const found: RefundSnapshot[] = []
    let cursor: string | null = null
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page: Answer<Page<RefundSnapshot>> = await provider.listRefunds(of, cursor)
      if (page.kind !== 'ok') return undefined
      found.push(...page.value.items)
      cursor = page.value.next
      if (cursor === null) return found
    }
    return undefined
  }

  return {
    /** What the owner could get back now. */
    async refundable(id: OrderId, book?: BookId): Promise<Refundable> {
      return count(await read(id, book), book !== undefined)
    },

    /**
     * Sets credits aside and asks the provider. May be repeated by its attempt. Refuses:
     * order_unknown, refund_refused, refund_exceeds_unspent, payment_unavailable.
     */
    async request(ask: RefundAsk): Promise<Refund> {
      for (let counts = 1; ; counts++) {
        const whole = await read(ask.order, ask.book)
        const same = whole.refunds.find((one) => one.attempt === ask.attempt)
        if (same !== undefined) return same
        const counted = await count(whole, ask.book !== undefined)
        if (counted.why !== null) throw refused(counted.why)
        try {
          const refund = await db.transaction((tx) => insert(tx, ask, counted))
          if (refund.state === 'created') await post(refund)
          return (
            (await refundListByOrder(db, ask.order)).find(({ id }) => id === refund.id) ?? refund
          )
        } catch (error) {
          const isMoved = isRefusal(error, 'refund_exceeds_unspent')
          if (!isMoved || ask.amountKopecks !== undefined || counts >= COUNTS_MAX) throw error
        }
      }
    },

    make,
    post,

    list: (book: BookId): Promise<Refund[]> => refundListByBook(db, book, 200),

    /** The job: refunds that are due are posted again, or asked about. */
    async poll(): Promise<void> {
      const claim = () => refundClaimDue(db, LEASE_SECONDS)
      await oneByOne(ROUND_MAX, claim, (refund) =>
        look(refund).catch((error: unknown) =>
          log.error({ refund: refund.id, err: error }, 'a refund could not be looked at'),
        ),
      )
    },

    /** Reads all refunds of one payment and applies each; false when they could not be read. */
    async sync(provider: Provider, paymentId: string): Promise<boolean> {
      const found = await listAll(provider, { paymentId })
      for (const one of found ?? []) await apply.applyRefund(one)
      return found !== undefined
    },

    /** Payments of ours with a refund of the last days that we do not know: its notice was lost. */
    async strange(provider: Provider, days: number): Promise<string[]> {
      const since = dateAt(options.clock.nowMs() - days * 86_400_000)
      const payments = new Set<string>()
      for (const one of (await listAll(provider, { since })) ?? []) {
        if (await refundIsKnown(db, one.provider, one.refundId)) continue
        const order = await queries.orderFindByPayment(db, { ...one, orderRef: null })
        if (order !== undefined) payments.add(one.paymentId)
      }
      return [...payments]
    },
  }
}

export type Refunds = ReturnType<typeof createRefunds>

const CLOSED = 'Payments are not available right now.'

function refused(why: NonNullable<Refundable['why']>): Refusal {
  const sentences = {
    not_credited: 'This order has nothing to give back.',
    disputed: 'This payment is disputed at the bank; it cannot be refunded as well.',
    policy: 'This pack cannot be given back by the refund rules.',
    spent: 'Everything of this pack was spent.',
  }
  return new Refusal('refund_refused', sentences[why], { why })
}

function exceeds(order: Order): Refusal {
  return new Refusal('refund_exceeds_unspent', 'More than the unspent part of the pack.', {
    order: order.id,
  })
}

function smaller(a: bigint, b: bigint): Credits {
  return (a < b ? a : b) as Credits
}

function isNo(answer: Answer<unknown>): boolean {
  return answer.kind === 'rejected' || answer.kind === 'absent'
}

function isOurs(answer: Answer<unknown>): boolean {
  return answer.kind === 'rejected' && answer.isOurs
}
