// op receipts: receipts that the provider could not register. The customer has the credits and we
// have the money, but the law wants a receipt: a person makes it in the merchant portal and notes
// that here. `op orders check` asks the provider whether it was registered meanwhile.
import { rublesText } from '../../units/kopecks.ts'
import { formatRubles, formatTime } from '../desk/amounts.ts'
import { commandError, EXIT_DONE } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { orderLines, requirePurchase } from '../desk/order.ts'

export async function listReceipts(desk: Desk): Promise<number> {
  const receipts = await desk.modules.payments.failedReceipts()
  const lines = receipts.flatMap(({ order, amount, email, creditedAt }) => [
    `${order}  ${formatRubles(amount)}`,
    `  ${email}, credited ${formatTime(creditedAt)}`,
  ])
  desk.say(
    { receipts: receipts.map((one) => ({ ...one, amount: rublesText(one.amount) })) },
    lines.length === 0 ? ['no failed receipt waits'] : lines,
  )
  return EXIT_DONE
}

export async function dismissReceipt(desk: Desk, text: string): Promise<number> {
  const { order } = await requirePurchase(desk, text)
  if (order.receiptState !== 'canceled') throw commandError(`no receipt of ${order.id} failed`)
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
