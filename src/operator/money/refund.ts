// op refund: gives back what is unspent of an order, or a part of it. The policy binds owners, not
// operators. The provider is asked by the payments room, again and again until it has said; the
// same reference asks once.
import type { Refund } from '../../payments/payments.ts'
import { randomText } from '../../platform/ids.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { Desk } from '../desk/desk.ts'
import { creditsShown, kopecksFrom, rublesShown } from '../desk/figures.ts'
import { absent, EXIT_DONE } from '../desk/halt.ts'
import { purchaseOf, soldLines } from '../desk/order.ts'

const NOTHING = {
  not_credited: 'it was never credited',
  disputed: 'it is disputed at the bank',
  policy: 'the refund rules are against it',
  spent: 'everything of it was spent',
}

export async function refund(desk: Desk, text: string): Promise<number> {
  const { payments } = desk.rooms
  const { order, refunds } = await purchaseOf(desk, text)
  const asked = desk.read('amount', kopecksFrom, 'roubles, such as 500.00')
  const attempt = `op ${desk.text('ref') ?? randomText(9)}`
  const same = refunds.find((one) => one.attempt === attempt)
  if (same !== undefined) {
    desk.say({ isDone: false, ...plain(same) }, [`${same.id} has this reference: ${same.state}`])
    return EXIT_DONE
  }
  const rest = await payments.refundable(order.id)
  if (rest.why !== null) throw absent(`${order.id}: nothing to give back, ${NOTHING[rest.why]}`)
  const amount = asked ?? rest.amountKopecks
  const reason = desk.text('reason') ?? ''
  return desk.actApart({
    plan: [
      ...soldLines(order),
      `  unspent: ${creditsShown(rest.credits)} credits, ${rublesShown(rest.amountKopecks)}`,
      `  ${rublesShown(amount)} goes back through ${order.provider}; its credits are set aside now`,
      `  reason: ${reason}`,
    ],
    again: rublesShown(amount),
    work: () =>
      payments.requestRefund({
        ...{ order: order.id, attempt, by: desk.by, reason },
        ...(asked !== undefined && { amountKopecks: asked }),
      }),
    tell: (made) => ({
      result: plain(made),
      line: `${made.id} of ${rublesShown(made.amount)} is ${made.state}`,
    }),
  })
}

function plain({ id, order, state, amount }: Pick<Refund, 'id' | 'order' | 'state' | 'amount'>) {
  return { refund: id, order, state, amount: rublesText(amount) }
}
