// Brings each receipt to its end: posts its stored bytes with one key until the outcome is known,
// reads what the provider sent with the payment or refund, and posts again, as another attempt,
// what the tax service did not register. Before another attempt the provider's list is searched, so
// that a receipt which somebody made in the merchant portal is not made twice.
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import type { PaymentMetrics } from '../metrics.ts'
import { LEASE_SECONDS, processDue } from '../order/claims.ts'
import { ERASED_EMAIL, type Order } from '../order/order.ts'
import { orderFind, orderSetReceipt } from '../order/queries.ts'
import { retryDelaySeconds } from '../order/schedule.ts'
import { type Answer, type Page, type Provider, type ReceiptSnapshot, whyOf } from '../port.ts'
import { type Providers, providerOf } from '../providers.ts'
import { type Refund, refundListByOrder } from '../refunds/queries.ts'
import { draftOf, ERASED } from './completing.ts'
import type { DueReceipt, Receipt } from './queries.ts'
import * as queries from './queries.ts'

export type ReceiptPostingOptions = {
  readonly db: Db
  readonly providers: Providers
  readonly metrics: Pick<PaymentMetrics, 'countReceiptFailure'>
  readonly log: Log
}

/** Receipts per run of the loop; the next run takes the rest. */
const ROUND_MAX = 200
/** A payment has at most 30 receipts. */
const PAGES_MAX = 5
const MINUTE = 60
const HOUR = 3_600
const DAY = 24 * HOUR
/** Registration usually takes seconds; then the tax service or the cash register has a problem. */
const READ_PAUSES = [10, 30, MINUTE, MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE]
/** Pauses before another attempt: what a person must correct first takes a day. */
const AGAIN_PAUSES = [10 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR]
/** Five in the first day, then one daily for five days. Afterwards a person decides. */
const ATTEMPTS_MAX = 10
/** A receipt of a payment or refund that is not in the provider's list by then was not made. */
const ABSENT_SECONDS = DAY

/** The clock of a cash register and ours never differ by more. */
const CLOCKS_APART_MS = HOUR * 1_000

type Known = { readonly receipt: DueReceipt; readonly order: Order; readonly provider: Provider }

export function createReceiptPosting(options: ReceiptPostingOptions) {
  const { db, log } = options

  async function fail(
    { receipt, order }: Pick<Known, 'order'> & { readonly receipt: Receipt },
    why: string,
    isFinal = false,
  ): Promise<void> {
    const { attempt, kind } = receipt
    const again = AGAIN_PAUSES[attempt - 1] ?? DAY
    const seconds = isFinal || attempt >= ATTEMPTS_MAX ? null : again
    if (!(await queries.receiptSetFailed(db, receipt, { why, seconds }))) return
    // The payment reports the same failure: it is counted once, by the read that comes first.
    const isNews = kind !== 'prepayment' || (await orderSetReceipt(db, order.id, 'canceled'))
    if (isNews) options.metrics.countReceiptFailure()
    const fields = { receipt: receipt.id, kind, order: order.id, why }
    log.error(fields, 'a tax receipt was not registered')
  }

  async function apply(
    known: Pick<Known, 'order'> & { readonly receipt: Receipt },
    snapshot: ReceiptSnapshot,
  ): Promise<void> {
    const { receipt, order } = known
    const { receiptId, fiscal, status } = snapshot
    if (status === 'canceled') return fail(known, `the provider canceled ${receiptId}`)
    if (status === 'succeeded' && fiscal !== null) {
      // Not before: what the tax service refuses is made again, and then it says the right thing.
      const wrong = differenceOf(receipt, order, snapshot)
      if (wrong !== null) return fail(known, wrong, true)
      const isNew = await queries.receiptSetRegistered(db, receipt, { receiptId, fiscal })
      if (isNew && receipt.kind === 'prepayment') await orderSetReceipt(db, order.id, 'succeeded')
      return
    }
    const seconds = READ_PAUSES[receipt.tries - 1] ?? HOUR
    await queries.receiptSetPending(db, receipt, { receiptId, seconds })
  }

  async function post({ receipt, order, provider }: Known & { receipt: Receipt }): Promise<void> {
    const { id, attempt, requestBody } = receipt
    if (requestBody === null) return
    const key = attempt === 1 ? id : (`${id}.${attempt}` as const)
    const answer = await provider.createReceipt(key, requestBody)
    if (answer.kind === 'ok') return apply({ receipt, order }, answer.value)
    const isRefused = answer.kind === 'absent' || (answer.kind === 'rejected' && !answer.isOurFault)
    if (isRefused) return fail({ receipt, order }, whyOf(answer))
    log.warn({ receipt: id, why: whyOf(answer) }, 'the outcome of a receipt is unknown')
    await queries.receiptSetDue(db, receipt, retryDelaySeconds(receipt.tries))
  }

  /** The provider's receipts of the payment or refund; undefined when the list is not whole. */
  async function listAll(known: Known): Promise<ReceiptSnapshot[] | undefined> {
    const { receipt, order, provider } = known
    const refund = await refundOf(receipt)
    const refundId = refund?.refundId
    if (receipt.kind === 'return' && !refundId) return undefined
    const of = refundId ? { refundId } : { paymentId: order.paymentId ?? '' }
    const items: ReceiptSnapshot[] = []
    let cursor: string | null = null
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page: Answer<Page<ReceiptSnapshot>> = await provider.listReceipts(of, cursor)
      if (page.kind !== 'ok' || page.value.unreadable.length > 0) {
        log.warn({ receipt: receipt.id, why: whyOf(page) }, 'receipts could not be read')
        return undefined
      }
      items.push(...page.value.items)
      cursor = page.value.next
      if (cursor === null) return items
    }
    return undefined
  }

  /**
   * The provider's receipt that is this one: of the same kind, of the same amount unless the
   * provider made it for a refund, and not of an earlier period. `isWhole`: it is certain if there
   * is none.
   */
  async function search(
    known: Known,
  ): Promise<{ readonly found: ReceiptSnapshot | undefined; readonly isWhole: boolean }> {
    const listed = await listAll(known)
    if (listed === undefined) return { found: undefined, isWhole: false }
    const { kind, amount } = known.receipt
    const same = listed.filter(
      (one) =>
        (one.type === 'refund') === (kind === 'return') &&
        one.isOfPrepayment === (kind === 'completion') &&
        (kind === 'return' || one.amount === amount) &&
        !isOfEarlierPeriod(known.receipt, one),
    )
    const taken = await queries.receiptsKnown(
      db,
      same.map(({ receiptId }) => receiptId),
    )
    const free = same.filter(({ receiptId }) => !taken.has(receiptId))
    const best = ['succeeded', 'pending', 'canceled']
      .flatMap((status) => free.filter((one) => one.status === status))
      .at(0)
    return { found: best, isWhole: true }
  }

  async function refundOf({ refund, order }: Receipt): Promise<Refund | undefined> {
    if (refund === null) return undefined
    return (await refundListByOrder(db, order)).find(({ id }) => id === refund)
  }

  /** It was sent with its payment or refund, and its own id is not known yet. */
  async function findSent(known: Known): Promise<void> {
    const { receipt } = known
    const { found, isWhole } = await search(known)
    if (found !== undefined) return apply(known, found)
    if (isWhole && receipt.ageSeconds > ABSENT_SECONDS) {
      // Staff decide in the merchant portal whether a refund there gets a receipt.
      const isOfPortal = (await refundOf(receipt))?.askedBy === 'provider'
      return fail(known, 'the provider has no such receipt', isOfPortal)
    }
    await queries.receiptSetDue(db, receipt, READ_PAUSES[receipt.tries - 1] ?? HOUR)
  }

  /** A key that is too old to post again, or an attempt that failed. */
  async function tryAgain(known: Known): Promise<void> {
    const { receipt, order, provider } = known
    const { found, isWhole } = await search(known)
    if (found !== undefined && found.status !== 'canceled') return apply(known, found)
    if (!isWhole) return queries.receiptSetDue(db, receipt, retryDelaySeconds(receipt.tries))
    if (order.email === ERASED_EMAIL) return fail(known, ERASED, true)
    const { kind, amount, completed } = receipt
    const refundId = (await refundOf(receipt))?.refundId ?? null
    const body = provider.draftReceipt(draftOf(order, { kind, amount, completed, refundId }))
    const again = await queries.receiptAttemptAgain(db, receipt, body)
    if (again !== undefined) await post({ ...known, receipt: { ...receipt, ...again } })
  }

  async function process(receipt: DueReceipt): Promise<void> {
    const order = await orderFind(db, receipt.order)
    if (order === undefined) throw new Error(`order ${receipt.order} is gone`)
    const provider = providerOf(options.providers, order)
    const known = { receipt, order, provider }
    if (receipt.state === 'created') {
      const isYoung = receipt.attemptSeconds < provider.capabilities().idempotencyKeySeconds
      return isYoung ? post(known) : tryAgain(known)
    }
    if (receipt.state === 'failed') return tryAgain(known)
    if (receipt.receiptId === null) return findSent(known)
    const answer = await provider.fetchReceipt(receipt.receiptId)
    if (answer.kind === 'ok') return apply(known, answer.value)
    log.warn({ receipt: receipt.id, why: whyOf(answer) }, 'a receipt could not be read')
    await queries.receiptSetDue(db, receipt, READ_PAUSES[receipt.tries - 1] ?? HOUR)
  }

  return {
    /** The job: posts, reads and repeats what is due. Idempotent, also in several processes. */
    async poll(): Promise<void> {
      const claim = () => queries.receiptClaimDue(db, LEASE_SECONDS)
      await processDue(ROUND_MAX, claim, (receipt) =>
        process(receipt).catch((error: unknown) =>
          log.error({ receipt: receipt.id, err: error }, 'a receipt could not be processed'),
        ),
      )
    },
  }
}

/** Somebody made it for a month before, whose receipt had failed and was dismissed. */
function isOfEarlierPeriod({ periodUntil }: Receipt, { fiscal }: ReceiptSnapshot): boolean {
  if (periodUntil === null || fiscal === null) return false
  return fiscal.registeredAt.getTime() < periodUntil.getTime() - CLOCKS_APART_MS
}

/**
 * What the provider registered for a refund in the merchant portal may not be what the law wants:
 * it returns a prepayment also of credits that were completed. The accountant corrects it.
 */
function differenceOf(
  receipt: Receipt,
  order: Order,
  { amount, fullPayment, receiptId }: ReceiptSnapshot,
): string | null {
  if (amount !== receipt.amount) {
    return `${receiptId} is of ${amount} kopecks instead of ${receipt.amount}`
  }
  if (receipt.kind !== 'return' || order.receipt?.mode !== 'full_prepayment') return null
  if (fullPayment === receipt.completed) return null
  return `${receiptId} returns ${fullPayment} kopecks as completed instead of ${receipt.completed}`
}
