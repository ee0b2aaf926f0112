// When used credits become receipts of completion. A pack is completed when nothing of it is left
// to use; with `monthly` also after the end of each month, with what was used until then. Amounts
// follow the value of lots, so that they tie with the accountant's month, and are counted from the
// total: the parts of a pack add up to its price less what was returned.
import type { Ledger, StatedLot } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { newReceiptId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { lotValue } from '../../units/lot-value.ts'
import { LEASE_SECONDS, processDue } from '../order/claims.ts'
import { ERASED_EMAIL, type Order } from '../order/order.ts'
import { orderFind } from '../order/queries.ts'
import type { ReceiptDraft } from '../port.ts'
import { type Providers, providerOf } from '../providers.ts'
import { lockPurchase, type Purchase } from '../refunds/purchase.ts'
import * as queries from './queries.ts'

export type CompletingOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'totals'>
  readonly providers: Providers
  readonly clock: Clock
  readonly log: Log
  readonly cell: number
  /** Where months begin, as in reports. */
  readonly timeZone: string
}

type Seen = {
  readonly months: { readonly now: Date; readonly monthStart: Date }
  readonly lots: { readonly atMonth: StatedLot | undefined; readonly now: StatedLot }
  readonly posting: bigint
}

export const ERASED = 'the address of the payer was erased'
/** The provider takes 30 receipts of a payment: 27 months, prepayment, end, and one spare. */
const MONTHS_MAX = 27
/** A month is counted an hour after its end, as it is sealed: no transaction takes so long. */
const GRACE_SECONDS = 3_600
/** At 100,000 packs in use 28 a second. A pack that was used up is found earlier, see below. */
const CHECK_SECONDS = 3_600
/** While a refund or a dispute is open it is not known what stays sold. */
const OPEN_CHECK_SECONDS = 600
/** Orders per run of the loop; the next run takes the rest. */
const ROUND_MAX = 200
/** About 10 ms of reading; 100,000 packs in use take a second of each minute. */
const PAGE_PACKS = 1_000

export function createCompleting(options: CompletingOptions) {
  const { db, ledger, log } = options

  async function insert(
    tx: Tx,
    order: Order,
    p: {
      readonly amount: Kopecks
      readonly credits: bigint
      readonly from: Date
      readonly until: Date
    },
  ): Promise<void> {
    const isErased = order.email === ERASED_EMAIL
    const draft = draftOf(order, { kind: 'completion', amount: p.amount, completed: NONE })
    await queries.completionInsert(tx, {
      id: newReceiptId(options.cell, options.clock.nowMs()),
      order: order.id,
      ...p,
      credits: (p.credits > 0n ? p.credits : 0n) as Credits,
      requestBody: isErased ? null : providerOf(options.providers, order).draftReceipt(draft),
      error: isErased ? ERASED : null,
    })
  }

  /**
   * What the lot had at the end of the month and has now. In one snapshot: a request that ends
   * between two reads would move what was used from one month to another.
   */
  function readLot(check: queries.Check): Promise<Seen> {
    return db.snapshot(async (tx) => {
      const order = await orderFind(tx, check.order)
      if (order === undefined) throw new Error(`order ${check.order} is gone`)
      const months = await queries.monthsRead(tx, options.timeZone, GRACE_SECONDS)
      const lots = await lotsOf(tx, order, months.monthStart)
      return { months, lots, posting: await ledger.totals.lastPosting(tx, order.book) }
    })
  }

  /** Under the order's lock, which refunds, disputes and other completions of it take too. */
  async function completeLocked(tx: Tx, check: queries.Check, seen: Seen): Promise<void> {
    const purchase = await lockPurchase(tx, check.order)
    if (purchase === undefined) throw new Error(`order ${check.order} is gone`)
    const { order } = purchase
    const { months, lots } = seen
    // What was refunded since the snapshot must not be completed: looked at again in a minute.
    if ((await ledger.totals.lastPosting(tx, order.book)) !== seen.posting) return
    const known = (await queries.receiptList(tx, [order.id])).filter(
      ({ kind }) => kind === 'completion',
    )
    const done = { kopecks: sum(known, 'amount'), credits: sum(known, 'credits') }
    let rest = await queries.uncompletedRead(tx, order.id)
    let from = lastEnd(known, check.until)
    if (isMonthly(order) && from < months.monthStart && known.length < MONTHS_MAX) {
      const { amount, credits } = completionUntil(order, lots.atMonth, done, rest)
      const until = months.monthStart
      if (amount > 0n) {
        await insert(tx, order, { amount, credits: credits - done.credits, from, until })
        rest = (rest - amount) as Kopecks
        done.credits = credits
      }
      from = until
    }
    const isOpen = hasOpenReturn(purchase)
    if (isOpen || lots.now.left > 0n) {
      const seconds = isOpen ? OPEN_CHECK_SECONDS : CHECK_SECONDS
      return queries.checkSet(tx, order.id, { seconds, until: from })
    }
    if (rest > 0n) {
      const credits = order.credits - lots.now.refunded - lots.now.disputed - done.credits
      await insert(tx, order, { amount: rest, credits, from, until: months.now })
    }
    await queries.checkSet(tx, order.id, { seconds: null, until: months.now })
  }

  async function lotsOf(tx: Tx, order: Order, monthStart: Date) {
    const book = await ledger.totals.movement(tx, order.book, monthStart)
    const find = (all: readonly StatedLot[] = []) => all.find(({ seq }) => seq === order.lot)
    const now = find(book?.to.lots)
    if (now === undefined) throw new Error(`the lot of order ${order.id} is gone`)
    return { atMonth: find(book?.from.lots), now }
  }

  async function completeOne(check: queries.Check): Promise<void> {
    const seen = await readLot(check)
    await db.transaction((tx) => completeLocked(tx, check, seen))
  }

  return {
    /** The job of each minute: packs that were used up are looked at now, not within the hour. */
    async findUsedUp(): Promise<void> {
      let after = ''
      for (;;) {
        const packs = await queries.packsInUse(db, { after, limit: PAGE_PACKS })
        const last = packs.at(-1)
        if (last === undefined) return
        const usedUp = await ledger.totals.usedUp(db, packs)
        const orders = packs.filter((one) => usedUp.has(`${one.book} ${one.lot}`))
        await queries.checkNow(
          db,
          orders.map(({ order }) => order),
        )
        after = last.order
      }
    },

    /** The job: completes what is due. Idempotent, and may run in several processes. */
    async complete(): Promise<void> {
      const claim = () => queries.checkClaimDue(db, LEASE_SECONDS)
      await processDue(ROUND_MAX, claim, (check) =>
        completeOne(check).catch((error: unknown) =>
          log.error({ order: check.order, err: error }, 'an order could not be completed'),
        ),
      )
    },
  }
}

const NONE = 0n as Kopecks

/** What a receipt of this order says, for the provider's adapter. */
export function draftOf(
  order: Order,
  p: Pick<ReceiptDraft, 'kind' | 'amount' | 'completed'> & { readonly refundId?: string | null },
): ReceiptDraft {
  const { paymentId, email, packTitle: title, receipt: settings, id } = order
  if (paymentId === null || settings === null) throw new Error(`order ${id} has no receipts`)
  return { refundId: null, ...p, paymentId, email, title, settings }
}

/** What is to be completed of a lot as it was at a moment, after what was completed before. */
function completionUntil(
  order: Pick<Order, 'price' | 'credits'>,
  lot: StatedLot | undefined,
  done: { readonly kopecks: bigint },
  rest: Kopecks,
): { readonly amount: Kopecks; readonly credits: bigint } {
  if (lot === undefined) return { amount: NONE, credits: 0n }
  const { revenue, adjusted } = lotValue(order, lot)
  const due = revenue + adjusted - done.kopecks
  // Use may move to an older pack, when a refund of that was canceled: then nothing is due here.
  const amount = due < rest ? due : rest
  return { amount: (amount > 0n ? amount : 0n) as Kopecks, credits: lot.used + lot.adjusted }
}

function hasOpenReturn({ refunds, disputes }: Purchase): boolean {
  return (
    refunds.some(({ state }) => state === 'created' || state === 'pending') ||
    disputes.some(({ state }) => state === 'opened')
  )
}

const isMonthly = ({ receipt }: Order) => receipt?.completions === 'monthly'

function lastEnd(known: readonly queries.Receipt[], until: Date): Date {
  const ends = known.flatMap(({ periodUntil }) => periodUntil ?? [])
  return ends.reduce((last, end) => (end > last ? end : last), until)
}

function sum(all: readonly queries.Receipt[], of: 'amount' | 'credits'): bigint {
  return all.reduce((total, one) => total + one[of], 0n)
}
