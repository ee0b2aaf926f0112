// Ties refunds to the ledger, each minute and all of them: there are few, and a thief of a
// program's database password who inserts one writes its times too. Every refund of a credited
// payment that is not canceled has taken its credits, and the money that went back is worth no more
// than the credits taken for it.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Db } from '../../platform/db/db.ts'
import { creditsText, micro } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import { backingRule, type Findings, type Found } from './findings.ts'
import {
  findingListOpen,
  refundListOfCredited,
  refundListWithheld,
  type TiedRefund,
} from './queries.ts'

/** About 50 ms of reading. */
const PAGE_ORDERS = 500
const FINDINGS_MAX = 1_000
/**
 * What a refund may exceed the worth of its own credits by: the kopecks that refunds of the same
 * order before it were rounded down by. More than ten of them do not happen.
 */
export const ROUNDING_KOPECKS = 10n

export function createRefundTies(options: {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'postings'>
  readonly findings: Findings
}) {
  const { db, findings } = options
  const { postings } = options.ledger

  /** What the ledger has taken for each of these refunds. */
  async function takenFor(refunds: readonly TiedRefund[]): Promise<Map<string, bigint>> {
    // A refund at the provider takes what one that was canceled had reserved: `<it> <canceled>`.
    const later = refunds
      .filter(({ state }) => state === 'canceled')
      .flatMap(({ id, order }) =>
        refunds.filter((one) => one.order === order).map((one) => `${one.id} ${id}`),
      )
    const ids = refunds.map(({ id }) => id)
    const posted = [
      ...(await postings.find('refund', ids)),
      ...(await postings.find('refund_reversal', ids)),
      ...(await postings.find('forced_debit', [...ids, ...later])),
    ]
    const books = new Map(refunds.map(({ id, book }) => [id, book]))
    const taken = new Map<string, bigint>()
    for (const { ref, book, amount } of posted) {
      const id = ref.split(' ')[0] ?? ref
      if (books.get(id) === book) taken.set(id, (taken.get(id) ?? 0n) - amount)
    }
    return taken
  }

  async function check(refunds: readonly TiedRefund[]): Promise<Found[]> {
    const taken = await takenFor(refunds)
    return refunds.flatMap((refund) => {
      const why = whyOf(refund, taken.get(refund.id) ?? 0n)
      if (why === null || refund.state === 'canceled') return []
      const detail = `${rublesText(refund.amount)} RUB of ${refund.order}, ${refund.state}: ${why}`
      return [{ rule: backingRule, subject: refund.id, detail, provider: null }]
    })
  }

  return {
    /** Compares all refunds of credited payments; opens and closes findings. */
    async tieRefunds(): Promise<void> {
      const open = await findingListOpen(db, [backingRule], FINDINGS_MAX)
      const found: Found[] = []
      let after = ''
      for (;;) {
        const refunds = await refundListOfCredited(db, after, PAGE_ORDERS)
        const last = refunds.at(-1)
        if (last === undefined) break
        found.push(...(await check(refunds)))
        after = last.order
      }
      // A refund that was withheld stays a finding until somebody ends its row.
      const subjects = open.map(({ subject }) => subject)
      const withheld = await refundListWithheld(db, subjects)
      const others = subjects.filter((subject) => !withheld.has(subject))
      await findings.clear([backingRule], others, found)
      await findings.open(found)
    },
  }
}

export type RefundTies = ReturnType<typeof createRefundTies>

function whyOf(refund: TiedRefund, taken: bigint): string | null {
  if (refund.order !== refund.refundOrder) return `it is a refund of ${refund.refundOrder}`
  if (refund.isReviewed) return 'a payment that was credited cannot be a review’s'
  const { credits } = refund
  if (taken !== credits)
    return `the ledger took ${creditsText(micro(taken))} of ${creditsText(credits)} credits`
  const { price, orderCredits, allPromised, allTaken } = refund
  const promised = allPromised < price ? allPromised : price
  // A microcredit: what is taken by force is rounded down.
  const isWorth = (promised - ROUNDING_KOPECKS) * orderCredits <= price * (allTaken + 1n)
  return isWorth ? null : `all ${creditsText(allTaken)} credits taken of the order are worth less`
}
