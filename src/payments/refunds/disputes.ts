// Disputes: the payer asked the bank to return the money. The provider reports them by post, so an
// operator enters them. While a dispute is open, the pack's unspent credits are reserved. If it is
// lost, all of the pack's credits are taken, spent ones as debt; if it is won, they are released.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { type DisputeId, newDisputeId, type OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { isRefusal, type Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { TopUpEndings } from '../mandates/endings.ts'
import { type Brand, type Mailer, orderEmail } from '../order/emails.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { type PaymentRefusalCode, paymentDeskRefusal, paymentRefusal } from '../refusals.ts'
import type { AccountEnding, ClosingRefunds } from './closing.ts'
import { lockPurchase, type Purchase, returnedTotals, updateOrderState } from './purchase.ts'
import type { Dispute } from './queries.ts'
import { disputeClose, disputeInsert, disputeList } from './queries.ts'
import { creditsForAmount, creditsToTake } from './sums.ts'

export type DisputeInput = {
  readonly order: OrderId
  readonly by: string
  readonly note: string
} & (
  | {
      readonly act: 'open'
      /** Absent: all of the price that was not refunded. */
      readonly amountKopecks?: Kopecks
      /** Until when the bank accepts evidence; absent: five days from now. */
      readonly answerBy?: Date
      /** Also suspends the account, until an operator lifts that. */
      readonly mustBlock?: boolean
    }
  | { readonly act: 'won' | 'lost' }
)

export type DisputeOptions = {
  readonly db: Db
  readonly ledger: Pick<
    Ledger,
    'lots' | 'balance' | 'refund' | 'reverseRefund' | 'forceDebit' | 'block'
  >
  readonly mail: Mailer
  readonly brand: Brand
  readonly clock: Clock
  readonly log: Log
  readonly cell: number
  readonly topUpEndings: Pick<TopUpEndings, 'endWithEmail'>
  readonly closingRefunds: Pick<ClosingRefunds, 'endingOf' | 'onReleased'>
}

/** Attempts while the book spends concurrently; see COUNTS_MAX in refunds.ts. */
const COUNTS_MAX = 30

export function createDisputes(options: DisputeOptions) {
  const { db, ledger, mail, brand } = options

  /** How many of the pack's credits can be reserved now. */
  async function unspentOf(order: Order): Promise<bigint> {
    const [lots, book] = [await ledger.lots(order.book), await ledger.balance(order.book)]
    const unspent = lots.find(({ seq }) => seq === order.lot)?.unspent ?? 0n
    const available = book?.available ?? 0n
    return unspent < available ? unspent : available
  }

  async function open(tx: Tx, input: DisputeInput & { act: 'open' }, unspent: bigint) {
    const purchase = await lockOrRefuse(tx, input.order)
    const { order } = purchase
    const returned = returnedTotals(purchase)
    const rest = (order.price - returned.promised) as Kopecks
    const amount = input.amountKopecks ?? rest
    if (order.lot === null || purchase.disputes.some((one) => one.state === 'opened')) {
      throw wrong('This order cannot be disputed now.', order)
    }
    if (amount <= 0n || amount > rest) throw wrong('More than is left of the price.', order)
    if (input.answerBy !== undefined && input.answerBy.getTime() <= options.clock.nowMs()) {
      throw wrong('The deadline has passed.', order)
    }
    const disputed = creditsForAmount(order, amount, returned)
    const reserved = (disputed < unspent ? disputed : unspent) as Credits
    const id = newDisputeId(options.cell, options.clock.nowMs())
    await disputeInsert(tx, {
      id,
      order: order.id,
      amount,
      reserved,
      by: input.by,
      note: input.note,
      answerBy: input.answerBy ?? null,
    })
    await updateOrderState(tx, { ...purchase, disputes: await disputeList(tx, order.id) })
    await postEmail(tx, 'dispute-opened', order, id, { amount, credits: reserved })
    await options.topUpEndings.endWithEmail(tx, order.book, 'disputed')
    const { book, lot } = order
    if (reserved > 0n) await ledger.refund(tx, { book, lot, ref: id, amount: reserved, note: '' })
    if (input.mustBlock) await ledger.block(tx, book, 'operator_blocked')
    return id
  }

  async function close(tx: Tx, input: DisputeInput & { act: 'won' | 'lost' }): Promise<DisputeId> {
    const purchase = await lockOrRefuse(tx, input.order)
    const { order } = purchase
    const dispute = purchase.disputes.find((one) => one.state === 'opened')
    if (dispute === undefined || order.lot === null) {
      throw wrong('This order has no open dispute.', order)
    }
    if (input.act === 'won' && isOwed(purchase, dispute)) {
      throw wrong('The money went back meanwhile: close it as lost.', order)
    }
    const more = input.act === 'lost' ? moreToTake(purchase, dispute) : (0n as Credits)
    const taken = (input.act === 'lost' ? dispute.reserved + more : 0n) as Credits
    await disputeClose(tx, { id: dispute.id, state: input.act, taken, by: input.by })
    await updateOrderState(tx, { ...purchase, disputes: await disputeList(tx, order.id) })
    const { book, lot } = order
    const ref = dispute.id
    const facts = {
      amount: dispute.amount,
      credits: input.act === 'lost' ? taken : dispute.reserved,
    }
    if (input.act === 'won') {
      await postEmail(tx, 'dispute-won', order, ref, facts)
      if (dispute.reserved === 0n) return ref
      await ledger.reverseRefund(tx, { book, lot, ref, note: input.note })
      const ending = await options.closingRefunds.endingOf(tx, book)
      if (ending !== undefined) await onReleased(tx, order, ending, dispute)
      return ref
    }
    const note = 'a dispute was lost'
    const forced =
      more > 0n
        ? await ledger.forceDebit(tx, { book, lot, ref, amount: more, contra: 'clearing', note })
        : undefined
    await postEmail(tx, 'dispute-lost', order, ref, {
      ...facts,
      ...(forced && { debt: forced.debt }),
    })
    return ref
  }

  async function onReleased(tx: Tx, { id }: Order, ending: AccountEnding, dispute: Dispute) {
    const { reserved } = dispute
    const now = await lockOrRefuse(tx, id)
    await options.closingRefunds.onReleased(tx, now, ending, { id: dispute.id, reserved })
  }

  async function postEmail(
    tx: Tx,
    kind: Parameters<typeof orderEmail>[0],
    order: Order,
    id: string,
    facts: Parameters<typeof orderEmail>[4],
  ) {
    await mail.post(tx, orderEmail(kind, order, brand, id, facts))
  }

  return {
    /**
     * Opens, wins or loses a dispute. Refuses: order_unknown, order_state_wrong, and
     * refund_exceeds_unspent when the account spends faster than we can reserve.
     */
    async dispute(input: DisputeInput): Promise<DisputeId> {
      if (input.act !== 'open') return db.transaction((tx) => close(tx, input))
      for (let counts = 1; ; counts++) {
        const order = await queries.orderFind(db, input.order)
        if (order === undefined) throw unknown(input.order)
        const unspent = await unspentOf(order)
        try {
          return await db.transaction((tx) => open(tx, input, unspent))
        } catch (error) {
          const isMoved = isRefusal<PaymentRefusalCode>(error, 'refund_exceeds_unspent')
          if (!isMoved || counts >= COUNTS_MAX) throw error
        }
      }
    },
  }
}

async function lockOrRefuse(tx: Tx, id: OrderId): Promise<Purchase> {
  const purchase = await lockPurchase(tx, id)
  if (purchase === undefined) throw unknown(id)
  return purchase
}

/** The credits that the lost money bought, less those already taken or reserved for it. */
function moreToTake(purchase: Purchase, dispute: Dispute): Credits {
  const { promised, taken } = returnedTotals(purchase)
  const gone = (promised + dispute.amount) as Kopecks
  return creditsToTake(purchase.order, gone, taken)
}

/** Whether refunds in the provider's merchant portal need the credits that the dispute reserved. */
function isOwed(purchase: Purchase, dispute: Dispute): boolean {
  const { promised, taken } = returnedTotals(purchase)
  return creditsToTake(purchase.order, promised, (taken - dispute.reserved) as Credits) > 0n
}

function unknown(order: OrderId): Refusal {
  return paymentRefusal('order_unknown', 'There is no such order.', { order })
}

function wrong(sentence: string, order: Order): Refusal {
  return paymentDeskRefusal('order_state_wrong', sentence, { order: order.id, state: order.state })
}
