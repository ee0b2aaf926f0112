// The rooms and limits that the steps are given. Steps receive what they need; none builds a room.
import type { Keys } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import type { Pricing } from '../pricing/pricing.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'
import type { BodyBudget } from './body/body.ts'
import type { LargeBodies } from './body/large-bodies.ts'
import type { Pulse } from './reply/pulse.ts'

export type Rooms = {
  readonly keys: Keys
  readonly ledger: Ledger
  readonly pricing: Pricing
  readonly upstreams: Upstreams
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly pulse: Pulse
  readonly largeBodies: LargeBodies
  readonly budget: BodyBudget
  /** Becomes true when the gateway closes all connections, replies under way or not. */
  readonly shutdown: { isForced: boolean }
  /** The description that GET /openapi.json answers with. */
  readonly openapi: Buffer
  readonly limits: Limits
}

export type Limits = {
  readonly cell: number
  readonly slug: string
  readonly bodyBytesMax: number
  readonly requestSecondsMax: number
  /** The header in which the edge names the client's address; `none`: believe the socket. */
  readonly addressHeader: string
  readonly cabinetUrl: string
}
