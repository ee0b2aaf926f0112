// op disputes: payments that the payer disputes at the bank. The provider reports them by post, so
// an operator enters their beginning and their end here.
import type { Dispute, DisputeInput } from '../../payments/payments.ts'
import { creditsText } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import {
  formatCredits,
  formatRubles,
  formatTime,
  parsePeriodEnd,
  parseRubles,
} from '../desk/amounts.ts'
import { EXIT_DONE } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { orderLines, requirePurchase } from '../desk/order.ts'

export async function listDisputes(desk: Desk): Promise<number> {
  const disputes = await desk.modules.payments.disputes()
  const nowMs = desk.modules.clock.nowMs()
  const lines = disputes.flatMap((one) => disputeLines(one, nowMs))
  desk.say(
    { disputes: disputes.map(disputeJson) },
    lines.length === 0 ? ['nobody went to the bank'] : lines,
  )
  return EXIT_DONE
}

export async function openDispute(desk: Desk, text: string): Promise<number> {
  const asked = desk.read('amount', parseRubles, 'roubles, such as 500.00')
  const until = desk.read('until', parsePeriodEnd, 'a day, such as 2026-12-31')
  const isBlocking = desk.flag('block')
  return decide(
    desk,
    text,
    {
      act: 'open',
      mustBlock: isBlocking,
      ...(asked !== undefined && { amountKopecks: asked }),
      ...(until !== undefined && { answerBy: until }),
    },
    [
      ...(asked === undefined ? [] : [`  the payer disputes ${formatRubles(asked)} of it`]),
      until === undefined
        ? '  the bank is answered within five days: --until says otherwise'
        : `  the bank accepts evidence until ${formatTime(until)}`,
      '  what is unspent of the pack is set aside until the bank has decided',
      ...(isBlocking ? ['  the whole account stops: requests are refused with 403'] : []),
    ],
  )
}

export function winDispute(desk: Desk, text: string): Promise<number> {
  return decide(desk, text, { act: 'won' }, ['  the money stays ours; the credits are free again'])
}

export function loseDispute(desk: Desk, text: string): Promise<number> {
  return decide(desk, text, { act: 'lost' }, [
    '  the bank took the money: the pack is taken back, and what was spent of it is owed',
  ])
}

type Act = Omit<Extract<DisputeInput, { act: 'open' }>, 'order' | 'by' | 'note'> | Ended
type Ended = { readonly act: 'won' | 'lost' }

async function decide(desk: Desk, text: string, act: Act, plan: string[]): Promise<number> {
  const { order } = await requirePurchase(desk, text)
  const note = desk.text('note') ?? ''
  return desk.actWithOwnTransactions({
    plan: [...orderLines(order), ...plan, '  the owner gets an e-mail'],
    typeAgain: order.email,
    work: () => desk.modules.payments.dispute({ order: order.id, by: desk.by, note, ...act }),
    report: (dispute) => ({
      result: { dispute, order: order.id, state: act.act },
      line: `dispute ${dispute}: ${act.act}`,
    }),
  })
}

export function disputeJson(dispute: Dispute) {
  return {
    ...dispute,
    amount: rublesText(dispute.amount),
    reserved: creditsText(dispute.reserved),
    taken: creditsText(dispute.taken),
  }
}

/** `nowMs`: a deadline that has passed is marked. */
export function disputeLines(dispute: Dispute, nowMs: number): string[] {
  const { id, order, state, amount, reserved, taken, openedAt, answerBy } = dispute
  const credits =
    state === 'lost' ? `${formatCredits(taken)} taken` : `${formatCredits(reserved)} set aside`
  return [
    `dispute ${id}  ${state}`,
    ...(state === 'opened' ? [`  ${deadlineText(answerBy, nowMs)}`] : []),
    `  ${formatRubles(amount)}, ${credits}, since ${formatTime(openedAt)}`,
    `  ${order}`,
  ]
}

function deadlineText(answerBy: Date, nowMs: number): string {
  const isOver = answerBy.getTime() <= nowMs
  return isOver ? `OVERDUE since ${formatTime(answerBy)}` : `answer by ${formatTime(answerBy)}`
}
