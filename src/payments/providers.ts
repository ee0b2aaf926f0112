// The shops that orders belong to, and the refusal when there is none. An order stays with the
// shop that it was created in: only that shop's credentials can read, repeat and refund its
// payment, and a repeated post in another shop would create a second payment.
import type { Refusal } from '../platform/refusal.ts'
import type { Provider } from './port.ts'
import { paymentRefusal } from './refusals.ts'

/** What an order or a refund says about its shop; null: from before shops were stored. */
export type OrderShop = { readonly provider: string; readonly shop: string | null }

export type Providers = {
  /** The shop of a provider that takes new orders. */
  get(name: string): Provider | undefined
  /** The shop of an order. Undefined when it is no longer configured. */
  of(order: OrderShop): Provider | undefined
  /** Whether orders without a shop belong to this one. */
  isEarliest(provider: Provider): boolean
  /** All shops. */
  values(): readonly Provider[]
  names(): readonly string[]
}

/**
 * `shops`: of each provider first the one that takes new orders, then earlier ones, the earliest
 * last. Orders from before shops were stored belong to the earliest.
 */
export function createProviders(shops: readonly Provider[]): Providers {
  const current = (name: string) => shops.find((one) => one.name === name)
  const earliest = (name: string) => shops.findLast((one) => one.name === name)
  return {
    get: current,
    of: ({ provider, shop }) =>
      shop === null
        ? earliest(provider)
        : shops.find((one) => one.name === provider && one.shopRef === shop),
    isEarliest: (provider) => earliest(provider.name) === provider,
    values: () => shops,
    names: () => [...new Set(shops.map(({ name }) => name))],
  }
}

/** The shop of an order. Refuses: payment_unavailable. */
export function providerOf(providers: Providers, order: OrderShop): Provider {
  const provider = providers.of(order)
  if (provider === undefined) throw unavailable({ provider: order.provider, shop: order.shop })
  return provider
}

export function unavailable(detail: Record<string, unknown>): Refusal {
  return paymentRefusal('payment_unavailable', 'This payment is not available right now.', detail)
}
