// op disputes: payers who went to their bank. The provider tells it by letter, so it is entered
// here, and how it ended as well.
import type { Dispute, DisputeAsk } from '../../payments/payments.ts'
import { creditsText } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { Desk } from '../desk/desk.ts'
import { creditsShown, kopecksFrom, rublesShown, timeShown } from '../desk/figures.ts'
import { EXIT_DONE } from '../desk/halt.ts'
import { purchaseOf, soldLines } from '../desk/order.ts'

export async function listDisputes(desk: Desk): Promise<number> {
  const disputes = await desk.rooms.payments.disputes()
  const lines = disputes.flatMap(disputeLines)
  desk.say(
    { disputes: disputes.map(disputePlain) },
    lines.length === 0 ? ['nobody went to the bank'] : lines,
  )
  return EXIT_DONE
}

export async function openDispute(desk: Desk, text: string): Promise<number> {
  const asked = desk.read('amount', kopecksFrom, 'roubles, such as 500.00')
  const isBlocking = desk.flag('block')
  return decide(
    desk,
    text,
    {
      act: 'open',
      mustBlock: isBlocking,
      ...(asked !== undefined && { amountKopecks: asked }),
    },
    [
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

type Act = Omit<Extract<DisputeAsk, { act: 'open' }>, 'order' | 'by' | 'note'> | Ended
type Ended = { readonly act: 'won' | 'lost' }

async function decide(desk: Desk, text: string, act: Act, plan: string[]): Promise<number> {
  const { order } = await purchaseOf(desk, text)
  const note = desk.text('note') ?? ''
  return desk.actApart({
    plan: [...soldLines(order), ...plan, '  the owner is told by letter'],
    again: order.email,
    work: () => desk.rooms.payments.dispute({ order: order.id, by: desk.by, note, ...act }),
    tell: (dispute) => ({
      result: { dispute, order: order.id, state: act.act },
      line: `dispute ${dispute}: ${act.act}`,
    }),
  })
}

export function disputePlain(dispute: Dispute) {
  return {
    ...dispute,
    amount: rublesText(dispute.amount),
    reserved: creditsText(dispute.reserved),
    taken: creditsText(dispute.taken),
  }
}

export function disputeLines(dispute: Dispute): string[] {
  const { id, order, state, amount, reserved, taken, openedAt } = dispute
  const credits =
    state === 'lost' ? `${creditsShown(taken)} taken` : `${creditsShown(reserved)} set aside`
  return [
    `dispute ${id}  ${state}`,
    `  ${rublesShown(amount)}, ${credits}, since ${timeShown(openedAt)}`,
    `  ${order}`,
  ]
}
