// Disputes: a payer who went to the bank. The provider tells it by letter, so an operator enters it
// here. While it lasts, what is unspent of the pack is set aside; lost, it is taken together with
// what was spent, as debt if need be; won, it comes back.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { type DisputeId, newDisputeId, type OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { type Brand, letterOf, type Mailer } from '../order/letters.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import type { TopUpEndings } from '../top-ups/endings.ts'
import { backOf, type Locked, lockWhole, settleState } from './apply.ts'
import type { Dispute } from './queries.ts'
import { disputeClose, disputeInsert, disputeList } from './queries.ts'
import { creditsOf, creditsToTake } from './sums.ts'

export type DisputeAsk = {
  readonly order: OrderId
  readonly by: string
  readonly note: string
} & (
  | {
      readonly act: 'open'
      /** Absent: all of the price that has not gone back. */
      readonly amountKopecks?: Kopecks
      /** Stops the whole account too; lifting that is the operator's own act. */
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
  readonly topUpEndings: Pick<TopUpEndings, 'ended'>
}

/** A busy book spends while we count; as with refunds. */
const COUNTS_MAX = 30

export function createDisputes(options: DisputeOptions) {
  const { db, ledger, mail, brand } = options

  /** What of the pack can be set aside now. */
  async function unspentOf(order: Order): Promise<bigint> {
    const [lots, book] = [await ledger.lots(order.book), await ledger.balance(order.book)]
    const unspent = lots.find(({ seq }) => seq === order.lot)?.unspent ?? 0n
    const available = book?.available ?? 0n
    return unspent < available ? unspent : available
  }

  async function open(tx: Tx, ask: DisputeAsk & { act: 'open' }, unspent: bigint) {
    const whole = await locked(tx, ask.order)
    const { order } = whole
    const back = backOf(whole)
    const rest = (order.price - back.promised) as Kopecks
    const amount = ask.amountKopecks ?? rest
    if (order.lot === null || whole.disputes.some((one) => one.state === 'opened')) {
      throw wrong('This order cannot be disputed now.', order)
    }
    if (amount <= 0n || amount > rest) throw wrong('More than is left of the price.', order)
    const disputed = creditsOf(order, amount, back)
    const reserved = (disputed < unspent ? disputed : unspent) as Credits
    const id = newDisputeId(options.cell, options.clock.nowMs())
    await disputeInsert(tx, { id, order: order.id, amount, reserved, by: ask.by, note: ask.note })
    await settleState(tx, { ...whole, disputes: await disputeList(tx, order.id) })
    await letter(tx, 'dispute-opened', order, id, { amount, credits: reserved })
    await options.topUpEndings.ended(tx, order.book, 'disputed')
    const { book, lot } = order
    if (reserved > 0n) await ledger.refund(tx, { book, lot, ref: id, amount: reserved, note: '' })
    if (ask.mustBlock) await ledger.block(tx, book, 'operator_blocked')
    return id
  }

  async function close(tx: Tx, ask: DisputeAsk & { act: 'won' | 'lost' }): Promise<DisputeId> {
    const whole = await locked(tx, ask.order)
    const { order } = whole
    const dispute = whole.disputes.find((one) => one.state === 'opened')
    if (dispute === undefined || order.lot === null) {
      throw wrong('This order has no open dispute.', order)
    }
    if (ask.act === 'won' && isOwed(whole, dispute)) {
      throw wrong('The money went back meanwhile: close it as lost.', order)
    }
    const more = ask.act === 'lost' ? moreToTake(whole, dispute) : (0n as Credits)
    const taken = (ask.act === 'lost' ? dispute.reserved + more : 0n) as Credits
    await disputeClose(tx, { id: dispute.id, state: ask.act, taken, by: ask.by })
    await settleState(tx, { ...whole, disputes: await disputeList(tx, order.id) })
    const { book, lot } = order
    const ref = dispute.id
    const facts = { amount: dispute.amount, credits: ask.act === 'lost' ? taken : dispute.reserved }
    if (ask.act === 'won') {
      await letter(tx, 'dispute-won', order, ref, facts)
      if (dispute.reserved > 0n) await ledger.reverseRefund(tx, { book, lot, ref, note: ask.note })
      return ref
    }
    const note = 'a dispute was lost'
    const forced =
      more > 0n
        ? await ledger.forceDebit(tx, { book, lot, ref, amount: more, contra: 'clearing', note })
        : undefined
    await letter(tx, 'dispute-lost', order, ref, { ...facts, ...(forced && { debt: forced.debt }) })
    return ref
  }

  async function letter(
    tx: Tx,
    kind: Parameters<typeof letterOf>[0],
    order: Order,
    id: string,
    facts: Parameters<typeof letterOf>[4],
  ) {
    await mail.post(tx, letterOf(kind, order, brand, id, facts))
  }

  return {
    /**
     * Opens, wins or loses a dispute. Refuses: order_unknown, order_state_wrong, and
     * refund_exceeds_unspent when the account spends faster than we can count.
     */
    async dispute(ask: DisputeAsk): Promise<DisputeId> {
      if (ask.act !== 'open') return db.transaction((tx) => close(tx, ask))
      for (let counts = 1; ; counts++) {
        const order = await queries.orderFind(db, ask.order)
        if (order === undefined) throw unknown(ask.order)
        const unspent = await unspentOf(order)
        try {
          return await db.transaction((tx) => open(tx, ask, unspent))
        } catch (error) {
          const isMoved = error instanceof Refusal && error.code === 'refund_exceeds_unspent'
          if (!isMoved || counts >= COUNTS_MAX) throw error
        }
      }
    },
  }
}

async function locked(tx: Tx, id: OrderId): Promise<Locked> {
  const whole = await lockWhole(tx, id)
  if (whole === undefined) throw unknown(id)
  return whole
}

/** What the lost money was worth, less what was taken or set aside for it already. */
function moreToTake(whole: Locked, dispute: Dispute): Credits {
  const { promised, taken } = backOf(whole)
  const gone = (promised + dispute.amount) as Kopecks
  return creditsToTake(whole.order, gone, taken)
}

/** Whether refunds at the provider's desk count on the credits that the dispute set aside. */
function isOwed(whole: Locked, dispute: Dispute): boolean {
  const { promised, taken } = backOf(whole)
  return creditsToTake(whole.order, promised, (taken - dispute.reserved) as Credits) > 0n
}

function unknown(order: OrderId): Refusal {
  return new Refusal('order_unknown', 'There is no such order.', { order })
}

function wrong(sentence: string, order: Order): Refusal {
  return new Refusal('order_state_wrong', sentence, { order: order.id, state: order.state })
}
