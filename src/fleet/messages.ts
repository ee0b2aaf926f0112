// What the parent of a fleet and its processes tell each other.
import type { MetricSnapshot } from '../platform/metrics/fleet-metrics.ts'

export type ParentMessage =
  | {
      readonly kind: 'connection'
      /** The byte of this connection among the marks, or NOT_KEPT. */
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
  /** No upstream takes requests. */
  readonly areUpstreamsAway: boolean
}

export type ProcessMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'beat'; readonly health: ProcessHealth }
  | { readonly kind: 'connections'; readonly taken: number; readonly closed: readonly number[] }
  | {
      readonly kind: 'metrics'
      readonly round: number
      readonly metrics: readonly MetricSnapshot[]
    }
