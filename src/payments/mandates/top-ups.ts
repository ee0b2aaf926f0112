// Top-ups: when a balance falls below its owner's threshold, the agreed pack is bought with the
// saved method. One order per crossing, never above the ceilings of the day and the month. If the
// owner wants an e-mail before each charge, the order waits for two hours. From then on it is an
// ordinary order.
import type { Ledger } from '../../ledger/ledger.ts'
import { dateAt } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Brand, Mailer } from '../order/emails.ts'
import type { Order, OrderInput } from '../order/order.ts'
import { topUpEmail } from './emails.ts'
import { addressOf, type TopUpEndingOptions, type TopUpEndings } from './endings.ts'
import { topUpAnnounce, topUpScheduleUnpolled, topUpSum } from './order-queries.ts'
import * as queries from './queries.ts'
import { isSoldFor, needsTopUp, type SendingOptions } from './sending.ts'

export type TopUpOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'balance' | 'balances'>
  readonly mail: Mailer
  readonly brand: Brand
  readonly log: Log
  readonly orders: TopUpOrders
  readonly topUpEndings: Pick<TopUpEndings, 'end' | 'endWithEmail'>
} & Pick<TopUpEndingOptions, 'ownerOf'> &
  Pick<SendingOptions, 'hasTopUps' | 'isOpen' | 'packOf'>

/** What top-ups need of orders, declared here because orders import the endings of top-ups. */
type TopUpOrders = {
  placeTopUp(tx: Tx, input: OrderInput, provider: string): Promise<Order>
  post(order: Order): Promise<void>
}

/**
 * From the e-mail that announces a charge to the charge. The form suggests a tenth of the pack as
 * threshold, which is about an evening of work, some four hours. Half of that leaves the owner time
 * to stop the charge, and credits to work with until it is made.
 */
export const ADVANCE_NOTICE_SECONDS = 2 * 3_600
/** How many balances the ledger reads at once. */
const PAGE = 256

export function createTopUps(options: TopUpOptions) {
  const { db, ledger, mail, brand, log, orders, topUpEndings } = options

  /** Buys for every book below its threshold; returns the number of orders. */
  async function run(): Promise<number> {
    if (!options.hasTopUps || !options.isOpen) return 0
    await topUpScheduleUnpolled(db)
    let bought = 0
    let last = 0n as BookId
    for (;;) {
      const page = await queries.mandateListLiving(db, last, PAGE)
      const balances = await ledger.balances(page.map(({ book }) => book))
      for (const { id, available, held } of balances) {
        const mandate = page.find(({ book }) => book === id)
        if (mandate === undefined) continue
        const isUnusable = mandate.credits === null || !mandate.hasCard
        if (!isUnusable && available + held >= mandate.threshold) continue
        if (await buyFor(id)) bought += 1
      }
      if (page.length < PAGE) return bought
      last = page.at(-1)?.book ?? last
    }
  }

  /** Catches errors, so that one book's failure does not affect the others. */
  async function buyFor(book: BookId): Promise<boolean> {
    try {
      const owner = await options.ownerOf(book)
      if (owner === undefined) {
        await db.transaction((tx) => topUpEndings.end(tx, book, 'closed'))
        return false
      }
      const placed = await db.transaction((tx) => place(tx, book, addressOf(owner)))
      if (placed !== undefined && !placed.isAnnounced) await orders.post(placed.order)
      return placed !== undefined
    } catch (error) {
      log.error({ book, err: error }, 'a top-up could not be bought')
      return false
    }
  }

  type To = ReturnType<typeof addressOf>

  /**
   * Decides again under the mandate's lock: a worker that bought just before has committed an open
   * order or the credit, and this transaction sees either.
   */
  async function place(tx: Tx, book: BookId, to: To) {
    const mandate = await queries.mandateLockLiving(tx, book)
    if (mandate === undefined) return undefined
    if (mandate.credits === null) {
      return void (await topUpEndings.endWithEmail(tx, book, 'consent_incomplete'))
    }
    const kept = await queries.savedMethodFind(tx, book)
    if (!mandate.hasCard || kept === undefined) {
      return void (await topUpEndings.endWithEmail(tx, book, 'card_replaced'))
    }
    const sums = await topUpSum(tx, book)
    if (sums.hasOpen || !needsTopUp(await ledger.balance(book, tx), mandate)) return undefined
    const pack = options.packOf(mandate.packId)
    if (!isSoldFor(pack, mandate)) {
      return void (await topUpEndings.endWithEmail(tx, book, 'pack_changed'))
    }
    const full = fullPeriod(mandate, sums)
    if (full !== undefined) {
      const content = { kind: 'top-up-ceiling', facts: full } as const
      const once = `mandate ${mandate.id} ${full.period} ${full.since}`
      return void (await mail.post(tx, topUpEmail(content, to, brand, once)))
    }
    const order = await orders.placeTopUp(
      tx,
      {
        // With spaces, which a browser's attempt never contains.
        ...{ book, pack, attempt: `top-up ${mandate.id} ${sums.count + 1}` },
        ...{ email: to.email, locale: to.locale, method: kept.method },
        returnUrl: brand.cabinetUrl,
        savesMethod: false,
        savedMethodId: kept.methodId,
        mandate: mandate.id,
      },
      kept.provider,
    )
    return { order, isAnnounced: await announce(tx, order, mandate, to) }
  }

  /** If the owner wants it, an e-mail before the charge, which then waits. */
  async function announce(tx: Tx, order: Order, mandate: queries.Mandate, to: To) {
    if (!(await queries.advanceNoticeFind(tx, order.book))) return false
    const chargeAt = await topUpAnnounce(tx, order.id, ADVANCE_NOTICE_SECONDS)
    const { title, threshold } = mandate
    const facts = { price: order.price, credits: order.credits, title, threshold, chargeAt }
    await mail.post(tx, topUpEmail({ kind: 'top-up-soon', facts }, to, brand, order.id))
    return true
  }

  return { run }
}

/** The day or the month whose ceiling leaves no room for the pack. */
function fullPeriod(
  { price, dayCeiling, monthCeiling }: queries.Mandate,
  { daySpent, monthSpent, day, month }: Awaited<ReturnType<typeof topUpSum>>,
) {
  if (monthSpent + price > monthCeiling) {
    const facts = { period: 'month', ceiling: monthCeiling, spent: monthSpent } as const
    return { ...facts, since: month, resetsAt: nextPeriod(month, 'month') }
  }
  if (daySpent + price <= dayCeiling) return undefined
  const facts = { period: 'day', ceiling: dayCeiling, spent: daySpent } as const
  return { ...facts, since: day, resetsAt: nextPeriod(day, 'day') }
}

/** When the UTC day or month that begins on `since` ends. */
function nextPeriod(since: string, period: 'day' | 'month'): Date {
  const [year = 0, month = 1, day = 1] = since.split('-').map(Number)
  return dateAt(period === 'day' ? Date.UTC(year, month - 1, day + 1) : Date.UTC(year, month, 1))
}
