// What the parent of a fleet and its processes tell each other.
import type { MetricSnapshot } from '../platform/metrics/fleet-metrics.ts'

export type ParentMessage =
  | {
      readonly kind: 'connection'
      /** The byte of this connection among the marks. */
      readonly slot: number
      /** Another process had it and died. */
      readonly isInherited: boolean
    }
  | { readonly kind: 'metrics'; readonly round: number }
  | { readonly kind: 'drain' }

/** What a process knows about the services that it needs. */
export type ProcessHealth = {
  /** The database does not answer: requests wait for it. */
  readonly isDatabaseAway: boolean
  /** Every upstream fails or refuses our credential; requests are sent all the same. */
  readonly areUpstreamsAway: boolean
}

/** What a process did with its connections since its last report. */
export type ConnectionsReport = {
  /** How many it took from its channel. */
  readonly taken: number
  /** Slots of those that are closed. */
  readonly closed: readonly number[]
  /** Slots of those that never arrived: the process had no free file descriptor. */
  readonly unreceived: readonly number[]
}

export type ProcessMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'beat'; readonly health: ProcessHealth }
  | ({ readonly kind: 'connections' } & ConnectionsReport)
  | {
      readonly kind: 'metrics'
      readonly round: number
      readonly metrics: readonly MetricSnapshot[]
    }
