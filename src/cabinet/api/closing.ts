// Closing an account: what would become of its credits, and doing it. Refunds are asked for first
// and one by one, because each needs the payment provider; the account closes when all of them
// stand. A click that is repeated after a failure goes on where it stopped.
import { z } from 'zod'
import type { Accounts, Session } from '../../accounts/accounts.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { OrderView, Payments } from '../../payments/payments.ts'
import type { Clock } from '../../platform/clock.ts'
import { type BookId, isOrderId, type OrderId } from '../../platform/ids.ts'
import { type Credits, micro } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { OwnNo } from '../answers.ts'
import type * as contract from '../contract/contract.ts'
import { creditsOf } from './amounts.ts'
import type { Table } from './routes.ts'

export type ClosingOptions = {
  readonly clock: Clock
  readonly accounts: Pick<Accounts, 'close'>
  readonly ledger: Pick<Ledger, 'balance' | 'lots'>
  readonly payments: Pick<Payments, 'orders' | 'refundable' | 'requestRefund' | 'refunds'>
}

/** Orders that can be paid are younger than an hour and ten minutes, so among the newest. */
const PAYABLE_AMONG = 50
const CLOSING = { max: 10, seconds: 3_600 }

export function createClosings({ clock, accounts, ledger, payments }: ClosingOptions) {
  /** Money that may still come: to a closed account it would come for nothing. */
  async function payableOrders(book: BookId): Promise<number> {
    const orders = await payments.orders({ book, before: null, limit: PAYABLE_AMONG })
    return orders.filter(isPayable).length
  }

  function isPayable({ state, payableUntil }: OrderView): boolean {
    if (state === 'created') return true
    return state === 'pending' && (payableUntil?.getTime() ?? Infinity) > clock.nowMs()
  }

  /** The orders with something to give back, and what each would. */
  async function refundable(book: BookId) {
    const found: { order: OrderId; amountKopecks: Kopecks; credits: Credits }[] = []
    for (const { kind, ref, unspent } of await ledger.lots(book)) {
      if (kind !== 'purchase' || unspent === 0n || !isOrderId(ref)) continue
      const { why, amountKopecks, credits } = await payments.refundable(ref, book)
      if (why === null) found.push({ order: ref, amountKopecks, credits })
    }
    return found
  }

  async function preview(book: BookId): Promise<contract.Closing> {
    const [payable, found, balance] = await Promise.all([
      payableOrders(book),
      refundable(book),
      ledger.balance(book),
    ])
    const available = balance?.available ?? micro(0n)
    const taken = found.reduce((sum, one) => sum + one.credits, 0n)
    const rest = available > taken ? available - taken : 0n
    return {
      isPossible: payable === 0,
      payableOrders: payable,
      available: creditsOf(available),
      refundKopecks: String(found.reduce((sum, one) => sum + one.amountKopecks, 0n)),
      forfeited: creditsOf(micro(rest)),
    }
  }

  async function close(session: Session, unspent: contract.Unspent): Promise<void> {
    const { book } = session
    if ((await payableOrders(book)) > 0) {
      throw new OwnNo('closing_waits', 'An order can still be paid; it runs out within the hour.')
    }
    if (unspent === 'refund') {
      for (const { order } of await refundable(book)) await giveBack(session, order)
    }
    await accounts.close(session, unspent)
  }

  async function giveBack({ book, account }: Session, order: OrderId): Promise<void> {
    const before = await payments.refunds(book)
    const failed = before.filter((one) => one.order === order && one.state === 'canceled').length
    const refund = await payments.requestRefund({
      order,
      book,
      // A second click finds the first one's refund, unless the bank has refused that.
      attempt: `closing-${failed}`,
      by: account,
      reason: 'The owner closed the account.',
    })
    // Else closing would give up what could not be given back.
    if (refund.state !== 'canceled') return
    throw new OwnNo('refund_refused', 'The payment provider refused to give the money back.')
  }

  const routes: Table<'GET /api/closing' | 'POST /api/closing'> = {
    'GET /api/closing': { session: 'needed', run: ({ session }) => preview(session.book) },
    'POST /api/closing': {
      session: 'fresh',
      allowance: CLOSING,
      body: z.object({ unspent: z.enum(['refund', 'forfeit']) }),
      async run({ session, body }) {
        await close(session, body.unspent)
        return { closed: true }
      },
    },
  }
  return { routes, payableOrders }
}

export type Closings = ReturnType<typeof createClosings>
