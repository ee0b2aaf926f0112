// The search parameters of the usage page: period, what the explorer shows, filters of the log. A
// link restores all of them.
import type {
  Ending,
  LogFilter,
  UsageSplit,
  UsageStep,
} from '../../../src/cabinet/contract/usage.ts'

export const periods = ['today', 'week', 'month', 'quarter', 'year', 'own'] as const
export type Period = (typeof periods)[number]

export const endings = [
  'complete',
  'client_left',
  'client_slow',
  'refused',
  'upstream_failed',
  'process_lost',
  'given_up',
  'overdue',
  'drained',
  'shed',
] as const satisfies readonly Ending[]
export type EndingFilter = NonNullable<LogFilter['ending']>

/** What the explorer can show; the first one is the default. */
export const metrics = [
  ...(['credits', 'rubles', 'requests', 'errors'] as const),
  ...(['tokens', 'input', 'output', 'cacheRead', 'cacheWrite'] as const),
  ...(['firstByte', 'total', 'cacheShare'] as const),
] as const
export type Metric = (typeof metrics)[number]
export const splits = [
  'model',
  'ending',
  'session',
  'label',
] as const satisfies readonly UsageSplit[]
const steps = ['hour', 'day', 'week'] as const satisfies readonly UsageStep[]

/** Parameters with their default values are left out of the address. */
export type UsageSearch = {
  readonly period?: Period
  /** The days of a custom range (`period` is `own`), such as `2026-11-15`. */
  readonly from?: string
  readonly to?: string
  readonly step?: UsageStep
  readonly metric?: Metric
  readonly split?: UsageSplit
  /** With the previous period. */
  readonly compare?: true
  /** The series that the legend has switched off. */
  readonly hidden?: readonly string[]
  readonly as?: 'table'
  readonly model?: string
  readonly ending?: EndingFilter
  readonly session?: string
  readonly agent?: string
  readonly label?: string
  /** The log shows only the hour that begins at this moment. */
  readonly hour?: string
  /** The log shows requests older than this one. */
  readonly before?: string
  /** The request whose details are open. */
  readonly open?: string
}

export const DEFAULT_PERIOD: Period = 'week'
/** In days; an invalid custom range falls back to the default. */
const lengths: Readonly<Record<Period, number>> = {
  today: 1,
  week: 7,
  month: 30,
  quarter: 90,
  year: 365,
  own: 7,
}
/** Two weeks of hours are 336 bars: as many as a screen has room for. */
const HOURLY_DAYS_MAX = 14
/** Up to here the default step is the hour: a single day in steps of a day would be one bar. */
const HOURLY_DAYS_USUAL = 2
/** From here weeks are offered, and above a quarter they are the default: a year is 53 bars. */
const WEEKLY_DAYS_MIN = 28
const DAILY_DAYS_USUAL = 92
/** The longest period of which the server makes a statement. */
const DAYS_MAX = 366
const DAY_MS = 86_400_000
/** As the server reads days; it refuses others. */
const DAY = /^20\d\d-\d\d-\d\d$/
/** An entry's number, as the server reads it. */
const ENTRY = /^[1-9]\d{0,17}$/
/** The longest name of a model that the server reads. */
const MODEL_LENGTH_MAX = 200
/** The longest session or label that the ledger records. */
const ID_LENGTH_MAX = 64
/** Twelve keys, those without one, and the rest. */
const HIDDEN_MAX = 14

/** Values that the page cannot show are left out, so that no link leads to an error. */
export function usageSearchOf(raw: Record<string, unknown>): UsageSearch {
  const { from, to, before, period, step, ending, metric, split, hour } = raw
  return {
    ...(isOneOf(periods, period) ? { period } : {}),
    ...(isDay(from) ? { from } : {}),
    ...(isDay(to) ? { to } : {}),
    ...(isOneOf(steps, step) ? { step } : {}),
    ...(isOneOf(metrics, metric) ? { metric } : {}),
    ...(isOneOf(splits, split) ? { split } : {}),
    ...(raw.compare === true ? { compare: true } : {}),
    ...(isTexts(raw.hidden) ? { hidden: raw.hidden } : {}),
    ...(raw.as === 'table' ? { as: 'table' } : {}),
    ...text(raw, 'model', MODEL_LENGTH_MAX),
    ...(isOneOf(['charged', 'free', ...endings] as const, ending) ? { ending } : {}),
    ...text(raw, 'session', ID_LENGTH_MAX),
    ...text(raw, 'agent', ID_LENGTH_MAX),
    ...text(raw, 'label', ID_LENGTH_MAX),
    ...(isMoment(hour) ? { hour } : {}),
    // The router turns digits into a number.
    ...(ENTRY.test(`${before}`) ? { before: `${before}` } : {}),
    ...text(raw, 'open', ID_LENGTH_MAX),
  }
}

function isOneOf<T extends string>(all: readonly T[], one: unknown): one is T {
  return all.includes(one as T)
}

function isTexts(value: unknown): value is readonly string[] {
  const isShort = Array.isArray(value) && value.length > 0 && value.length <= HIDDEN_MAX
  return isShort && value.every((one) => typeof one === 'string')
}

/** A label may be `7`, which the router reads as a number. */
function text<Name extends string>(
  raw: Record<string, unknown>,
  name: Name,
  lengthMax: number,
): { readonly [name in Name]?: string } {
  const value = raw[name]
  const isText = typeof value === 'string' || typeof value === 'number'
  const shown = isText ? String(value) : ''
  // Safe: the object has only this name.
  return shown === '' || shown.length > lengthMax
    ? {}
    : ({ [name]: shown } as { [n in Name]: string })
}

export type Span = { readonly from: string; readonly to: string; readonly step: UsageStep }

/** The first and the last day of the period in the zone, both included, and the step. */
export function spanOf(search: UsageSearch, zone: string, nowMs: number): Span {
  const { period = DEFAULT_PERIOD, from, to, step } = search
  const today = dayAt(zone, nowMs)
  const isOwn = period === 'own' && customRangeProblem(from, to) === undefined
  const days =
    isOwn && from !== undefined && to !== undefined
      ? { from, to }
      : {
          from: dayAfter(today, 1 - lengths[period]),
          to: today,
        }
  const offered = stepsFor(days)
  const usual = usualStep(daysIn(days))
  return { ...days, step: step !== undefined && offered.includes(step) ? step : usual }
}

/** The steps that a chart of these days can have. */
export function stepsFor(days: Pick<Span, 'from' | 'to'>): readonly UsageStep[] {
  const count = daysIn(days)
  return steps.filter((step) => {
    if (step === 'hour') return count <= HOURLY_DAYS_MAX
    // A single day would be one bar.
    return step === 'day' ? count > 1 : count >= WEEKLY_DAYS_MIN
  })
}

function usualStep(days: number): UsageStep {
  if (days <= HOURLY_DAYS_USUAL) return 'hour'
  return days <= DAILY_DAYS_USUAL ? 'day' : 'week'
}

export function without(
  search: UsageSearch,
  ...names: readonly (keyof UsageSearch)[]
): UsageSearch {
  const kept = Object.entries(search).filter(([name]) => !names.some((one) => one === name))
  return Object.fromEntries(kept)
}

export type LogFilterName = 'model' | 'ending' | 'session' | 'agent' | 'label' | 'hour'

/** Changes one filter and returns to the newest line; an empty value removes the filter. */
export function filtered(search: UsageSearch, name: LogFilterName, value: string): UsageSearch {
  const rest = without(search, name, 'before', 'open')
  return value === '' ? rest : usageSearchOf({ ...rest, [name]: value })
}

export function olderThan(search: UsageSearch, next: string | null): UsageSearch {
  const rest = without(search, 'before', 'open')
  return next === null ? rest : { ...rest, before: next }
}

/** Why two days are not a valid range. */
export function customRangeProblem(
  from: string | undefined,
  to: string | undefined,
): 'missing' | 'reversed' | 'long' | undefined {
  if (!isDay(from) || !isDay(to)) return 'missing'
  if (from > to) return 'reversed'
  return daysIn({ from, to }) > DAYS_MAX ? 'long' : undefined
}

export function daysIn({ from, to }: Pick<Span, 'from' | 'to'>): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
}

/** The calendar day of a moment in a zone, such as `2026-11-15`. */
export function dayAt(timeZone: string, ms: number): string {
  // Swedish dates have the format of RFC 3339.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(new Date(ms))
}

export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}

function isDay(one: unknown): one is string {
  // Browsers read 30 February as 2 March.
  return typeof one === 'string' && DAY.test(one) && isRealDay(one)
}

/** As the server writes moments: `2026-11-15T10:00:00.000Z`. */
function isMoment(one: unknown): one is string {
  const ms = typeof one === 'string' ? Date.parse(one) : Number.NaN
  return !Number.isNaN(ms) && new Date(ms).toISOString() === one
}

function isRealDay(day: string): boolean {
  const ms = Date.parse(day)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day)
}
