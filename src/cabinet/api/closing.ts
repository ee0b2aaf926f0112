// Closing an account, and the preview of what happens to its credits. Refunds are requested first
// and one by one, because each needs the payment provider; the account closes when all of them have
// been requested. A repeated click after a failure continues where the first one stopped.
import { z } from 'zod'
import type { Accounts, Session } from '../../accounts/accounts.ts'
import type { Book, Ledger } from '../../ledger/ledger.ts'
import type { OrderView, Payments, Refund } from '../../payments/payments.ts'
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
  readonly accounts: Pick<Accounts, 'close' | 'requireClosable'>
  readonly ledger: Pick<Ledger, 'balance' | 'lots'>
  readonly payments: Pick<
    Payments,
    'orders' | 'refundable' | 'requestRefund' | 'refunds' | 'refundsLeft'
  >
}

/** Payable orders are younger than 70 minutes, so they are among the newest. */
const ORDERS_READ_MAX = 50
const ATTEMPT = 'closing-'
/** As long as a payer can use a link of the provider. */
const PAYER_TERM_MS = 3_600_000
const CLOSE_ALLOWANCE = { max: 10, seconds: 3_600 }

export function createClosingRoutes({ clock, accounts, ledger, payments }: ClosingOptions) {
  /** How many orders may still be paid. None may remain: a closed account cannot use credits. */
  async function payableOrders(book: BookId): Promise<number> {
    const orders = await payments.orders({ book, before: null, limit: ORDERS_READ_MAX })
    return orders.filter(isPayable).length
  }

  /**
   * An order without an answer of the provider counts for the payer's hour only: its link reached
   * nobody, and money that comes all the same goes back.
   */
  function isPayable({ state, payableUntil, createdAt }: OrderView): boolean {
    if (state === 'created') return createdAt.getTime() + PAYER_TERM_MS > clock.nowMs()
    return state === 'pending' && (payableUntil?.getTime() ?? Infinity) > clock.nowMs()
  }

  /** The orders that can be refunded, how much of each, and how many need a person for it. */
  async function refundable(book: BookId) {
    const found: { order: OrderId; amountKopecks: Kopecks; credits: Credits }[] = []
    let forSupport = 0
    for (const { kind, ref, unspent } of await ledger.lots(book)) {
      if (kind !== 'purchase' || unspent === 0n || !isOrderId(ref)) continue
      const { why, amountKopecks, credits } = await payments.refundable(ref, book)
      if (why === null) found.push({ order: ref, amountKopecks, credits })
      if (why === 'budget' || why === 'promo') forSupport += 1
    }
    return { found, forSupport }
  }

  async function preview(book: BookId): Promise<contract.ClosingPreview> {
    const [payable, { found }, balance] = await Promise.all([
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
    // Before the first refund: a refusal after it would leave the account half closed.
    await accounts.requireClosable(session)
    if ((await payableOrders(book)) > 0) {
      throw new CabinetRefusal(
        'closing_waits',
        'An order can still be paid; it runs out within the hour.',
      )
    }
    requireNoRequests(await ledger.balance(book))
    if (unspent === 'refund') {
      const { found, forSupport } = await refundable(book)
      // Refused before the first refund: closing would forfeit what only a person may refund.
      if (forSupport > 0 || found.length > (await payments.refundsLeft(book))) {
        throw new CabinetRefusal(
          'refund_needs_support',
          'Support decides about the refunds of this account; write to support first.',
        )
      }
      for (const { order } of found) await refundOrder(session, order)
    }
    // The e-mail about the closing promises a refund, which an earlier click may have requested.
    const isRefunded = (await payments.refunds(book)).some(isOfClosing)
    await accounts.close(session, isRefunded ? unspent : 'forfeit')
  }

  const isOfClosing = ({ attempt, state }: Refund) =>
    attempt.startsWith(ATTEMPT) && state !== 'canceled'

  async function refundOrder({ book, account }: Session, order: OrderId): Promise<void> {
    const before = await payments.refunds(book)
    const failed = before.filter((one) => one.order === order && one.state === 'canceled').length
    const refund = await payments.requestRefund({
      order,
      book,
      // A second click finds the refund of the first one, unless the bank has refused it.
      attempt: `${ATTEMPT}${failed}`,
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
      session: 'required',
      action: 'account.close',
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

/** What a request leaves of its credits would come back into a closed account. */
export function requireNoRequests(balance: Pick<Book, 'held'> | undefined): void {
  if ((balance?.held ?? 0n) === 0n) return
  throw new CabinetRefusal('closing_waits', 'A request is running; close the account after it.')
}
