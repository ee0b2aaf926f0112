// What the provider accepts in the body of a POST, with its limits; the answer names the first
// member that breaks one. Unknown members are refused as well: the real provider silently ignores a
// misspelt member, which is harder to notice.
import { BankError, invalid, missing } from './errors.ts'
import { isObject, type JsonObject } from './json.ts'
import { readAmount } from './money.ts'
import type { Confirmation, MethodType, ReceiptOrder } from './objects.ts'
import { kopecksLimits, type Settings } from './settings.ts'
import type { PaymentOrder } from './store.ts'
import { readReceipt } from './validate-receipt.ts'

const paymentMembers = [
  'amount',
  'description',
  'receipt',
  'recipient',
  'payment_token',
  'payment_method_id',
  'payment_method_data',
  'confirmation',
  'save_payment_method',
  'capture',
  'client_ip',
  'metadata',
  'merchant_customer_id',
  'statements',
]
const refundMembers = ['payment_id', 'amount', 'description', 'receipt', 'metadata']
const captureMembers = ['amount', 'receipt']

export function readPayment(body: unknown, settings: Settings): PaymentOrder {
  const order = readMembers(body, paymentMembers)
  const amountKopecks = readAmount(order.amount, 'amount')
  const isCapture = readFlag(order.capture, 'capture') ?? false
  const method = readMethod(order.payment_method_data, settings)
  if (!isCapture && (method === 'sbp' || settings.methods.join() === 'sbp')) {
    throw invalid('capture', 'Two-stage payments are not available for SBP')
  }
  checkLimits(amountKopecks, method === null ? settings.methods : [method])
  if (order.payment_token !== undefined) {
    throw new BankError(403, 'payment_token is not enabled for the shop')
  }
  const keptMethodId = readText(order.payment_method_id, 'payment_method_id', 64)
  const isKept = readFlag(order.save_payment_method, 'save_payment_method') ?? false
  if ((isKept || keptMethodId !== undefined) && !settings.keepsMethods) {
    throw new BankError(403, 'Saving of payment methods is not enabled for the shop')
  }
  if (keptMethodId !== undefined && (method !== null || order.confirmation !== undefined)) {
    throw invalid('payment_method_id', 'A saved method is charged without its payer')
  }
  const receipt = readReceipt(order.receipt, amountKopecks, settings)
  const description = readText(order.description, 'description', 128)
  const merchantCustomerId = readText(order.merchant_customer_id, 'merchant_customer_id', 200)
  const metadata = readMetadata(order.metadata)
  const { confirmation, locale } = readConfirmation(order.confirmation)
  return {
    amountKopecks,
    isCapture,
    method,
    confirmation,
    locale,
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(merchantCustomerId === undefined ? {} : { merchantCustomerId }),
    ...(keptMethodId === undefined ? {} : { keptMethodId }),
    isKept,
    receipt,
  }
}

export type RefundRequest = {
  paymentId: string
  kopecks: bigint
  description?: string
  metadata?: Record<string, string>
  receipt: ReceiptOrder | null
}

export function readRefund(body: unknown, settings: Settings): RefundRequest {
  const order = readMembers(body, refundMembers)
  const paymentId = readText(order.payment_id, 'payment_id', 36)
  if (paymentId === undefined) throw missing('payment_id')
  const kopecks = readAmount(order.amount, 'amount')
  if (kopecks === 0n) throw invalid('amount.value', 'Amount must be greater than zero')
  const description = readText(order.description, 'description', 250)
  const metadata = readMetadata(order.metadata)
  return {
    paymentId,
    kopecks,
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata }),
    receipt: readReceipt(order.receipt, kopecks, { ...settings, isReceiptRequired: false }),
  }
}

/** The sum to capture; undefined captures all that is held. */
export function readCapture(body: unknown): bigint | undefined {
  const order = readMembers(body ?? {}, captureMembers)
  return order.amount === undefined ? undefined : readAmount(order.amount, 'amount')
}

function readMembers(body: unknown, known: readonly string[]): JsonObject {
  if (!isObject(body)) throw new BankError(400, 'The body is not a JSON object')
  const unknown = Object.keys(body).find((name) => !known.includes(name))
  if (unknown !== undefined) throw invalid(unknown, 'Unknown parameter')
  return body
}

function checkLimits(kopecks: bigint, methods: readonly MethodType[]): void {
  const isWithin = methods.some((type) => {
    const { min, max } = kopecksLimits[type]
    return kopecks >= min && kopecks <= max
  })
  if (!isWithin) throw invalid('amount.value', 'Amount is outside the limits of the method')
}

function readMethod(given: unknown, settings: Settings): MethodType | null {
  if (given === undefined) return null
  if (!isObject(given)) throw invalid('payment_method_data', 'Not an object')
  const { type } = given
  if (type !== 'bank_card' && type !== 'sbp') {
    throw invalid('payment_method_data.type', 'Unknown payment method')
  }
  if (given.card !== undefined) {
    throw new BankError(403, 'Card data may be sent only by certified shops')
  }
  if (settings.methods.includes(type)) return type
  throw new BankError(403, `Payment method ${type} is not available for the shop`, {
    parameter: 'payment_method_data.type',
  })
}

const confirmationMembers: Readonly<Record<Confirmation['type'], readonly string[]>> = {
  redirect: ['type', 'return_url', 'enforce', 'locale'],
  qr: ['type', 'return_url', 'locale'],
  embedded: ['type', 'locale'],
}

function readConfirmation(given: unknown): Pick<PaymentOrder, 'confirmation' | 'locale'> {
  if (given === undefined) return { confirmation: null, locale: 'ru' }
  const type = isObject(given) ? given.type : undefined
  if (type !== 'redirect' && type !== 'qr' && type !== 'embedded') {
    throw invalid('confirmation.type', 'Unknown confirmation type')
  }
  const order = readMembers(given, confirmationMembers[type])
  const returnUrl = readText(order.return_url, 'confirmation.return_url', 2048)
  if (type === 'redirect' && returnUrl === undefined) throw missing('confirmation.return_url')
  if (returnUrl !== undefined && !URL.canParse(returnUrl)) {
    throw invalid('confirmation.return_url', 'Not an address')
  }
  const enforce = readFlag(order.enforce, 'confirmation.enforce')
  const { locale = 'ru_RU' } = order
  if (locale !== 'ru_RU' && locale !== 'en_US') {
    throw invalid('confirmation.locale', 'Unknown locale')
  }
  return {
    confirmation: {
      type,
      returnUrl: returnUrl ?? null,
      ...(enforce === undefined ? {} : { enforce }),
    },
    locale: locale === 'ru_RU' ? 'ru' : 'en',
  }
}

function readMetadata(given: unknown): Record<string, string> | undefined {
  if (given === undefined) return undefined
  if (!isObject(given)) throw invalid('metadata', 'Not an object')
  const entries = Object.entries(given)
  if (entries.length > 16) throw invalid('metadata', 'More than 16 keys')
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if ([...key].length > 32) throw invalid(`metadata.${key}`, 'Key longer than 32 characters')
      if (typeof value !== 'string') throw invalid(`metadata.${key}`, 'Value is not a string')
      if ([...value].length > 512) {
        throw invalid(`metadata.${key}`, 'Value longer than 512 characters')
      }
      return [key, value]
    }),
  )
}

function readText(given: unknown, parameter: string, charactersMax: number): string | undefined {
  if (given === undefined) return undefined
  if (typeof given !== 'string') throw invalid(parameter, 'Not a string')
  if ([...given].length <= charactersMax) return given
  throw invalid(parameter, `Longer than ${charactersMax} characters`)
}

function readFlag(given: unknown, parameter: string): boolean | undefined {
  if (given === undefined || typeof given === 'boolean') return given
  throw invalid(parameter, 'Not a boolean')
}
