// What an operator wants to see of the upstreams on one page: what is configured here, what all
// processes see, and the operator's own word.
import type { BreakerState } from './breaker.ts'
import type { Setting, View } from './queries.ts'

export type UpstreamLine = {
  readonly target: string
  readonly upstream: string
  /** False: another process knows it, this one's configuration does not. */
  readonly isConfigured: boolean
  /** The best that any process sees; `unseen` when none has told within half a minute. */
  readonly state: BreakerState | 'unseen'
  readonly underWay: number
  readonly succeeded: number
  readonly failed: number
  /** As in force: the operator's, or else the configured one. */
  readonly weight: number
  readonly isDrained: boolean
  readonly changedBy: string | null
  readonly changedAt: string | null
  /** How many processes have told. */
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
  views: readonly (View & { readonly processes: number })[],
  settings: readonly Setting[],
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
  const strange = views.filter((view) => !here.has(view.target))
  return [
    ...configured.map((one) => line(one.label, one.upstream, one.options.weight, true)),
    // A label is the upstream's name and the credential's number.
    ...strange.map(({ target }) => line(target, target.replace(/#\d+$/, ''), 0, false)),
  ]
}
