// The receipt that goes with a payment or a refund under Russia's law 54-FZ. The provider's own
// receipts (the default of the shop) have stricter rules than those of a foreign cash register.
import { invalid } from './errors.ts'
import { isObject, type JsonObject } from './json.ts'
import { readAmount } from './money.ts'
import type { OwnReceipt, ReceiptOrder } from './objects.ts'
import type { Settings } from './settings.ts'

const itemsMax = { own: 80, foreign: 100 } as const
// 99999.999 in thousandths.
const quantityMilleMax = 99_999_999n
const modes = [
  'full_prepayment',
  'full_payment',
  'partial_prepayment',
  'advance',
  'partial_payment',
  'credit',
  'credit_payment',
]
const ownModes = modes.slice(0, 2)
const measures = [
  'piece gram kilogram ton centimeter decimeter meter square_centimeter square_decimeter',
  'square_meter milliliter liter cubic_meter kilowatt_hour gigacalorie day hour minute second',
  'kilobyte megabyte gigabyte terabyte another',
]
  .join(' ')
  .split(' ')

/** Null when there is none; the sum of its items must be the sum of the operation. */
export function readReceipt(
  given: unknown,
  totalKopecks: bigint,
  settings: Settings,
): ReceiptOrder | null {
  if (given === undefined) {
    if (settings.isReceiptRequired) throw invalid('receipt', 'Receipt is missing or illegal')
    return null
  }
  if (!isObject(given)) throw invalid('receipt', 'Receipt is missing or illegal')
  if (checkReceipt(given, 'receipt.', settings) !== totalKopecks) {
    throw invalid('receipt.items', 'The sum of the items differs from the amount')
  }
  // Safe: every member that the type names was checked above.
  return given as unknown as ReceiptOrder
}

const ownMembers = [
  ...['type', 'payment_id', 'refund_id', 'customer', 'items', 'settlements', 'send'],
  ...['tax_system_code', 'internet', 'additional_user_props'],
]
const settlementTypes = ['cashless', 'prepayment', 'postpayment', 'consideration']

/** A receipt that is made apart from its payment or refund, and the sum of its settlements. */
export function readOwnReceipt(
  given: unknown,
  settings: Settings,
): { order: OwnReceipt; kopecks: bigint } {
  if (!isObject(given)) throw invalid('type', 'Receipt is missing or illegal')
  const unknown = Object.keys(given).find((name) => !ownMembers.includes(name))
  if (unknown !== undefined) throw invalid(unknown, 'Unknown parameter')
  const { type, send, settlements } = given
  if (type !== 'payment' && type !== 'refund') throw invalid('type', 'payment or refund')
  if (typeof given[`${type}_id`] !== 'string') throw invalid(`${type}_id`, 'Missing')
  if (send !== true) throw invalid('send', 'Receipts are sent at once')
  if (!Array.isArray(settlements) || settlements.length === 0) {
    throw invalid('settlements', 'Settlements are missing')
  }
  const sums = settlements.map((one, index) => {
    const at = `settlements[${index}]`
    if (!isObject(one)) throw invalid(at, 'Not an object')
    checkOneOf(one.type ?? '', settlementTypes, `${at}.type`)
    return readAmount(one.amount, `${at}.amount`)
  })
  const kopecks = sums.reduce((total, sum) => total + sum, 0n)
  if (kopecks === 0n) throw invalid('settlements', 'Amount must be greater than zero')
  if (checkReceipt(given, '', settings) !== kopecks) {
    throw invalid('items', 'The sum of the items differs from that of the settlements')
  }
  // Safe: every member that the type names was checked above.
  return { order: given as unknown as OwnReceipt, kopecks }
}

/** The sum of the items in kopecks. */
function checkReceipt(given: JsonObject, at: string, settings: Settings): bigint {
  checkCustomer(given.customer, settings.isReceiptOwn, at)
  checkInteger(given.tax_system_code, { parameter: `${at}tax_system_code`, max: 6 })
  const { items } = given
  const most = settings.isReceiptOwn ? itemsMax.own : itemsMax.foreign
  if (!Array.isArray(items) || items.length === 0 || items.length > most) {
    throw invalid(`${at}items`, `A receipt has 1 to ${most} items`)
  }
  const sums = items.map((item, index) => checkItem(item, `${at}items[${index}]`, settings))
  return sums.reduce((total, sum) => total + sum, 0n)
}

function checkCustomer(customer: unknown, isOwn: boolean, at: string): void {
  if (!isObject(customer)) throw invalid(`${at}customer`, 'Customer is missing')
  const { email, phone } = customer
  if (email !== undefined && !(typeof email === 'string' && /^[^@\s]+@[^@\s]+$/.test(email))) {
    throw invalid(`${at}customer.email`, 'Not an e-mail address')
  }
  if (phone !== undefined && !(typeof phone === 'string' && /^\d{4,15}$/.test(phone))) {
    throw invalid(`${at}customer.phone`, 'Digits only, 4 to 15')
  }
  if (email === undefined && (isOwn || phone === undefined)) {
    throw invalid(`${at}customer.email`, 'Customer e-mail is missing')
  }
}

/** The item's sum in kopecks. */
function checkItem(item: unknown, at: string, { isReceiptOwn }: Settings): bigint {
  if (!isObject(item)) throw invalid(at, 'Not an object')
  const { description, payment_mode, payment_subject, measure } = item
  const length = typeof description === 'string' ? [...description].length : 0
  if (length < 1 || length > 128) throw invalid(`${at}.description`, '1 to 128 characters')
  if (item.vat_code === undefined) throw invalid(`${at}.vat_code`, 'VAT code is missing')
  checkInteger(item.vat_code, { parameter: `${at}.vat_code`, max: 12 })
  checkOneOf(payment_mode, isReceiptOwn ? ownModes : modes, `${at}.payment_mode`)
  checkOneOf(measure, measures, `${at}.measure`)
  if (isReceiptOwn && measure === undefined) throw invalid(`${at}.measure`, 'Measure is missing')
  if (payment_subject !== undefined && !/^[a-z0-9_]{1,64}$/.test(String(payment_subject))) {
    throw invalid(`${at}.payment_subject`, 'Unknown subject')
  }
  const kopecks = readAmount(item.amount, `${at}.amount`)
  // Rounded half up per line, as cash registers do.
  return (kopecks * readMille(item, at) + 500n) / 1000n
}

function readMille({ quantity }: JsonObject, at: string): bigint {
  const isWritten = typeof quantity === 'number' || typeof quantity === 'string'
  const found = /^(\d{1,5})(?:\.(\d{1,3}))?$/.exec(isWritten ? String(quantity) : '')
  const mille = BigInt(found === null ? 0 : `${found[1]}${(found[2] ?? '').padEnd(3, '0')}`)
  if (mille > 0n && mille <= quantityMilleMax) return mille
  throw invalid(`${at}.quantity`, 'Up to 99999.999, at most three decimals')
}

function checkInteger(value: unknown, { parameter, max }: { parameter: string; max: number }) {
  if (value === undefined) return
  if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > max) {
    throw invalid(parameter, `A whole number from 1 to ${max}`)
  }
}

function checkOneOf(value: unknown, known: readonly string[], parameter: string): void {
  if (value !== undefined && !known.includes(String(value))) throw invalid(parameter, 'Unknown')
}
