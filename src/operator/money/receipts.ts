// op receipts: receipts that the provider could not register. The customer has the credits and we
// have the money, but the law wants a receipt. A worker makes a failed one again; when it cannot, a
// person corrects what was wrong, or makes it in the merchant portal and notes that here.
import type { FoundOrder } from '../../payments/payments.ts'
import { rublesText } from '../../units/kopecks.ts'
import { formatRubles, formatTime } from '../desk/amounts.ts'
import { commandError, EXIT_DONE } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { orderLines, requirePurchase } from '../desk/order.ts'

export async function listReceipts(desk: Desk): Promise<number> {
  const receipts = await desk.modules.payments.failedReceipts()
  const lines = receipts.flatMap(({ order, kind, amount, email, creditedAt, error, againAt }) => [
    `${order}  ${kind}  ${formatRubles(amount)}`,
    `  ${email}, credited ${formatTime(creditedAt)}`,
    ...(error === null ? [] : [`  ${error}`]),
    `  ${againAt === null ? 'a person must act' : `made again ${formatTime(againAt)}`}`,
  ])
  desk.say(
    { receipts: receipts.map((one) => ({ ...one, amount: rublesText(one.amount) })) },
    lines.length === 0 ? ['no failed receipt waits'] : lines,
  )
  return EXIT_DONE
}

async function requireFailed(desk: Desk, order: FoundOrder): Promise<void> {
  const failed = await desk.modules.payments.failedReceipts()
  if (order.receiptState === 'canceled' || failed.some((one) => one.order === order.id)) return
  throw commandError(`no receipt of ${order.id} failed`)
}

export async function dismissReceipt(desk: Desk, text: string): Promise<number> {
  const { order } = await requirePurchase(desk, text)
  await requireFailed(desk, order)
  const note = desk.text('note') ?? ''
  return desk.act({
    plan: [
      ...orderLines(order),
      '  its receipt failed; it leaves the list because a person has dealt with it',
      `  note: ${note}`,
    ],
    work: (tx) => desk.modules.payments.decideReceipt(tx, { order: order.id, by: desk.by, note }),
    report: () => ({
      result: { order: order.id },
      line: `the receipt of ${order.id} is dealt with`,
    }),
  })
}

export async function retryReceipts(desk: Desk, text: string): Promise<number> {
  const { order } = await requirePurchase(desk, text)
  await requireFailed(desk, order)
  return desk.act({
    plan: [
      ...orderLines(order),
      '  a worker looks for its failed receipts at the provider',
      '  what is not there is made again',
    ],
    work: (tx) => desk.modules.payments.retryReceipts(tx, order.id),
    report: () => ({
      result: { order: order.id },
      line: `the receipts of ${order.id} are made again within seconds`,
    }),
  })
}
