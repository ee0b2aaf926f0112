// Top-ups: when a balance falls below its owner's threshold, the pack that was agreed to is bought
// by the method that was kept for it. One order per crossing, never above the month's ceiling, off
// at the first decline. The order goes the ordinary way from here on.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Brand, Mailer } from '../order/letters.ts'
import type { BuyAsk, Order, OrderAsk } from '../order/order.ts'
import type { Locale, Method } from '../port.ts'
import { isWanted, type TopUpEndingOptions, type TopUpEndings } from './endings.ts'
import { topUpLetter } from './letters.ts'
import * as queries from './queries.ts'

export type TopUpOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'balance' | 'balances'>
  readonly mail: Mailer
  readonly brand: Brand
  readonly log: Log
  readonly orders: TopUpOrders
  readonly topUpEndings: Pick<TopUpEndings, 'stop' | 'ended'>
  /** Both must be so: top-ups are offered, and anything is sold. */
  readonly hasTopUps: boolean
  readonly isOpen: boolean
  /** The pack as it is sold now; undefined when it is not. */
  packOf(id: string): BuyAsk['pack'] | undefined
} & Pick<TopUpEndingOptions, 'ownerOf'>

/** What a top-up needs of orders, which know top-ups themselves. */
type TopUpOrders = {
  placeTopUp(tx: Tx, ask: OrderAsk, provider: string): Promise<Order>
  post(order: Order): Promise<void>
  methods(price: Kopecks): Method[]
}

export type TopUpAsk = {
  readonly book: BookId
  readonly packId: string
  /** The pack's terms as the owner saw them. */
  readonly priceKopecks: Kopecks
  readonly credits: Credits
  readonly threshold: Credits
  readonly ceilingKopecks: Kopecks
  /** The version of the text that was agreed to, and from where. */
  readonly version: string
  readonly address: string
}

/** The text that owners agree to is in the cabinet's words; another text is another version. */
const CONSENT_VERSION = '2026-11-16'
/** What the ledger reads at once. */
const PAGE = 256

export function createTopUps(options: TopUpOptions) {
  const { db, ledger, mail, brand, log, orders, topUpEndings } = options
  const isOffered = options.hasTopUps && options.isOpen

  async function turnOn(ask: TopUpAsk): Promise<void> {
    const { book, packId, threshold, ceilingKopecks: ceiling, version, address } = ask
    const { priceKopecks: price, credits } = ask
    const owner = await options.ownerOf(book)
    const isSound =
      isOffered &&
      version === CONSENT_VERSION &&
      orders.methods(price).includes('card') &&
      ceiling >= price &&
      // Else the threshold would still be crossed when the pack has come.
      threshold < credits
    if (!isSound || owner === undefined) throw refused({ book, packId, threshold, ceiling })
    if (!isSoldFor(packId, price, credits)) {
      throw new Refusal('pack_changed', 'The pack is sold at other terms.', { book, packId, price })
    }
    await db.transaction(async (tx) => {
      const kept = await queries.methodFind(tx, book)
      if (kept === undefined) throw refused({ book, why: 'no method' })
      const { title } = kept
      const facts = { title, price, credits, threshold, ceiling }
      await queries.topUpSet(tx, {
        ...{ book, version, address, packId, price, credits, threshold, ceiling },
        methodTitle: title,
      })
      // What waits was agreed to with other words, and maybe with another card.
      await queries.topUpCancelUnsent(tx, book)
      const to = { email: owner.email, locale: owner.language }
      const { givenAt } = (await queries.topUpFind(tx, book)) ?? {}
      const once = `${book} ${givenAt?.toISOString()}`
      await mail.post(tx, topUpLetter({ kind: 'top-up-on', facts }, to, brand, once))
    })
  }

  function isSoldFor(packId: string, price: Kopecks, credits: Credits): boolean {
    const pack = options.packOf(packId)
    return pack?.priceKopecks === price && pack.credits === credits
  }

  /** Buys for every book below its threshold; how many orders there were. */
  async function run(): Promise<number> {
    if (!isOffered) return 0
    await queries.topUpWake(db)
    let bought = 0
    let last = 0n as BookId
    for (;;) {
      const page = await queries.topUpListOn(db, last, PAGE)
      const balances = await ledger.balances(page.map(({ book }) => book))
      for (const { id, available, held } of balances) {
        const word = page.find(({ book }) => book === id)
        // An agreement that names no credits is stopped before anything is due.
        const isDue = word?.credits === null || available + held < (word?.threshold ?? 0n)
        if (isDue && (await buyFor(id))) bought += 1
      }
      if (page.length < PAGE) return bought
      last = page.at(-1)?.book ?? last
    }
  }

  /** One book's failure is not the next one's. */
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
   * Decides again, under the top-up's lock: whoever bought a moment ago has committed an open order
   * or the credit, and either is seen here.
   */
  async function place(tx: Tx, book: BookId, to: To): Promise<Order | undefined> {
    const word = await queries.topUpLockOn(tx, book)
    if (word === undefined) return undefined
    if (word.credits === null) {
      return void (await topUpEndings.ended(tx, book, 'consent_incomplete'))
    }
    const { month, spent, hasOpen } = await queries.topUpSumMonth(tx, book)
    if (hasOpen) return undefined
    const kept = await queries.methodFind(tx, book)
    if (!kept || !isWanted(await ledger.balance(book, tx), word)) return undefined
    const pack = options.packOf(word.packId)
    if (pack === undefined || !isSoldFor(word.packId, word.price, word.credits)) {
      return void (await topUpEndings.ended(tx, book, 'pack_changed'))
    }
    if (spent + pack.priceKopecks > word.ceiling) {
      if (!(await queries.topUpTellCeiling(tx, book, month))) return undefined
      const notice = { kind: 'top-up-ceiling', facts: { ceiling: word.ceiling, spent } } as const
      return void (await mail.post(tx, topUpLetter(notice, to, brand, `${book} ${month}`)))
    }
    // A space, so that no attempt of a browser is ever the same.
    const attempt = `top-up ${await queries.topUpCount(tx, book)}`
    return orders.placeTopUp(
      tx,
      {
        ...{ book, pack, attempt, email: to.email, locale: to.locale, method: kept.method },
        returnUrl: brand.cabinetUrl,
        savesMethod: false,
        savedMethodId: kept.methodId,
        consent: word.consent,
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

    /** In the caller's transaction: the method is forgotten, and nothing is bought by it. */
    async forget(tx: Tx, book: BookId): Promise<void> {
      await topUpEndings.ended(tx, book, 'forgotten')
      await queries.methodDelete(tx, book)
    },

    /** As `forget`, without a letter: the account is closed, and its owner is told of that. */
    async close(tx: Tx, book: BookId): Promise<void> {
      await topUpEndings.stop(tx, book, 'owner')
      await queries.methodDelete(tx, book)
    },

    /** In the caller's transaction, with the person: agreements name an address. */
    async erase(tx: Tx, book: BookId): Promise<void> {
      await queries.methodDelete(tx, book)
      await queries.topUpDelete(tx, book)
      await queries.consentDelete(tx, book)
    },

    async read(book: BookId) {
      const [method, word, { spent }] = await Promise.all([
        queries.methodFind(db, book),
        queries.topUpFind(db, book),
        queries.topUpSumMonth(db, book),
      ])
      return { method, word, monthKopecks: spent }
    },

    consents: (book: BookId) => queries.consentList(db, book),
  }
}

function refused(detail: Record<string, unknown>): Refusal {
  return new Refusal('top_up_refused', 'Automatic top-up cannot be set so.', detail)
}
