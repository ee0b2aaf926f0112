// Opens the provider's payment page. The tab remembers the orders whose page it opened, so that an
// owner who returns sees that the bank's answer is pending and is not asked to pay again.
import type { Order } from '../../../src/cabinet/contract/contract.ts'

const PREFIX = 'left-to-pay:'

export function hasOpenedPaymentPage(id: string): boolean {
  return sessionStorage.getItem(PREFIX + id) !== null
}

export function rememberPaymentPage(id: string): void {
  sessionStorage.setItem(PREFIX + id, 'yes')
}

/** Opens the provider's page in this tab; does nothing if the order has no URL to open. */
export function openPaymentPage({ id, confirmation }: Order): void {
  const address = paymentUrl(confirmation)
  if (confirmation?.kind !== 'redirect' || address === undefined) return
  rememberPaymentPage(id)
  window.location.assign(address)
}

/** Only http and https: a value such as `javascript:…` must never become a link. */
export function paymentUrl(confirmation: Order['confirmation']): string | undefined {
  if (confirmation === null || !URL.canParse(confirmation.value)) return undefined
  return /^https?:$/.test(new URL(confirmation.value).protocol) ? confirmation.value : undefined
}
