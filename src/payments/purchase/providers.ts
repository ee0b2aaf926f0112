// Finds an order's provider by name, and makes the refusal when there is none.
import type { Refusal } from '../../platform/refusal.ts'
import type { Provider } from '../port.ts'
import { paymentRefusal } from '../refusals.ts'

export type Providers = ReadonlyMap<string, Provider>

/** Refuses: payment_unavailable. */
export function providerOf(providers: Providers, name: string): Provider {
  const provider = providers.get(name)
  if (provider === undefined) throw unavailable({ provider: name })
  return provider
}

export function unavailable(detail: Record<string, unknown>): Refusal {
  return paymentRefusal('payment_unavailable', 'This payment is not available right now.', detail)
}
