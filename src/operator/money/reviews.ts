// op reviews: money that waits for a person, because its facts differ from the order's. Credited,
// given back or dismissed, once, with a note.
import type { Review, ReviewAsk } from '../../payments/payments.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { Desk } from '../desk/desk.ts'
import { countFrom, rublesShown, timeShown } from '../desk/figures.ts'
import { absent, EXIT_DONE, mistake } from '../desk/halt.ts'
import { nearest } from '../desk/nearest.ts'

const DECISIONS = {
  credit: 'the pack is credited as it was sold',
  refund: 'all of the money goes back, and nothing is credited',
  dismiss: 'nothing is credited and nothing goes back',
} satisfies Record<ReviewAsk['decision'], string>

export async function listReviews(desk: Desk): Promise<number> {
  const reviews = await desk.rooms.payments.reviewQueue()
  const lines = reviews.flatMap(reviewLines)
  desk.say(
    { reviews: reviews.map(reviewPlain) },
    lines.length === 0 ? ['nothing waits for a person'] : lines,
  )
  return EXIT_DONE
}

export async function resolveReview(desk: Desk, number: string, word: string): Promise<number> {
  const id = countFrom(number)
  if (id === undefined) throw mistake(`${number} is no number of a review; op reviews has them`)
  const decision = decisionOf(word)
  const { payments } = desk.rooms
  const review = (await payments.reviewQueue()).find((one) => one.id === BigInt(id))
  if (review === undefined) throw absent(`no review ${id} waits; op reviews lists those that do`)
  const note = desk.text('note') ?? ''
  return desk.actApart({
    plan: [...reviewLines(review), `  ${DECISIONS[decision]}`, `  note: ${note}`],
    ...(decision !== 'dismiss' && {
      again: review.amount === null ? String(id) : rublesShown(review.amount),
    }),
    work: () => payments.resolveReview({ id: review.id, decision, by: desk.by, note }),
    tell: () => ({
      result: { review: review.id, decision },
      line: `review ${review.id} is decided: ${decision}`,
    }),
  })
}

function decisionOf(word: string): ReviewAsk['decision'] {
  const names = Object.keys(DECISIONS) as ReviewAsk['decision'][]
  const decision = names.find((name) => name === word)
  if (decision !== undefined) return decision
  const meant = nearest(word, names)
  throw mistake(meant === undefined ? `say ${names.join(', ')}` : `did you mean ${meant}?`)
}

export function reviewPlain(review: Review) {
  const amount = review.amount === null ? null : rublesText(review.amount)
  return { ...review, amount }
}

export function reviewLines(review: Review): string[] {
  const { id, reason, detail, order, paymentId, amount, hasMoney, openedAt, decision } = review
  const sum = amount === null ? 'an unreadable sum' : rublesShown(amount)
  const end = decision === null ? '' : `, ${decision} was decided`
  return [
    `review ${id}  ${reason}, ${sum} ${hasMoney ? 'paid' : 'not paid yet'}${end}`,
    `  ${detail}`,
    `  since ${timeShown(openedAt)}, payment ${paymentId}`,
    ...(order === null ? [] : [`  ${order}`]),
  ]
}
