// The parts of the service that the status page shows, and what a probe says about one.

/** The names of upstreams and relays are not public. */
export const COMPONENTS = ['gateway', 'models', 'payments', 'letters'] as const
export type Component = (typeof COMPONENTS)[number]

/**
 * `unknown`: the probe could not tell. `unmeasured`: nothing is set up to measure it. `paused`: the
 * operator stopped it.
 */
export type ProbeState = 'working' | 'slow' | 'failed' | 'paused' | 'unknown' | 'unmeasured'

export type Verdict = {
  readonly state: ProbeState
  /** For operators, without secrets and addresses; empty when it works. */
  readonly reason: string
}

export const WORKING: Verdict = { state: 'working', reason: '' }

/** The column takes 200. */
const REASON_LENGTH_MAX = 200

export function verdict(state: ProbeState, reason: string): Verdict {
  return { state, reason: reason.slice(0, REASON_LENGTH_MAX) }
}

/** What a probe gets to know when its turn comes. */
export type Turn = {
  /** Counts the turns of the component, over all processes. */
  readonly turn: bigint
  /** What the probe before said. */
  readonly state: ProbeState
}

export type Probe = (turn: Turn, signal: AbortSignal) => Promise<Verdict>
