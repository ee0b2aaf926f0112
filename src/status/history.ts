// What the page shows, from the rows of the history: the state of each component, its days, how
// much of the time it worked, and how much of the time anybody looked. Pure arithmetic.
import { dateAt, dayText } from '../platform/clock.ts'
import { COMPONENTS, type Component, type ProbeState } from './components.ts'
import type { ComponentRow, DayRow, IncidentRow, OutageRow } from './queries.ts'

/** `slow`: late, or the last probe failed and none has confirmed it. */
export type ComponentState =
  | Exclude<ProbeState, 'failed'>
  /** An outage is open. */
  | 'down'
  /** It fails while maintenance is announced. */
  | 'maintenance'

export type Day = {
  readonly day: string
  readonly workingSeconds: number
  readonly failedSeconds: number
  readonly plannedSeconds: number
  /** Nobody looked, or the probe could not tell. */
  readonly unknownSeconds: number
}

export type ComponentHistory = {
  readonly component: Component
  readonly state: ComponentState
  /** Hundredths of a percent of the observed time, rounded down; null: nothing was observed. */
  readonly uptime: number | null
  /** Hundredths of a percent of the time since the first probe; null: there was none. */
  readonly observed: number | null
  /** Oldest first, from the day of the first probe. */
  readonly days: readonly Day[]
}

export type StatusHistory = {
  /** When it was read. */
  readonly at: Date
  readonly components: readonly ComponentHistory[]
  /** Newest first. */
  readonly outages: readonly OutageRow[]
  /** Newest first. */
  readonly incidents: readonly IncidentRow[]
}

export const HISTORY_DAYS = 90
const DAY_MS = 86_400_000

export function historyOf(
  rows: {
    readonly components: readonly ComponentRow[]
    readonly days: readonly DayRow[]
    readonly outages: readonly OutageRow[]
    readonly incidents: readonly IncidentRow[]
  },
  gapMs: number,
): StatusHistory {
  const now = rows.components[0]?.now ?? dateAt(0)
  const components = COMPONENTS.flatMap((component) => {
    const row = rows.components.find((one) => one.component === component)
    if (row === undefined) return []
    const isOut = rows.outages.some((one) => one.component === component && one.endedAt === null)
    const isPlanned = rows.incidents.some((one) => isMaintained(one, component, now))
    const days = daysOf(row, rows.days)
    return [
      { component, days, state: stateOf(row, { isOut, isPlanned, gapMs }), ...sharesOf(days) },
    ]
  })
  return { at: now, components, outages: rows.outages, incidents: rows.incidents }
}

function stateOf(
  { state, agoMs }: ComponentRow,
  p: { readonly isOut: boolean; readonly isPlanned: boolean; readonly gapMs: number },
): ComponentState {
  if (agoMs === null) return 'unmeasured'
  // Nobody looks: what was seen last says nothing about now.
  if (Math.abs(agoMs) > p.gapMs) return 'unknown'
  if (state === 'failed' && p.isPlanned) return 'maintenance'
  if (p.isOut) return 'down'
  return state === 'failed' ? 'slow' : state
}

function isMaintained(
  { kind, components, beginsAt, endsAt, closedAt }: IncidentRow,
  component: Component,
  now: Date,
): boolean {
  if (kind !== 'maintenance' || closedAt !== null || !components.includes(component)) return false
  return beginsAt <= now && (endsAt === null || now < endsAt)
}

/** Each day since the first probe, at most 90; what no row counts was not observed. */
function daysOf({ component, firstAt, now }: ComponentRow, rows: readonly DayRow[]): Day[] {
  if (firstAt === null) return []
  const counted = new Map(
    rows.filter((row) => row.component === component).map((row) => [row.day, row]),
  )
  const lastMs = Date.parse(dayText(now.getTime()))
  const firstMs = Math.max(
    Date.parse(dayText(firstAt.getTime())),
    lastMs - (HISTORY_DAYS - 1) * DAY_MS,
  )
  const length = Math.max(0, Math.round((lastMs - firstMs) / DAY_MS) + 1)
  return Array.from({ length }, (_, i) => {
    const beginMs = firstMs + i * DAY_MS
    const day = dayText(beginMs)
    const elapsedMs =
      Math.min(beginMs + DAY_MS, now.getTime()) - Math.max(beginMs, firstAt.getTime())
    const { workingMs = 0, failedMs = 0, plannedMs = 0 } = counted.get(day) ?? {}
    const unknownMs = Math.max(0, elapsedMs - workingMs - failedMs - plannedMs)
    return {
      day,
      workingSeconds: seconds(workingMs),
      // A failure of half a second is not nothing.
      failedSeconds: Math.ceil(failedMs / 1_000),
      plannedSeconds: seconds(plannedMs),
      unknownSeconds: seconds(unknownMs),
    }
  })
}

/** Planned time counts neither for nor against. */
function sharesOf(days: readonly Day[]): Pick<ComponentHistory, 'uptime' | 'observed'> {
  const sum = (of: keyof Omit<Day, 'day'>) => days.reduce((total, day) => total + day[of], 0)
  const measured = sum('workingSeconds') + sum('failedSeconds')
  const seen = measured + sum('plannedSeconds')
  const all = seen + sum('unknownSeconds')
  return {
    uptime: measured === 0 ? null : hundredths(sum('workingSeconds'), measured),
    observed: all === 0 ? null : hundredths(seen, all),
  }
}

/** Rounded down: 99.999 % is not 100 %. */
function hundredths(part: number, whole: number): number {
  return Math.floor((part * 10_000) / whole)
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000)
}
