// Closing an account: what it would do, how far it is, and what its owner may still decide. The
// worker takes the steps (accounts/closing/process.ts); these routes begin, show and stop them.
import { z } from 'zod'
import type { Accounts, Session } from '../../accounts/accounts.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Payments } from '../../payments/payments.ts'
import type { RefundId } from '../../platform/ids.ts'
import { micro } from '../../units/credits.ts'
import type * as contract from '../contract/closing.ts'
import { CabinetRefusal } from '../refusals.ts'
import { creditsOf, timeOf, timeOrNull } from './amounts.ts'
import type { RouteTable } from './routes.ts'

export type ClosingOptions = {
  readonly accounts: Pick<Accounts, 'closings'>
  readonly ledger: Pick<Ledger, 'balance'>
  readonly payments: Pick<Payments, 'closings'>
}

const CLOSE_ALLOWANCE = { max: 10, seconds: 3_600 }
/** Each asks the bank once more; it refuses for the same reason within the hour. */
const AGAIN_ALLOWANCE = { max: 20, seconds: 3_600 }

export function closingRoutes({ accounts, ledger, payments }: ClosingOptions) {
  async function answer(session: Session): Promise<contract.Closing> {
    const process = await processOf(session)
    return { process, preview: process === null ? await previewOf(session) : null }
  }

  async function previewOf({ book }: Session): Promise<contract.ClosingPreview> {
    const [payableOrders, refunds, balance] = await Promise.all([
      payments.closings.payableOrders(book),
      payments.closings.preview(book),
      ledger.balance(book),
    ])
    const available = balance?.available ?? micro(0n)
    const rest = available > refunds.credits ? available - refunds.credits : 0n
    return {
      available: creditsOf(available),
      held: creditsOf(balance?.held ?? micro(0n)),
      payableOrders,
      refundKopecks: String(refunds.amount),
      reviewedKopecks: String(refunds.forPerson),
      forfeited: creditsOf(micro(rest)),
    }
  }

  async function processOf({ account, book }: Session): Promise<contract.ClosingProcess | null> {
    const closing = await accounts.closings.find(account)
    if (closing === undefined) return null
    const [payableOrders, disputed, refunds, balance] = await Promise.all([
      payments.closings.payableOrders(book),
      payments.closings.disputed(closing),
      payments.closings.list(closing),
      ledger.balance(book),
    ])
    const { step, unspent, begunBy } = closing
    return {
      // `closed` and `stopped` have ended: nothing is under way then.
      step: step as contract.ClosingProcess['step'],
      ...{ unspent, begunBy, payableOrders, disputedOrders: disputed.length },
      begunAt: timeOf(closing.begunAt),
      drainedAt: timeOrNull(closing.drainedAt),
      refundedAt: timeOrNull(closing.refundedAt),
      canStop: step === 'closing' && begunBy === 'owner',
      held: creditsOf(balance?.held ?? micro(0n)),
      available: creditsOf(balance?.available ?? micro(0n)),
      refunds: refunds.map(({ id, order, amount, credits, state, at, againAt }) => ({
        ...{ id, order, state },
        amountKopecks: String(amount),
        credits: creditsOf(credits),
        at: timeOf(at),
        againAt: timeOrNull(againAt),
      })),
    }
  }

  const routes: RouteTable<
    | 'GET /api/closing'
    | 'POST /api/closing'
    | 'POST /api/closing/stop'
    | 'POST /api/closing/refunds/:id/again'
  > = {
    'GET /api/closing': { session: 'required', run: ({ session }) => answer(session) },
    'POST /api/closing': {
      session: 'required',
      action: 'account.close',
      allowance: CLOSE_ALLOWANCE,
      body: z.object({ unspent: z.enum(['refund', 'forfeit']) }),
      async run({ session, body }) {
        await accounts.closings.begin(session, body.unspent)
        return answer(session)
      },
    },
    // Needs no proof: it ends nothing, and a thief gains nothing by it.
    'POST /api/closing/stop': {
      session: 'required',
      allowance: CLOSE_ALLOWANCE,
      body: z.object({}),
      async run({ session }) {
        await accounts.closings.stop(session)
        return answer(session)
      },
    },
    'POST /api/closing/refunds/:id/again': {
      session: 'required',
      allowance: AGAIN_ALLOWANCE,
      body: z.object({}),
      async run({ session, params }) {
        if (!(await payments.closings.askAgain(session.book, params.id as RefundId))) {
          throw new CabinetRefusal('refund_not_waiting', 'This refund does not wait for a retry.')
        }
        await accounts.closings.setDue(session.account)
        return answer(session)
      },
    },
  }
  return routes
}
