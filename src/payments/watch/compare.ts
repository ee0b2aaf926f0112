// Compares the provider's payments with our orders: those of the sweep's window at each sweep; for
// a period or a whole day reconcile.ts uses the same comparison. Every settled payment has an order
// credited with that amount, every credited order is in the provider's list, refunded amounts are
// equal.
import { createHash } from 'node:crypto'
import { dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { Answer, Provider, Snapshot, Unreadable } from '../port.ts'
import { type Findings, type Found, paymentRules } from './findings.ts'
import { type ComparedOrder, orderListCreditedOfShop, orderListOfPayments } from './queries.ts'

export type Mismatch = {
  readonly provider: string
  readonly paymentId: string
  readonly order: OrderId | null
  /** The order that the payment names. */
  readonly orderRef: string | null
  readonly what:
    | 'order_unknown'
    | 'not_credited'
    | 'paid_twice'
    | 'amount'
    | 'refunded'
    | 'payment_missing'
    | 'unreadable'
  readonly detail: string
  /** An operator has it already, as a review. */
  readonly isReviewed: boolean
}

export type CompareOptions = {
  readonly db: Db
  readonly findings: Findings
  readonly providers: { isEarliest(provider: Provider): boolean }
}

/** Of an item whose id cannot be read, so that nothing can be fetched. */
export const WITHOUT_ID = 'without an id: '
/** The list may show a payment this much later than a fetch does. */
const LIST_LAG_MS = 60_000
/** Calls that one sweep spends on payments which the list does not show. */
const FETCHES_MAX = 3
/** More payments than a window has; about 100 bytes each. */
const FETCHED_MAX = 10_000

export function createCompare(options: CompareOptions) {
  const { db, findings, providers } = options
  /** Payments that a fetch has told about: the next sweep spends its calls on others. */
  const fetched = new Set<string>()

  return {
    /** A finding for each payment or refund of a list that could not be read. */
    reportUnreadable(
      provider: Provider,
      rule: 'payment_unreadable' | 'refund_unreadable',
      unreadable: readonly Unreadable[],
    ): Promise<void> {
      return findings.open(
        unreadable.map(({ id, text, why }) => ({
          rule,
          subject: id ?? `${WITHOUT_ID}${createHash('sha256').update(text).digest('hex')}`,
          detail: why,
          provider,
        })),
      )
    },

    /**
     * The payments of a page whose order is not credited, or which differ from it. Sweeps read each
     * payment a dozen times; one statement for a page instead of one for each keeps them short.
     */
    async changedOf(provider: Provider, payments: readonly Snapshot[]): Promise<Snapshot[]> {
      const { orders } = await orderListOfPayments(db, provider.name, payments)
      return payments.filter((snapshot) => {
        const order = orders.get(snapshot.paymentId)
        const isSame =
          snapshot.orderRef === order?.id &&
          snapshot.shopRef === provider.shopRef &&
          snapshot.currency === 'RUB' &&
          (snapshot.receipt === null || snapshot.receipt === order.receiptState)
        return !isSame || mismatchOf(snapshot, order) !== undefined
      })
    },

    /**
     * Opens and closes findings about these payments, of which `changed` differed before they were
     * applied.
     */
    async compareSettled(
      provider: Provider,
      payments: readonly Snapshot[],
      changed: readonly Snapshot[],
    ): Promise<void> {
      if (payments.length === 0) return
      const found = (await mismatchesOf(db, provider, changed)).flatMap((one) =>
        foundOf(one, provider),
      )
      const ids = payments.map(({ paymentId }) => paymentId)
      await findings.clear(paymentRules, ids, found)
      await findings.open(found)
    },

    /**
     * Orders that were credited before the sweep began, for a payment that its list does not show.
     * A fetch tells whether the payment is gone, whether it was captured before the window, or
     * whether the list is incomplete, which makes the sweep blind.
     */
    async compareCredited(
      provider: Provider,
      sweep: { readonly from: Date; readonly began: Date; readonly ids: ReadonlySet<string> },
    ): Promise<void> {
      const before = dateAt(sweep.began.getTime() - LIST_LAG_MS)
      if (before <= sweep.from) return
      const own = await orderListCreditedOfShop(db, {
        ...{ provider: provider.name, shop: provider.shopRef, from: sweep.from, to: before },
        isEarliest: providers.isEarliest(provider),
      })
      const absent = own.filter(({ paymentId: id }) => !sweep.ids.has(id) && !fetched.has(id))
      if (fetched.size > FETCHED_MAX) fetched.clear()
      for (const { id, paymentId } of absent.slice(0, FETCHES_MAX)) {
        const answer = await provider.fetchPayment(paymentId)
        if (isListed(answer, sweep.from)) {
          const detail = `the list does not show ${paymentId} of ${id}, but a fetch does`
          await findings.report('list_incomplete', provider, paymentId, detail)
          continue
        }
        if (isMissing(answer)) {
          const detail = `${id} is credited; ${statusOf(answer)} there`
          await findings.open([{ rule: 'payment_missing', subject: paymentId, detail, provider }])
        }
        if (answer.kind === 'ok' || isMissing(answer)) fetched.add(paymentId)
      }
    },
  }
}

export type Compare = ReturnType<typeof createCompare>

/** What differs between these settled payments and our orders. Reads only. */
export async function mismatchesOf(
  db: Db,
  provider: Provider,
  payments: readonly Snapshot[],
): Promise<Mismatch[]> {
  if (payments.length === 0) return []
  const { orders, reviewed } = await orderListOfPayments(db, provider.name, payments)
  return payments.flatMap((snapshot) => {
    const found = mismatchOf(snapshot, orders.get(snapshot.paymentId))
    return found === undefined ? [] : [{ ...found, isReviewed: reviewed.has(snapshot.paymentId) }]
  })
}

/** A mismatch as a finding; none if an operator has it, or if it is another site's payment. */
export function foundOf(mismatch: Mismatch, provider: Provider): Found[] {
  const { what, isReviewed, paymentId: subject, detail } = mismatch
  if (isReviewed || what === 'order_unknown') return []
  const rule = what === 'payment_missing' ? what : (`payment_${what}` as const)
  return [{ rule, subject, detail, provider }]
}

/** Whether a fetched payment belongs into a list that begins at `from`. */
function isListed(answer: Answer<Snapshot>, from: Date): boolean {
  if (answer.kind !== 'ok' || answer.value.status !== 'succeeded') return false
  const { capturedAt } = answer.value
  return capturedAt === null || capturedAt >= from
}

/** The provider has answered, and the payment is not paid there: absent, or no id of theirs. */
export function isMissing(answer: Answer<Snapshot>): boolean {
  if (answer.kind === 'ok') return answer.value.status !== 'succeeded'
  return answer.kind === 'absent' || (answer.kind === 'rejected' && !answer.isOurFault)
}

export const statusOf = (answer: Answer<Snapshot>): string =>
  answer.kind === 'ok' ? answer.value.status : 'unknown'

function mismatchOf(
  snapshot: Snapshot,
  order: ComparedOrder | undefined,
): Omit<Mismatch, 'isReviewed'> | undefined {
  const { provider, paymentId, orderRef } = snapshot
  const differs = (what: Mismatch['what'], detail: string) => ({
    ...{ provider, paymentId, order: order?.id ?? null, orderRef, what, detail },
  })
  const paid = `${snapshot.amountText} ${snapshot.currency}`
  if (order === undefined) return differs('order_unknown', `${paid} paid; no such order here`)
  if (!order.isCredited) return differs('not_credited', `${paid} paid; ${order.state} here`)
  if (order.paymentId !== paymentId) {
    return differs('paid_twice', `${paid} paid; the order was credited for ${order.paymentId}`)
  }
  if (snapshot.amount !== order.price) {
    return differs('amount', `${paid} paid; sold for ${rublesText(order.price)} RUB`)
  }
  if (snapshot.status !== 'succeeded') {
    return differs('payment_missing', `${order.state} here; ${snapshot.status} there`)
  }
  const back = snapshot.refunded
  if (back === order.refunded) return undefined
  const there = back === null ? 'an unreadable sum' : `${rublesText(back)} RUB`
  return differs('refunded', `${there} went back there, ${rublesText(order.refunded)} RUB here`)
}
