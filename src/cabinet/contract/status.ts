// How the service is doing, for everybody, as types alone. Part of the contract.
import type { Time } from './contract.ts'

/** What a customer depends on; who serves it is nobody's business. */
export type ServicePart = 'gateway' | 'models' | 'payments' | 'letters'

/** `slow`: it works, and may take longer. `paused`: we stopped it ourselves. */
export type PartState = 'working' | 'slow' | 'down' | 'paused' | 'unknown'

export type Status = {
  /** When it was looked at; at most a quarter of a minute ago. */
  readonly at: Time
  readonly parts: readonly { readonly part: ServicePart; readonly state: PartState }[]
}

export type StatusRoutes = { 'GET /api/status': { answer: Status } }
