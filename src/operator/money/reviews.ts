// op reviews: payments that differ from their order. An operator credits, refunds or dismisses
// each, once, with a note.
import type { Review, ReviewInput } from '../../payments/payments.ts'
import { nearest } from '../../platform/nearest.ts'
import { rublesText } from '../../units/kopecks.ts'
import { formatRubles, formatTime, parseCount } from '../desk/amounts.ts'
import { commandError, EXIT_DONE, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'

const DECISIONS = {
  credit: 'the pack is credited as it was sold',
  refund: 'all of the money goes back, and nothing is credited',
  dismiss: 'nothing is credited and nothing goes back',
} satisfies Record<ReviewInput['decision'], string>

/** Above every limit of the settings. */
const UNKNOWN_SUM = 1n << 62n

export async function listReviews(desk: Desk): Promise<number> {
  const reviews = await desk.modules.payments.reviewQueue()
  const lines = reviews.flatMap(reviewLines)
  desk.say(
    { reviews: reviews.map(reviewJson) },
    lines.length === 0 ? ['nothing waits for a person'] : lines,
  )
  return EXIT_DONE
}

export async function resolveReview(desk: Desk, number: string, word: string): Promise<number> {
  const id = parseCount(number)
  if (id === undefined) throw usageError(`${number} is no number of a review; op reviews has them`)
  const decision = decisionOf(word)
  const { payments } = desk.modules
  const review = (await payments.reviewQueue()).find((one) => one.id === BigInt(id))
  if (review === undefined)
    throw commandError(`no review ${id} waits; op reviews lists those that do`)
  const note = desk.text('note') ?? ''
  return desk.actWithOwnTransactions({
    plan: [...reviewLines(review), `  ${DECISIONS[decision]}`, `  note: ${note}`],
    ...limitsOf(review, decision, await priceOf(desk, review)),
    ...(decision !== 'dismiss' && {
      typeAgain: review.amount === null ? String(id) : formatRubles(review.amount),
    }),
    work: () => payments.resolveReview({ id: review.id, decision, by: desk.by, note }),
    report: () => ({
      result: { review: review.id, decision },
      line: `review ${review.id} is decided: ${decision}`,
    }),
  })
}

/** What the pack of a review's order costs; nothing without an order. */
async function priceOf({ modules }: Desk, { order }: Review): Promise<bigint> {
  if (order === null) return 0n
  return (await modules.payments.search(order))?.order?.price ?? 0n
}

/**
 * A review without a readable sum counts as any sum. To credit one is to give the whole pack, also
 * for a smaller payment.
 */
function limitsOf({ amount }: Review, decision: ReviewInput['decision'], price: bigint) {
  if (decision === 'dismiss') return {}
  const paid = amount ?? UNKNOWN_SUM
  const size = decision === 'credit' && price > paid ? price : paid
  const needs = { kind: 'review', size } as const
  if (decision === 'credit' || amount === null) return { needs }
  return { needs, moves: { kind: 'kopecks', amount } as const }
}

function decisionOf(word: string): ReviewInput['decision'] {
  const names = Object.keys(DECISIONS) as ReviewInput['decision'][]
  const decision = names.find((name) => name === word)
  if (decision !== undefined) return decision
  const meant = nearest(word, names)
  throw usageError(meant === undefined ? `say ${names.join(', ')}` : `did you mean ${meant}?`)
}

export function reviewJson(review: Review) {
  const amount = review.amount === null ? null : rublesText(review.amount)
  return { ...review, amount }
}

export function reviewLines(review: Review): string[] {
  const { id, reason, detail, order, paymentId, amount, hasMoney, openedAt, decision } = review
  const sum = amount === null ? 'an unreadable sum' : formatRubles(amount)
  const end = decision === null ? '' : `, ${decision} was decided`
  return [
    `review ${id}  ${reason}, ${sum} ${hasMoney ? 'paid' : 'not paid yet'}${end}`,
    `  ${detail}`,
    `  since ${formatTime(openedAt)}, payment ${paymentId}`,
    ...(order === null ? [] : [`  ${order}`]),
  ]
}
