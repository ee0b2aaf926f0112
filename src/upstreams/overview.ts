// The operator's overview of the upstreams: what is configured here, what all processes see, and
// what the operator has changed.
import type { BreakerState } from './breaker.ts'
import type { TargetView, UpstreamSetting } from './queries.ts'

export type UpstreamLine = {
  readonly target: string
  readonly upstream: string
  /** False when it is in another process's configuration but not in this one's. */
  readonly isConfigured: boolean
  /** The best state that any process sees; `unseen` when none has reported within half a minute. */
  readonly state: BreakerState | 'unseen'
  readonly underWay: number
  readonly succeeded: number
  readonly failed: number
  /** The weight in force: the operator's, or else the configured one. */
  readonly weight: number
  readonly isDrained: boolean
  readonly changedBy: string | null
  readonly changedAt: string | null
  /** How many processes have reported. */
  readonly processes: number
}

type Configured = {
  readonly label: string
  readonly upstream: string
  readonly options: { readonly weight: number }
}

const unseen = { state: 'unseen', underWay: 0, succeeded: 0, failed: 0, processes: 0 } as const

export function overviewOf(
  configured: readonly Configured[],
  views: readonly (TargetView & { readonly processes: number })[],
  settings: readonly UpstreamSetting[],
): UpstreamLine[] {
  const viewOf = new Map(views.map((view) => [view.target, view]))
  const settingOf = new Map(settings.map((setting) => [setting.name, setting]))
  const line = (target: string, upstream: string, weight: number, isConfigured: boolean) => {
    const setting = settingOf.get(upstream)
    return {
      target,
      upstream,
      isConfigured,
      ...unseen,
      ...viewOf.get(target),
      weight: setting?.weight ?? weight,
      isDrained: setting?.isDrained ?? false,
      changedBy: setting?.changedBy ?? null,
      changedAt: setting?.changedAt ?? null,
    }
  }
  const here = new Set(configured.map((one) => one.label))
  const unconfigured = views.filter((view) => !here.has(view.target))
  return [
    ...configured.map((one) => line(one.label, one.upstream, one.options.weight, true)),
    // A label is the upstream's name and the credential's number.
    ...unconfigured.map(({ target }) => line(target, target.replace(/#\d+$/, ''), 0, false)),
  ]
}
