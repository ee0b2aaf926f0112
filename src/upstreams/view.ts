// What a process sees of a target: written to the database for the operator, and read by metrics.
import type { BreakerState } from './breaker.ts'
import type { Capacity } from './capacity.ts'
import type { LimitKind, LimitView } from './limits.ts'
import type { TargetCounts } from './outcome.ts'
import type { OutReason, Standing } from './standing.ts'

/** A model that was served within this time shows that the target has not failed as a whole. */
const SERVED_MS = 60_000

export type ModelState = ReturnType<Capacity['state']>

/** Of a target for one model and path. */
export type ModelView = {
  model: string
  isFree: boolean
  state: ModelState
  /** Of the pause that the upstream asked for; 0 without one. */
  coolingSeconds: number
  underWay: number
  /** How many requests it gets at a time; null without a limit. */
  most: number | null
  limits: Partial<Record<LimitKind, LimitView>>
}

export type TargetView = {
  target: string
  /**
   * `closed` while the target serves, as far as the last minute shows: its credential is in
   * service, and no model fails or another one was served. Processes of 0.1.0 also use these words.
   */
  state: BreakerState
  underWay: number
  succeeded: number
  failed: number
  details: TargetDetails
}

export type TargetDetails = {
  /** Why the credential is out of service; null while it is in service. */
  out: OutReason | null
  /** Until the first byte of streams, on average; 0 before the first stream. */
  firstByteMs: number
  models: ModelView[]
}

type Viewed = {
  readonly label: string
  readonly counts: TargetCounts
  readonly standing: Standing
  readonly capacities: ReadonlyMap<string, Capacity>
}

export function viewOf(paid: Viewed, free: Viewed, nowMs: number): TargetView {
  const { underWay, succeeded, failed, firstByteMs } = paid.counts
  const models = [
    ...[...paid.capacities].map(([model, one]) => modelOf(model, false, one, nowMs)),
    ...[...free.capacities].map(([model, one]) => modelOf(model, true, one, nowMs)),
  ]
  const out = paid.standing.why() ?? null
  const details = { out, firstByteMs: Math.round(firstByteMs), models }
  return { target: paid.label, state: stateOf(paid, nowMs), underWay, succeeded, failed, details }
}

function stateOf({ standing, capacities }: Viewed, nowMs: number): BreakerState {
  if (standing.why() !== undefined) return 'open'
  const all = [...capacities.values()]
  const isServing = (one: Capacity) =>
    one.breaker.state() === 'closed' && nowMs - one.servedMs < SERVED_MS
  const sick = all.map(({ breaker }) => breaker.state()).filter((state) => state !== 'closed')
  if (sick.length === 0 || all.some(isServing)) return 'closed'
  return sick.includes('probing') ? 'probing' : 'open'
}

function modelOf(model: string, isFree: boolean, one: Capacity, nowMs: number): ModelView {
  const most = one.concurrency.limit()
  return {
    model,
    isFree,
    state: one.state(),
    coolingSeconds: Math.max(0, Math.ceil((one.cooling.untilMs() - nowMs) / 1_000)),
    underWay: one.concurrency.underWay(),
    most: Number.isFinite(most) ? most : null,
    limits: one.limits.view(),
  }
}
