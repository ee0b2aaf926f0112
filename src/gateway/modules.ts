// The modules and settings that the steps receive. wiring.ts builds them; no step does.
import type { Keys } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { EventLoop } from '../platform/event-loop.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import type { Pricing } from '../pricing/pricing.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'
import type { Admission } from './admission.ts'
import type { LargeBodies } from './body/large-bodies.ts'
import type { Pace } from './body/pace.ts'
import type { InputCounts } from './input-count.ts'
import type { Ticker } from './reply/ticker.ts'
import type { RequestLog } from './request-log.ts'

export type Modules = {
  readonly keys: Keys
  readonly ledger: Ledger
  readonly pricing: Pricing
  readonly upstreams: Upstreams
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly ticker: Ticker
  readonly eventLoop: EventLoop
  readonly largeBodies: LargeBodies
  readonly admission: Admission
  readonly pace: Pace
  readonly inputCounts: InputCounts
  readonly requestLog: RequestLog
  /** The description that GET /openapi.json answers with. */
  readonly openapi: Buffer
  readonly settings: GatewaySettings
}

export type GatewaySettings = {
  readonly cell: number
  readonly slug: string
  /** The API versions that the upstream knows. Any other version of a client becomes the first. */
  readonly versions: readonly [string, ...string[]]
  readonly bodyBytesMax: number
  readonly requestSecondsMax: number
  /** The header in which the edge names the client's address; `none`: use the socket's address. */
  readonly addressHeader: string
  readonly cabinetUrl: string
  /** Its origin, whose pages may send messages. */
  readonly cabinetOrigin: string
}
