// The types of the pages for the person on call: credentials at upstreams, and alarms.
import type { Time } from './contract.ts'

/** What a credential may do for one model. */
export type CredentialModel = {
  readonly model: string
  /** Counting tokens, which costs nothing, has states of its own. */
  readonly isFree: boolean
  readonly state: 'serving' | 'cooling' | 'sick' | 'forbidden'
  /** The end of the pause that the upstream asked for. */
  readonly coolingUntil: Time | null
  readonly underWay: number
  /** How many requests at a time it gets after a refusal; null: no limit. */
  readonly most: number | null
  /** What the upstream says is left. */
  readonly limits: readonly {
    readonly kind: string
    readonly left: number
    readonly limit: number
  }[]
}

/** One credential at one upstream, as all processes see it. */
export type Credential = {
  readonly target: string
  readonly upstream: string
  readonly isConfigured: boolean
  /** The state of the breaker, or why the credential is out of service. */
  readonly state: string
  readonly isDrained: boolean
  readonly isUpstreamDrained: boolean
  readonly isCredentialDrained: boolean
  readonly underWay: number
  readonly succeeded: number
  readonly failed: number
  readonly firstByteMs: number
  readonly weight: number
  readonly processes: number
  /** Where an operator said that the secret is; null: where each node's file says. */
  readonly reference: string | null
  readonly problems: readonly { readonly problem: string; readonly processes: number }[]
  readonly changedBy: string | null
  readonly changedAt: Time | null
  readonly models: readonly CredentialModel[]
}

export type Alarm = {
  readonly name: string
  readonly severity: 'page' | 'look'
  /** The alert of Prometheus about the same thing. */
  readonly alert: string | null
  readonly detail: string
  /** A document and the anchor of its section, such as `runbooks#an-upstream-fails`. */
  readonly runbook: string
}

export type Alarms = {
  readonly at: Time
  /** Urgent ones first. */
  readonly alarms: readonly Alarm[]
  /** Checks that failed: what they watch is not known. */
  readonly unchecked: readonly { readonly check: string; readonly why: string }[]
}
