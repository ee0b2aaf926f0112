// Mandates: an owner's consent to automatic top-ups, given once with its terms and ended once. This
// is what the cabinet calls: give, end, forget the card, read. top-ups.ts buys under a mandate,
// sending.ts checks it before each charge, endings.ts ends it for other reasons.
import type { Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Method } from '../port.ts'
import { paymentRefusal } from '../refusals.ts'
import { topUpEmail } from './emails.ts'
import { addressOf } from './endings.ts'
import { topUpList, topUpSum } from './order-queries.ts'
import * as queries from './queries.ts'
import { isSoldFor } from './sending.ts'
import { ADVANCE_NOTICE_SECONDS, createTopUps, type TopUpOptions } from './top-ups.ts'

export type MandateOptions = TopUpOptions & {
  readonly orders: { methods(price: Kopecks): Method[] }
}

export type MandateInput = {
  readonly book: BookId
  readonly packId: string
  /** The pack's terms as the owner saw them. */
  readonly priceKopecks: Kopecks
  readonly credits: Credits
  readonly threshold: Credits
  readonly dayCeilingKopecks: Kopecks
  readonly monthCeilingKopecks: Kopecks
  /** The version of the consent's text, and the IP address that agreed. */
  readonly version: string
  readonly address: string
}

/** The version of the consent's text, which the cabinet shows; a new text needs a new version. */
const CONSENT_VERSION = '2026-11-17.1'
/**
 * The history shows this many mandates and charges: more than three months with a charge a day. The
 * page of payments has every order.
 */
const HISTORY_MAX = 100
/** The owner's copy has all: an owner may give 20 mandates an hour, but nobody gives this many. */
const COPY_MAX = 10_000

export function createMandates(options: MandateOptions) {
  const { db, mail, brand, orders, topUpEndings } = options
  const isOffered = options.hasTopUps && options.isOpen

  async function turnOn(input: MandateInput): Promise<void> {
    const { book, packId, threshold, version, address, priceKopecks: price, credits } = input
    const { dayCeilingKopecks: dayCeiling, monthCeilingKopecks: monthCeiling } = input
    const owner = await options.ownerOf(book)
    const isSound =
      isOffered &&
      version === CONSENT_VERSION &&
      orders.methods(price).includes('card') &&
      price <= dayCeiling &&
      dayCeiling <= monthCeiling &&
      // Otherwise the balance would still be below the threshold after the purchase.
      threshold < credits
    if (!isSound || owner === undefined) {
      throw refused({ book, packId, threshold, dayCeiling, monthCeiling })
    }
    if (!isSoldFor(options.packOf(packId), { price, credits })) {
      const detail = { book, packId, price }
      throw paymentRefusal('pack_changed', 'The pack is sold at other terms.', detail)
    }
    await db.transaction(async (tx) => {
      if (!(await queries.savedMethodLock(tx, book))) throw refused({ book, why: 'no method' })
      // An unsent order belongs to the previous mandate, and maybe to another card.
      await topUpEndings.end(tx, book, 'replaced')
      const terms = { packId, price, credits, threshold, dayCeiling, monthCeiling }
      const mandate = await queries.mandateInsert(tx, { book, version, address, ...terms })
      const facts = { ...terms, title: mandate.title }
      const once = `mandate ${mandate.id}`
      await mail.post(tx, topUpEmail({ kind: 'top-up-on', facts }, addressOf(owner), brand, once))
    })
  }

  return {
    isOffered,
    consentVersion: CONSENT_VERSION,
    /** From the e-mail that announces a charge to the charge. */
    noticeHours: ADVANCE_NOTICE_SECONDS / 3_600,

    /** Records the owner's consent as a new mandate. Refuses: top_up_refused, pack_changed. */
    turnOn,

    /** Buys for every book below its threshold; returns the number of orders. */
    run: createTopUps(options).run,

    turnOff: async (book: BookId): Promise<void> =>
      void (await db.transaction((tx) => topUpEndings.end(tx, book, 'owner'))),

    /** Whether the owner gets an e-mail before each charge, which then comes two hours later. */
    setAdvanceNotice: (book: BookId, isOn: boolean): Promise<void> =>
      queries.advanceNoticeSet(db, book, isOn),

    /** Deletes the method and ends the mandate, in the caller's transaction. */
    async forget(tx: Tx, book: BookId): Promise<void> {
      await queries.savedMethodDelete(tx, book)
      await topUpEndings.endWithEmail(tx, book, 'forgotten')
    },

    /** As `forget`, but without its e-mail: closing an account sends its own. */
    async close(tx: Tx, book: BookId): Promise<void> {
      await queries.savedMethodDelete(tx, book)
      await topUpEndings.end(tx, book, 'closed')
    },

    /** The saved card or other method; undefined without one. */
    method: (book: BookId) => queries.savedMethodFind(db, book),

    /** The saved card, the newest mandate, living or not, and what was spent. */
    async read(book: BookId) {
      const [method, [mandate], { daySpent, monthSpent }, hasAdvanceNotice] = await Promise.all([
        queries.savedMethodFind(db, book),
        queries.mandateList(db, book, 1),
        topUpSum(db, book),
        queries.advanceNoticeFind(db, book),
      ])
      return { method, mandate, daySpent, monthSpent, hasAdvanceNotice }
    },

    /** A book's mandates and top-ups, newest first. */
    async history(book: BookId) {
      const [mandates, charges] = await Promise.all([
        queries.mandateList(db, book, HISTORY_MAX),
        topUpList(db, book, HISTORY_MAX),
      ])
      return { mandates, charges }
    },

    /** Every mandate of a book, as JSON values. */
    async copy(book: BookId) {
      return (await queries.mandateList(db, book, COPY_MAX)).map((mandate) => ({
        id: String(mandate.id),
        version: mandate.version,
        address: mandate.address,
        method: mandate.title,
        pack: mandate.packId,
        priceKopecks: String(mandate.price),
        microcredits: mandate.credits === null ? null : String(mandate.credits),
        thresholdMicrocredits: String(mandate.threshold),
        dayCeilingKopecks: String(mandate.dayCeiling),
        monthCeilingKopecks: String(mandate.monthCeiling),
        givenAt: mandate.givenAt,
        endedAt: mandate.endedAt,
        endedWhy: mandate.endedWhy,
      }))
    },
  }
}

function refused(detail: Record<string, unknown>): Refusal {
  return paymentRefusal('top_up_refused', 'Automatic top-up cannot be set so.', detail)
}
