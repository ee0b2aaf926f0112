// Amounts shown as whole credits beside their total. Each amount rounded down by itself would add
// up to less than the total rounded down.
import type { Credits } from '../../src/cabinet/contract/contract.ts'
import { creditsOf, MILLION, millionthsOf } from './decimal.ts'

/**
 * The whole credits of each part, and of the total: the parts add up to it exactly. Each part is
 * the difference of two running totals, so it differs from its exact amount by less than a credit.
 */
export function wholeParts(amounts: readonly Credits[]): {
  readonly parts: readonly Credits[]
  readonly total: Credits
} {
  let exact = 0n
  const parts = amounts.map((amount) => {
    const before = exact / MILLION
    exact += millionthsOf(amount.exact)
    return { whole: String(exact / MILLION - before), exact: amount.exact }
  })
  return { parts, total: creditsOf(exact) }
}
