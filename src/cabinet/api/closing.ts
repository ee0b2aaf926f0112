// Closing an account, and the preview of what happens to its credits. Refunds are requested first
// and one by one, because each needs the payment provider; the account closes when all of them have
// been requested. A repeated click after a failure continues where the first one stopped.
import { z } from 'zod'
import type { Accounts, Session } from '../../accounts/accounts.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { OrderView, Payments } from '../../payments/payments.ts'
import type { Clock } from '../../platform/clock.ts'
import { type BookId, isOrderId, type OrderId } from '../../platform/ids.ts'
import { type Credits, micro } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type * as contract from '../contract/contract.ts'
import { CabinetRefusal } from '../refusals.ts'
import { creditsOf } from './amounts.ts'
import type { RouteTable } from './routes.ts'

export type ClosingOptions = {
  readonly clock: Clock
  readonly accounts: Pick<Accounts, 'close'>
  readonly ledger: Pick<Ledger, 'balance' | 'lots'>
  readonly payments: Pick<Payments, 'orders' | 'refundable' | 'requestRefund' | 'refunds'>
}

/** Payable orders are younger than 70 minutes, so they are among the newest. */
const ORDERS_READ_MAX = 50
const CLOSE_ALLOWANCE = { max: 10, seconds: 3_600 }

export function createClosingRoutes({ clock, accounts, ledger, payments }: ClosingOptions) {
  /** How many orders may still be paid. None may remain: a closed account cannot use credits. */
  async function payableOrders(book: BookId): Promise<number> {
    const orders = await payments.orders({ book, before: null, limit: ORDERS_READ_MAX })
    return orders.filter(isPayable).length
  }

  function isPayable({ state, payableUntil }: OrderView): boolean {
    if (state === 'created') return true
    return state === 'pending' && (payableUntil?.getTime() ?? Infinity) > clock.nowMs()
  }

  /** The orders that can be refunded, and how much of each. */
  async function refundable(book: BookId) {
    const found: { order: OrderId; amountKopecks: Kopecks; credits: Credits }[] = []
    for (const { kind, ref, unspent } of await ledger.lots(book)) {
      if (kind !== 'purchase' || unspent === 0n || !isOrderId(ref)) continue
      const { why, amountKopecks, credits } = await payments.refundable(ref, book)
      if (why === null) found.push({ order: ref, amountKopecks, credits })
    }
    return found
  }

  async function preview(book: BookId): Promise<contract.ClosingPreview> {
    const [payable, found, balance] = await Promise.all([
      payableOrders(book),
      refundable(book),
      ledger.balance(book),
    ])
    const available = balance?.available ?? micro(0n)
    const refundedCredits = found.reduce((sum, one) => sum + one.credits, 0n)
    const rest = available > refundedCredits ? available - refundedCredits : 0n
    return {
      isPossible: payable === 0,
      payableOrders: payable,
      available: creditsOf(available),
      refundKopecks: String(found.reduce((sum, one) => sum + one.amountKopecks, 0n)),
      forfeited: creditsOf(micro(rest)),
    }
  }

  async function close(session: Session, unspent: contract.UnspentChoice): Promise<void> {
    const { book } = session
    if ((await payableOrders(book)) > 0) {
      throw new CabinetRefusal(
        'closing_waits',
        'An order can still be paid; it runs out within the hour.',
      )
    }
    if (unspent === 'refund') {
      for (const { order } of await refundable(book)) await refundOrder(session, order)
    }
    await accounts.close(session, unspent)
  }

  async function refundOrder({ book, account }: Session, order: OrderId): Promise<void> {
    const before = await payments.refunds(book)
    const failed = before.filter((one) => one.order === order && one.state === 'canceled').length
    const refund = await payments.requestRefund({
      order,
      book,
      // A second click finds the refund of the first one, unless the bank has refused it.
      attempt: `closing-${failed}`,
      by: account,
      reason: 'The owner closed the account.',
    })
    if (refund.state !== 'canceled') return
    // Do not close the account: that would forfeit what could not be refunded.
    throw new CabinetRefusal(
      'refund_refused',
      'The payment provider refused to give the money back.',
    )
  }

  const routes: RouteTable<'GET /api/closing' | 'POST /api/closing'> = {
    'GET /api/closing': { session: 'required', run: ({ session }) => preview(session.book) },
    'POST /api/closing': {
      session: 'fresh',
      allowance: CLOSE_ALLOWANCE,
      body: z.object({ unspent: z.enum(['refund', 'forfeit']) }),
      async run({ session, body }) {
        await close(session, body.unspent)
        return { closed: true }
      },
    },
  }
  return { routes, payableOrders }
}

export type ClosingRoutes = ReturnType<typeof createClosingRoutes>
