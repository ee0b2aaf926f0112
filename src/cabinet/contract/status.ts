// The types of the public service status.
import type { Time } from './contract.ts'

/** The services that a customer depends on; the names of upstreams are not public. */
export type ServicePart = 'gateway' | 'models' | 'payments' | 'letters'

/** `slow`: it works, but may take longer. `paused`: the operator stopped it. */
export type ServiceState = 'working' | 'slow' | 'down' | 'paused' | 'unknown'

export type Status = {
  /** When the states were read; at most ten seconds ago. */
  readonly at: Time
  readonly parts: readonly { readonly part: ServicePart; readonly state: ServiceState }[]
}

export type StatusRoutes = { 'GET /api/status': { answer: Status } }
