// The way to the provider's page and back. This tab remembers for which orders it went there, so
// that whoever returns is told that the bank is waited for, and not asked to pay again.
import type { Order } from '../../../src/cabinet/contract/contract.ts'

const PREFIX = 'left-to-pay:'

export function hasLeftToPay(id: string): boolean {
  return sessionStorage.getItem(PREFIX + id) !== null
}

export function rememberLeaving(id: string): void {
  sessionStorage.setItem(PREFIX + id, 'yes')
}

/** Opens the provider's page in this tab; does nothing for an order that is paid otherwise. */
export function leaveToPay({ id, confirmation }: Order): void {
  const address = addressToPay(confirmation)
  if (confirmation?.kind !== 'redirect' || address === undefined) return
  rememberLeaving(id)
  window.location.assign(address)
}

/** Only addresses of the web: a value such as `javascript:…` must never become a link. */
export function addressToPay(confirmation: Order['confirmation']): string | undefined {
  if (confirmation === null || !URL.canParse(confirmation.value)) return undefined
  return /^https?:$/.test(new URL(confirmation.value).protocol) ? confirmation.value : undefined
}
