// op orders: one order that hangs. The plan shows what the provider says about its payment now;
// done, that is applied as the triggers of payments do it. A paid order is then credited, once.
import type { FoundOrder, Payments } from '../../payments/payments.ts'
import { formatMinute, formatRubleCell, formatTime } from '../desk/amounts.ts'
import { EXIT_DONE } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { orderLines, requirePurchase } from '../desk/order.ts'
import { tableOf } from '../desk/table.ts'

const COLUMNS = [
  { head: 'made, UTC' },
  { head: 'order' },
  { head: 'RUB', side: 'right' },
  { head: 'state' },
  { head: 'paid' },
] as const

export async function listStuckOrders(desk: Desk): Promise<number> {
  const orders = await desk.modules.payments.stuckOrders()
  const rows = orders.map(({ id, state, price, createdAt, paidAt }) => [
    ...[formatMinute(createdAt), id, formatRubleCell(price), state],
    paidAt === null ? 'no' : formatMinute(paidAt),
  ])
  desk.say(
    { orders },
    rows.length === 0 ? ['no order hangs'] : tableOf(COLUMNS, rows, desk.columns),
  )
  return EXIT_DONE
}

export async function checkOrder(desk: Desk, text: string): Promise<number> {
  const { payments } = desk.modules
  const { order } = await requirePurchase(desk, text)
  const answer = await payments.askProvider(order.id)
  return desk.actWithOwnTransactions({
    plan: [
      ...orderLines(order),
      `  here: ${order.state}${order.creditedAt === null ? ', not credited' : ''}`,
      `  ${providerText(answer)}`,
      `  ${effectText(order, answer)}`,
    ],
    work: () => payments.applyProvider(order.id),
    report: ({ state }) => ({
      result: { order: order.id, before: order.state, state },
      line: `${order.id} is ${state}${state === order.state ? ', as before' : ''}`,
    }),
  })
}

type ProviderAnswer = Awaited<ReturnType<Payments['askProvider']>>

function providerText(answer: ProviderAnswer): string {
  if (answer.kind === 'absent') return 'the provider has no payment of this order'
  if (answer.kind !== 'ok') {
    return `the provider did not say: ${'why' in answer ? answer.why : answer.kind}`
  }
  const { status, amountText, currency, capturedAt, paymentId } = answer.value
  const when = capturedAt === null ? '' : ` at ${formatTime(capturedAt)}`
  return `the provider: ${status}${when}, ${amountText} ${currency}, payment ${paymentId}`
}

function effectText({ creditedAt }: FoundOrder, answer: ProviderAnswer): string {
  if (creditedAt !== null) return 'it is credited already; unknown refunds are recorded'
  if (answer.kind !== 'ok') return 'nothing changes now'
  if (answer.value.status === 'canceled') return 'it ends as canceled; nothing was paid'
  if (answer.value.status !== 'succeeded') return 'nothing changes until it is paid'
  return 'it is credited if amount, currency and shop agree; else it goes to review'
}
