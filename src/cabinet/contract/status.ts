// The types of the public service status.
import type { Time } from './contract.ts'

/** The services that a customer depends on; the names of upstreams are not public. */
export type ServicePart = 'gateway' | 'models' | 'payments' | 'letters'

/**
 * `slow`: it works, but may take longer. `down`: two probes in a row failed. `maintenance`: it is
 * down as announced. `paused`: the operator stopped it. `unknown`: nobody looks, or the probe could
 * not tell. `unmeasured`: the operator has set no probe up.
 */
export type ServiceState =
  | 'working'
  | 'slow'
  | 'down'
  | 'maintenance'
  | 'paused'
  | 'unknown'
  | 'unmeasured'

/** A day, UTC. The seconds add up to the part of the day that has passed since the first probe. */
export type StatusDay = {
  readonly day: string
  readonly workingSeconds: number
  readonly failedSeconds: number
  /** It failed in an announced maintenance, or was paused. */
  readonly plannedSeconds: number
  /** No probe looked. */
  readonly unknownSeconds: number
}

export type StatusPart = {
  readonly part: ServicePart
  readonly state: ServiceState
  /** Percent of the observed time, `99.98`, rounded down; null: nothing was observed. */
  readonly uptime: string | null
  /** Percent of the time of the days in which somebody looked. */
  readonly observed: string | null
  /** Oldest first, at most 90; none before the first probe. */
  readonly days: readonly StatusDay[]
}

export type Outage = {
  readonly id: string
  readonly part: ServicePart
  readonly from: Time
  /** Null: it goes on. */
  readonly to: Time | null
}

type Texts = { readonly ru: string; readonly en: string }

export type Incident = {
  readonly id: string
  readonly kind: 'incident' | 'maintenance'
  readonly parts: readonly ServicePart[]
  readonly title: Texts
  readonly from: Time
  /** Until when a maintenance is planned. */
  readonly plannedTo: Time | null
  /** Null: it is open, or lies ahead. */
  readonly to: Time | null
  /** Newest first. */
  readonly updates: readonly {
    readonly at: Time
    readonly state: 'investigating' | 'identified' | 'watching' | 'planned' | 'closed'
    readonly text: Texts
  }[]
}

export type Status = {
  /** When it was read; null: never, since the cabinet started. */
  readonly at: Time | null
  /** False: it cannot be read now, and this is what was known at `at`. */
  readonly isCurrent: boolean
  readonly parts: readonly StatusPart[]
  /** Of the last 90 days, newest first. */
  readonly outages: readonly Outage[]
  readonly incidents: readonly Incident[]
}

export type StatusRoutes = { 'GET /api/status': { answer: Status } }
