// The operator's overview of the upstreams: what is configured here, what all processes see, and
// what the operator has changed.
import type { BreakerState } from './breaker.ts'
import { limitKinds } from './limits.ts'
import type { CredentialProblem, SeenTarget, StoredCredential, UpstreamSetting } from './queries.ts'
import type { OutReason } from './standing.ts'
import type { ModelView, TargetDetails } from './view.ts'

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
  /** Why its credential is out of service, in any process; null when it is in service in all. */
  readonly out: OutReason | null
  /** Until the first byte of streams, on average; 0 before the first stream. */
  readonly firstByteMs: number
  /** By model and path, over all processes. */
  readonly models: readonly ModelView[]
  /** The weight in force: the operator's, or else the configured one. */
  readonly weight: number
  /** The upstream or this credential of it is. */
  readonly isDrained: boolean
  readonly isUpstreamDrained: boolean
  readonly isCredentialDrained: boolean
  /** The operator added this credential; it is in no file. */
  readonly isAdded: boolean
  /** Where the operator said that the secret is; null: where each node's file says. */
  readonly reference: string | null
  /** Why processes cannot use it, and how many. */
  readonly problems: readonly { readonly problem: string; readonly processes: number }[]
  readonly changedBy: string | null
  readonly changedAt: string | null
  /** How many processes have reported. */
  readonly processes: number
}

type Listed = {
  readonly upstream: string
  readonly credential: { readonly label: string }
  readonly configured: unknown
  readonly stored: StoredCredential | undefined
  readonly paid: { readonly options: { readonly weight: number } }
}

const unseen = {
  ...({ state: 'unseen', underWay: 0, succeeded: 0, failed: 0, processes: 0 } as const),
  ...{ out: null, firstByteMs: 0, models: [] },
}

export function overviewOf(
  listed: readonly Listed[],
  views: readonly SeenTarget[],
  settings: readonly UpstreamSetting[],
  problems: readonly (CredentialProblem & { readonly processes: number })[],
): UpstreamLine[] {
  const viewOf = new Map(
    views.map(({ details, ...view }) => [view.target, { ...view, ...joined(details) }]),
  )
  const settingOf = new Map(settings.map((setting) => [setting.name, setting]))
  const line = (target: string, upstream: string, one: Listed | undefined): UpstreamLine => {
    const setting = settingOf.get(upstream)
    const stored = one?.stored
    const isUpstreamDrained = setting?.isDrained ?? false
    const isCredentialDrained = stored?.isDrained ?? false
    const changed = stored ?? setting
    return {
      target,
      upstream,
      isConfigured: one !== undefined,
      ...unseen,
      ...viewOf.get(target),
      weight: setting?.weight ?? one?.paid.options.weight ?? 0,
      isDrained: isUpstreamDrained || isCredentialDrained,
      isUpstreamDrained,
      isCredentialDrained,
      isAdded: one !== undefined && one.configured === undefined,
      reference: stored?.reference ?? null,
      problems: problems
        .filter((each) => each.target === target)
        .map(({ problem, processes }) => ({ problem, processes })),
      changedBy: changed?.changedBy ?? null,
      changedAt: changed?.changedAt ?? null,
    }
  }
  const here = new Set(listed.map(({ credential }) => credential.label))
  const unlisted = views.filter((view) => !here.has(view.target))
  return [
    ...listed.map((one) => line(one.credential.label, one.upstream, one)),
    // A label is the upstream's name and the credential's.
    ...unlisted.map(({ target }) => line(target, target.replace(/#.*$/, ''), undefined)),
  ]
}

/** What the processes know of one target, together. */
function joined(details: readonly TargetDetails[]) {
  const times = details.map((one) => one.firstByteMs).filter((ms) => ms > 0)
  const average = times.reduce((sum, ms) => sum + ms, 0) / Math.max(1, times.length)
  const models = Map.groupBy(
    details.flatMap((one) => one.models),
    ({ model, isFree }) => `${model} ${isFree}`,
  )
  return {
    out: details.find((one) => one.out !== null)?.out ?? null,
    firstByteMs: Math.round(average),
    models: [...models.values()].map(worstOf),
  }
}

/**
 * The requests of all processes and the worst of what they know: they share the upstream's limits,
 * and one of them may not have met a limit yet.
 */
function worstOf(views: readonly ModelView[]): ModelView {
  const sorted = views.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
  const [worst] = sorted as [ModelView]
  const mosts = views.flatMap(({ most }) => (most === null ? [] : [most]))
  const kinds = limitKinds.flatMap((kind) => {
    const known = views.flatMap(({ limits }) => limits[kind] ?? [])
    const [least] = known.toSorted((a, b) => a.left - b.left)
    return least === undefined ? [] : [[kind, least]]
  })
  return {
    ...worst,
    coolingSeconds: Math.max(...views.map((one) => one.coolingSeconds)),
    underWay: views.reduce((sum, one) => sum + one.underWay, 0),
    most: mosts.length === 0 ? null : mosts.reduce((sum, one) => sum + one, 0),
    limits: Object.fromEntries(kinds),
  }
}

const order: readonly ModelView['state'][] = ['sick', 'forbidden', 'cooling', 'serving']
