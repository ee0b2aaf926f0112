// The provider's amounts: text with a dot and two digits in JSON, integer kopecks in here.
import { invalid, missing } from './errors.ts'
import { isObject } from './json.ts'
import type { Amount } from './objects.ts'

/** Kopecks of a text such as "1300.00"; null for any other shape. */
export function parseKopecks(value: string): bigint | null {
  // Eleven digits are enough for the provider's largest limits and exclude absurd texts.
  const found = /^(\d{1,11})\.(\d{2})$/.exec(value)
  return found === null ? null : BigInt(`${found[1]}${found[2]}`)
}

/** Kopecks of an amount in a request, or the error that names its wrong member. */
export function readAmount(amount: unknown, parameter: string): bigint {
  if (amount === undefined) throw missing(parameter)
  if (!isObject(amount)) throw invalid(parameter, 'Amount is not an object')
  if (amount.currency !== 'RUB') throw invalid(`${parameter}.currency`, 'Unsupported currency')
  const kopecks = typeof amount.value === 'string' ? parseKopecks(amount.value) : null
  if (kopecks === null) throw invalid(`${parameter}.value`, 'Invalid amount format')
  return kopecks
}

export function amountOf(kopecks: bigint): Amount {
  const value = `${kopecks / 100n}.${String(kopecks % 100n).padStart(2, '0')}`
  return { value, currency: 'RUB' }
}

// Thousandths of the sum: the provider's public tariffs. VAT comes on top of its commission.
const commissionMille = { bank_card: 35n, sbp: 7n } as const
const vatPercent = 22n

/** What reaches the shop: the sum less the commission and its VAT, each rounded up. */
export function incomeOf(kopecks: bigint, method: keyof typeof commissionMille): bigint {
  const commission = (kopecks * commissionMille[method] + 999n) / 1000n
  const vat = (commission * vatPercent + 99n) / 100n
  return kopecks - commission - vat
}
