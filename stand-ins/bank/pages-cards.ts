// The card form: the documented test numbers with their effects, and the parsing of what a payer
// typed. A number may contain spaces or dashes, an expiry date has any usual format.
import type { Card } from './objects.ts'

export type Outcome =
  | { readonly kind: 'paid' }
  | { readonly kind: 'code' }
  | { readonly kind: 'declined'; readonly reason: string }

const paid: Outcome = { kind: 'paid' }
const code: Outcome = { kind: 'code' }
const declined = (reason: string): Outcome => ({ kind: 'declined', reason })

// The provider's own table for its test shop.
export const testCards: ReadonlyMap<string, Outcome> = new Map([
  ['4111111111111111', paid],
  ['5555555555554444', paid],
  ['2202474301322987', paid],
  ['4793128161644804', code],
  ['5555555555554477', code],
  ['2200000000000004', code],
  ['5555555555554600', declined('insufficient_funds')],
  ['2200000000000053', declined('insufficient_funds')],
  ['5555555555554592', declined('3d_secure_failed')],
  ['2200000000000012', declined('3d_secure_failed')],
  ['5555555555554543', declined('card_expired')],
  ['2200000000000038', declined('card_expired')],
  ['5555555555554568', declined('fraud_suspected')],
  ['2200000000000046', declined('fraud_suspected')],
  ['5555555555554527', declined('general_decline')],
  ['5555555555554626', declined('invalid_csc')],
  ['5555555555554618', declined('invalid_card_number')],
  ['5555555555554501', declined('issuer_unavailable')],
  ['5555555555554576', declined('payment_method_limit_exceeded')],
  ['5555555555554550', declined('payment_method_restricted')],
  ['5555555555554535', declined('call_issuer')],
  ['5555555555554584', declined('country_forbidden')],
])

export function outcomeOf(number: string): Outcome {
  return testCards.get(number) ?? declined('invalid_card_number')
}

/** `5555 5555 5555 4444`, as printed on a card. */
export function groupedNumber(number: string): string {
  return number.replaceAll(/\d{4}(?=\d)/g, '$& ')
}

export type CardField = 'number' | 'expiry' | 'cvc'
export type CardTyped = Readonly<Record<CardField, string>>
export type CardProblem =
  | 'numberMissing'
  | 'numberWrong'
  | 'expiryMissing'
  | 'expiryWrong'
  | 'expiryPast'
  | 'cvcMissing'
  | 'cvcWrong'
export type CardProblems = Readonly<Partial<Record<CardField, CardProblem>>>

export type CardReading =
  | { readonly problems: CardProblems; readonly number?: never; readonly card?: never }
  | { readonly problems?: never; readonly number: string; readonly card: Card }

export function readCard(typed: CardTyped, nowMs: number): CardReading {
  const number = typed.number.replaceAll(/[\s-]/g, '')
  const expiry = readExpiry(typed.expiry)
  const cvc = typed.cvc.trim()
  const problems = {
    ...problem('number', numberProblem(number)),
    ...problem('expiry', expiryProblem(typed.expiry, expiry, nowMs)),
    ...problem('cvc', cvc === '' ? 'cvcMissing' : /^\d{3}$/.test(cvc) ? null : 'cvcWrong'),
  }
  if (expiry === null || Object.keys(problems).length > 0) return { problems }
  return {
    number,
    card: {
      first6: number.slice(0, 6),
      last4: number.slice(-4),
      expiry_month: String(expiry.month).padStart(2, '0'),
      expiry_year: String(expiry.year),
      card_type: cardType(number),
      issuer_country: 'RU',
    },
  }
}

function problem(field: CardField, found: CardProblem | null): CardProblems {
  return found === null ? {} : { [field]: found }
}

// The shortest and the longest number of ISO/IEC 7812 in use.
function numberProblem(number: string): CardProblem | null {
  if (number === '') return 'numberMissing'
  return /^\d{13,19}$/.test(number) ? null : 'numberWrong'
}

type Expiry = { readonly month: number; readonly year: number }

function expiryProblem(typed: string, expiry: Expiry | null, nowMs: number): CardProblem | null {
  if (typed.trim() === '') return 'expiryMissing'
  if (expiry === null) return 'expiryWrong'
  // A card works to the end of its last month; months are counted from 0 here, so this is the
  // first moment of the month after it.
  return Date.UTC(expiry.year, expiry.month) <= nowMs ? 'expiryPast' : null
}

// MM/YY, MM/YYYY, MM-YY, MM YY and MMYY; browsers fill in the first two.
function readExpiry(typed: string): Expiry | null {
  const found = /^(\d{1,2})\s*[/.\s-]\s*(\d{4}|\d{2})$|^(\d{2})(\d{4}|\d{2})$/.exec(typed.trim())
  if (found === null) return null
  const month = Number(found[1] ?? found[3])
  const year = Number(found[2] ?? found[4])
  if (month < 1 || month > 12) return null
  return { month, year: year < 100 ? 2000 + year : year }
}

function cardType(number: string): string {
  if (number.startsWith('4')) return 'Visa'
  return /^220[0-4]/.test(number) ? 'Mir' : 'MasterCard'
}
