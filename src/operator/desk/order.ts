// Which order a command is about, by any number that somebody has of it.
import type { FoundOrder, FoundPurchase } from '../../payments/payments.ts'
import type { Desk } from './desk.ts'
import { rublesShown } from './figures.ts'
import { absent } from './halt.ts'

/** By its own id, its payment's, or that of a refund or dispute of it. */
export async function purchaseOf(
  { rooms }: Desk,
  text: string,
): Promise<FoundPurchase & { readonly order: FoundOrder }> {
  const found = await rooms.payments.search(text.trim())
  if (found?.order) return { ...found, order: found.order }
  throw absent(`there is no order of ${text}${numberHint(text)}`)
}

/** The head of a plan: which order, and what was sold to whom. */
export function soldLines({ id, packTitle, price, email }: FoundOrder): string[] {
  return [id, `  ${packTitle} for ${rublesShown(price)}, ${email}`]
}

/** What is wrong with the look of a number; nothing when it looks right. */
export function numberHint(text: string): string {
  const match = /^(pay|rfd|dsp|req)_(.*)$/.exec(text)
  if (match === null) return ''
  const [, prefix, digits = ''] = match
  if (/[^0-9a-f]/.test(digits)) return `; after ${prefix}_ come only 0-9 and a-f`
  return digits.length === 32 ? '' : `; after ${prefix}_ come 32 digits, not ${digits.length}`
}
