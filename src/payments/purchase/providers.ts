// The provider of an order by its name, and the refusal when none takes it.
import { Refusal } from '../../platform/refusal.ts'
import type { Provider } from '../port.ts'

export type Providers = ReadonlyMap<string, Provider>

/** Refuses: payment_unavailable. */
export function providerOf(providers: Providers, name: string): Provider {
  const provider = providers.get(name)
  if (provider === undefined) throw unavailable({ provider: name })
  return provider
}

export function unavailable(detail: Record<string, unknown>): Refusal {
  return new Refusal('payment_unavailable', 'This payment is not available right now.', detail)
}
