// Top-ups: when a balance falls below its owner's threshold, the agreed pack is bought with the
// saved method. One order per crossing, never above the month's ceiling, switched off at the first
// decline. From then on it is an ordinary order.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Brand, Mailer } from '../order/emails.ts'
import type { BuyInput, Order, OrderInput } from '../order/order.ts'
import type { Locale, Method } from '../port.ts'
import { paymentRefusal } from '../refusals.ts'
import { topUpEmail } from './emails.ts'
import { needsTopUp, type TopUpEndingOptions, type TopUpEndings } from './endings.ts'
import * as queries from './queries.ts'

export type TopUpOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'balance' | 'balances'>
  readonly mail: Mailer
  readonly brand: Brand
  readonly log: Log
  readonly orders: TopUpOrders
  readonly topUpEndings: Pick<TopUpEndings, 'stop' | 'stopWithEmail'>
  /** Top-ups are bought only if both are true: top-ups are offered, and sales are open. */
  readonly hasTopUps: boolean
  readonly isOpen: boolean
  /** The pack as it is sold now; undefined when it is not sold. */
  packOf(id: string): BuyInput['pack'] | undefined
} & Pick<TopUpEndingOptions, 'ownerOf'>

/** What top-ups need of orders, declared here because orders import the endings of top-ups. */
type TopUpOrders = {
  placeTopUp(tx: Tx, input: OrderInput, provider: string): Promise<Order>
  post(order: Order): Promise<void>
  methods(price: Kopecks): Method[]
}

export type TopUpInput = {
  readonly book: BookId
  readonly packId: string
  /** The pack's terms as the owner saw them. */
  readonly priceKopecks: Kopecks
  readonly credits: Credits
  readonly threshold: Credits
  readonly ceilingKopecks: Kopecks
  /** The version of the consent's text, and the IP address that agreed. */
  readonly version: string
  readonly address: string
}

/** The version of the consent's text, which the cabinet shows; a new text needs a new version. */
const CONSENT_VERSION = '2026-11-16.2'
/** How many balances the ledger reads at once. */
const PAGE = 256

export function createTopUps(options: TopUpOptions) {
  const { db, ledger, mail, brand, log, orders, topUpEndings } = options
  const isOffered = options.hasTopUps && options.isOpen

  async function turnOn(input: TopUpInput): Promise<void> {
    const { book, packId, threshold, ceilingKopecks: ceiling, version, address } = input
    const { priceKopecks: price, credits } = input
    const owner = await options.ownerOf(book)
    const isSound =
      isOffered &&
      version === CONSENT_VERSION &&
      orders.methods(price).includes('card') &&
      ceiling >= price &&
      // Otherwise the balance would still be below the threshold after the purchase.
      threshold < credits
    if (!isSound || owner === undefined) throw refused({ book, packId, threshold, ceiling })
    if (!isSoldFor(packId, price, credits)) {
      const detail = { book, packId, price }
      throw paymentRefusal('pack_changed', 'The pack is sold at other terms.', detail)
    }
    await db.transaction(async (tx) => {
      const kept = await queries.savedMethodFind(tx, book)
      if (kept === undefined) throw refused({ book, why: 'no method' })
      const { title } = kept
      const facts = { title, price, credits, threshold, ceiling }
      await queries.topUpSet(tx, {
        ...{ book, version, address, packId, price, credits, threshold, ceiling },
        methodTitle: title,
      })
      // An unsent order belongs to the previous agreement, and maybe to another card.
      await queries.topUpCancelUnsent(tx, book)
      const to = { email: owner.email, locale: owner.language }
      const { givenAt } = (await queries.topUpFind(tx, book)) ?? {}
      const once = `${book} ${givenAt?.toISOString()}`
      await mail.post(tx, topUpEmail({ kind: 'top-up-on', facts }, to, brand, once))
    })
  }

  function isSoldFor(packId: string, price: Kopecks, credits: Credits): boolean {
    const pack = options.packOf(packId)
    return pack?.priceKopecks === price && pack.credits === credits
  }

  /** Buys for every book below its threshold; returns the number of orders. */
  async function run(): Promise<number> {
    if (!isOffered) return 0
    await queries.topUpScheduleUnpolled(db)
    let bought = 0
    let last = 0n as BookId
    for (;;) {
      const page = await queries.topUpListActive(db, last, PAGE)
      const balances = await ledger.balances(page.map(({ book }) => book))
      for (const { id, available, held } of balances) {
        const agreement = page.find(({ book }) => book === id)
        // An agreement without credits is stopped, whatever the balance.
        const isDue = agreement?.credits === null || available + held < (agreement?.threshold ?? 0n)
        if (isDue && (await buyFor(id))) bought += 1
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
        await db.transaction((tx) => topUpEndings.stop(tx, book, 'owner'))
        return false
      }
      const to = { email: owner.email, locale: owner.language }
      const order = await db.transaction((tx) => place(tx, book, to))
      if (order !== undefined) await orders.post(order)
      return order !== undefined
    } catch (error) {
      log.error({ book, err: error }, 'a top-up could not be bought')
      return false
    }
  }

  type To = { readonly email: string; readonly locale: Locale }

  /**
   * Decides again under the top-up's lock: a worker that bought just before has committed an open
   * order or the credit, and this transaction sees either.
   */
  async function place(tx: Tx, book: BookId, to: To): Promise<Order | undefined> {
    const agreement = await queries.topUpLockActive(tx, book)
    if (agreement === undefined) return undefined
    if (agreement.credits === null) {
      return void (await topUpEndings.stopWithEmail(tx, book, 'consent_incomplete'))
    }
    const { month, spent, hasOpen } = await queries.topUpSumMonth(tx, book)
    if (hasOpen) return undefined
    const kept = await queries.savedMethodFind(tx, book)
    if (!kept || !needsTopUp(await ledger.balance(book, tx), agreement)) return undefined
    const pack = options.packOf(agreement.packId)
    if (pack === undefined || !isSoldFor(agreement.packId, agreement.price, agreement.credits)) {
      return void (await topUpEndings.stopWithEmail(tx, book, 'pack_changed'))
    }
    if (spent + pack.priceKopecks > agreement.ceiling) {
      if (!(await queries.topUpMarkCeilingEmailed(tx, book, month))) return undefined
      const content = {
        kind: 'top-up-ceiling',
        facts: { ceiling: agreement.ceiling, spent },
      } as const
      return void (await mail.post(tx, topUpEmail(content, to, brand, `${book} ${month}`)))
    }
    // With a space, which a browser's attempt never contains.
    const attempt = `top-up ${await queries.topUpCountCrossing(tx, book)}`
    return orders.placeTopUp(
      tx,
      {
        ...{ book, pack, attempt, email: to.email, locale: to.locale, method: kept.method },
        returnUrl: brand.cabinetUrl,
        savesMethod: false,
        savedMethodId: kept.methodId,
        consent: agreement.consent,
      },
      kept.provider,
    )
  }

  return {
    isOffered,
    consentVersion: CONSENT_VERSION,
    turnOn,
    run,

    turnOff: async (book: BookId): Promise<void> =>
      void (await db.transaction((tx) => topUpEndings.stop(tx, book, 'owner'))),

    /** Deletes the method and stops top-ups, in the caller's transaction. */
    async forget(tx: Tx, book: BookId): Promise<void> {
      await topUpEndings.stopWithEmail(tx, book, 'forgotten')
      await queries.savedMethodDelete(tx, book)
    },

    /** As `forget`, but without its e-mail: closing an account sends its own. */
    async close(tx: Tx, book: BookId): Promise<void> {
      await topUpEndings.stop(tx, book, 'owner')
      await queries.savedMethodDelete(tx, book)
    },

    /** Deletes an owner's method, agreement and consents, in the caller's transaction. */
    async erase(tx: Tx, book: BookId): Promise<void> {
      await queries.savedMethodDelete(tx, book)
      await queries.topUpDelete(tx, book)
      await queries.consentDelete(tx, book)
    },

    async read(book: BookId) {
      const [method, agreement, { spent }] = await Promise.all([
        queries.savedMethodFind(db, book),
        queries.topUpFind(db, book),
        queries.topUpSumMonth(db, book),
      ])
      return { method, agreement: agreement, monthKopecks: spent }
    },

    consents: (book: BookId) => queries.consentList(db, book),
  }
}

function refused(detail: Record<string, unknown>): Refusal {
  return paymentRefusal('top_up_refused', 'Automatic top-up cannot be set so.', detail)
}
