// Finds the order that a command is about by any related id.
import type { FoundOrder, FoundPurchase } from '../../payments/payments.ts'
import { formatRubles } from './amounts.ts'
import { commandError } from './command-error.ts'
import type { Desk } from './desk.ts'

/** By the order's id or the id of its payment, of a refund or of a dispute. */
export async function requirePurchase(
  { modules }: Desk,
  text: string,
): Promise<FoundPurchase & { readonly order: FoundOrder }> {
  const found = await modules.payments.search(text.trim())
  if (found?.order) return { ...found, order: found.order }
  throw commandError(`there is no order of ${text}${idHint(text)}`)
}

/** The first lines of a plan: the order, what was sold, and the buyer. */
export function orderLines({ id, packTitle, price, email }: FoundOrder): string[] {
  return [id, `  ${packTitle} for ${formatRubles(price)}, ${email}`]
}

/** What is wrong with the format of an id; empty when it is right. */
export function idHint(text: string): string {
  const match = /^(pay|rfd|dsp|req)_(.*)$/.exec(text)
  if (match === null) return ''
  const [, prefix, digits = ''] = match
  if (/[^0-9a-f]/.test(digits)) return `; after ${prefix}_ come only 0-9 and a-f`
  return digits.length === 32 ? '' : `; after ${prefix}_ come 32 digits, not ${digits.length}`
}
