// op refund: refunds the unspent part of an order, or less. The refund policy does not apply to
// operators. The payments module posts the refund until the provider has confirmed it; the same
// reference refunds once.
import type { Refund } from '../../payments/payments.ts'
import { randomText } from '../../platform/ids.ts'
import { rublesText } from '../../units/kopecks.ts'
import { formatCredits, formatRubles, parseRubles } from '../desk/amounts.ts'
import { commandError, EXIT_DONE } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { orderLines, requirePurchase } from '../desk/order.ts'

const NOTHING = {
  not_credited: 'it was never credited',
  disputed: 'it is disputed at the bank',
  policy: 'the refund rules are against it',
  spent: 'everything of it was spent',
  refunded: 'everything of it was refunded or spent',
  budget: 'its owner had too many refunds',
  promo: 'it opened a promo code',
}

export async function refund(desk: Desk, text: string): Promise<number> {
  const { payments } = desk.modules
  const { order, refunds } = await requirePurchase(desk, text)
  const asked = desk.read('amount', parseRubles, 'roubles, such as 500.00')
  const attempt = `op ${desk.text('ref') ?? randomText(9)}`
  const same = refunds.find((one) => one.attempt === attempt)
  if (same !== undefined) {
    desk.say({ isDone: false, ...refundResult(same) }, [
      `${same.id} has this reference: ${same.state}`,
    ])
    return EXIT_DONE
  }
  const rest = await payments.refundable(order.id)
  if (rest.why !== null)
    throw commandError(`${order.id}: nothing to give back, ${NOTHING[rest.why]}`)
  const amount = asked ?? rest.amountKopecks
  const reason = desk.text('reason') ?? ''
  const what =
    `  ${formatRubles(amount)} goes back through ${order.provider}; ` +
    'its credits are set aside now'
  return desk.actWithOwnTransactions({
    plan: [
      ...orderLines(order),
      `  unspent: ${formatCredits(rest.credits)} credits, ${formatRubles(rest.amountKopecks)}`,
      what,
      `  reason: ${reason}`,
    ],
    // What is unspent changes with every request of the customer.
    compared: [...orderLines(order), what, reason],
    needs: { kind: 'refund', size: amount },
    moves: { kind: 'kopecks', amount },
    typeAgain: formatRubles(amount),
    work: () =>
      payments.requestRefund({
        ...{ order: order.id, attempt, by: desk.by, reason },
        // What was shown, counted and approved; requests that end meanwhile make more free.
        ...(asked === undefined ? { mostKopecks: amount } : { amountKopecks: asked }),
      }),
    report: (made) => ({
      result: refundResult(made),
      line: `${made.id} of ${formatRubles(made.amount)} is ${made.state}`,
    }),
  })
}

function refundResult({
  id,
  order,
  state,
  amount,
}: Pick<Refund, 'id' | 'order' | 'state' | 'amount'>) {
  return { refund: id, order, state, amount: rublesText(amount) }
}
