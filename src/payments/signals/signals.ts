// Signals: what accounts of one person often have in common. They are for a person to look at and
// never refuse anything: a family shares a card, and a bank has millions of payers.
import type { Db, Tx } from '../../platform/db/db.ts'
import type { Digests } from '../digests.ts'
import type { Order } from '../order/order.ts'
import type { Snapshot } from '../port.ts'
import * as queries from './queries.ts'

/** Two payers of a large bank may well use the same code; three are worth a look. */
const BANK_ACCOUNTS_MIN = 3
/** One refund is a change of mind. */
const REFUNDS_MIN = 2
/** Half of what `payments.promoTriesPerHour` allows; an owner mistypes a code once or twice. */
const TRIES_MIN = 5
/** Rows of each kind; an operator cannot look at more. */
const ROWS_MAX = 50
/** A card holder may dispute a payment for 120 days, and banks take some weeks. */
const PAYER_DAYS = 180

export type Signals = {
  readonly cards: readonly queries.SharedCard[]
  readonly banks: readonly queries.SharedBank[]
  readonly refunds: readonly queries.ManyRefunds[]
  readonly tries: readonly queries.ManyTries[]
}

export function createSignals({ db, digests }: { readonly db: Db; readonly digests: Digests }) {
  return {
    /** Stores a digest of the card, or the payer's bank, with a credited order. */
    async record(tx: Tx, order: Order, { payer }: Pick<Snapshot, 'payer'>): Promise<void> {
      const { card, bank } = payer
      if (card === null && bank === null) return
      const cardDigest = card === null ? null : digests.card(card)
      await queries.payerInsert(tx, { order: order.id, book: order.book, cardDigest, bank })
    },

    /** What accounts of the last `days` have in common. Changes nothing. */
    async read(days: number): Promise<Signals> {
      const range = { days, limit: ROWS_MAX }
      const [cards, banks, refunds, tries] = await Promise.all([
        queries.cardListShared(db, range),
        queries.bankListShared(db, { ...range, min: BANK_ACCOUNTS_MIN }),
        queries.refundListMany(db, { ...range, min: REFUNDS_MIN }),
        queries.promoListTries(db, { ...range, min: TRIES_MIN }),
      ])
      return { cards, banks, refunds, tries }
    },

    forget: () => queries.payerDeleteOld(db, PAYER_DAYS),
  }
}

export type SignalRecorder = Pick<ReturnType<typeof createSignals>, 'record'>
