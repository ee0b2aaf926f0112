// The parts that the API, the notices and the control calls share: built once per server.
import type { Calls } from './calls.ts'
import type { Clock } from './clock.ts'
import type { Faults } from './faults.ts'
import type { Idempotence } from './idempotence.ts'
import type { Store } from './store.ts'
import type { Webhooks } from './webhooks.ts'

export type Parts = {
  readonly clock: Clock
  readonly store: Store
  readonly webhooks: Webhooks
  readonly faults: Faults
  readonly idempotence: Idempotence
  readonly calls: Calls
}
