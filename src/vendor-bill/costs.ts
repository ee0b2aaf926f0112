// Reads the vendor's cost report: what it bills in money, by day. Amounts are decimal texts in
// hundredths of the currency, and stay exact.
import { z } from 'zod'
import { dayText } from '../platform/clock.ts'
import type { Fraction } from '../pricing/pricing.ts'

export type BilledCost = {
  readonly day: string
  readonly currency: string
  /** In units of the currency. */
  readonly amount: Fraction
}

const page = z.looseObject({
  data: z.array(
    z.looseObject({
      starting_at: z.iso.datetime({ offset: true }),
      results: z.array(
        z.looseObject({
          amount: z
            .string()
            .regex(/^\d{1,15}(?:\.\d{1,15})?$/, 'expected an amount such as 123.45'),
          currency: z.string(),
        }),
      ),
    }),
  ),
  has_more: z.boolean(),
})

/** A page or a list of pages. */
export function readCosts(
  report: string,
): { readonly costs: readonly BilledCost[] } | { readonly problems: readonly string[] } {
  const parsed = z.array(page).safeParse(jsonOf(report))
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    return { problems: problems.slice(0, 10) }
  }
  if (parsed.data.at(-1)?.has_more) return { problems: ['the cost report has more pages'] }
  const costs = parsed.data.flatMap(({ data }) =>
    data.flatMap(({ starting_at: from, results }) =>
      results.map(({ amount, currency }) => ({
        ...{ day: dayText(Date.parse(from)), currency, amount: hundredths(amount) },
      })),
    ),
  )
  return { costs }
}

function hundredths(text: string): Fraction {
  const [whole = '0', decimals = ''] = text.split('.')
  return { top: BigInt(whole + decimals), bottom: 100n * 10n ** BigInt(decimals.length) }
}

function jsonOf(report: string): unknown {
  try {
    const json: unknown = JSON.parse(report)
    return Array.isArray(json) ? json : [json]
  } catch {
    return undefined
  }
}
