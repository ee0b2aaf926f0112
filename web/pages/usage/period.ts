// The search parameters of the usage page: period, step and filters of the log. A link restores all
// of them.
import type { Ending, LogFilter, UsageStep } from '../../../src/cabinet/contract/usage.ts'

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

/** Parameters with their default values are left out of the address. */
export type UsageSearch = {
  readonly period?: Period
  /** The days of a custom range (`period` is `own`), such as `2026-11-15`. */
  readonly from?: string
  readonly to?: string
  readonly step?: UsageStep
  readonly as?: 'table'
  readonly model?: string
  readonly ending?: EndingFilter
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
export const HOURLY_DAYS_MAX = 14
/** Up to here the default step is the hour: a single day in steps of a day would be one bar. */
const HOURLY_DAYS_USUAL = 2
/** The longest period of which the server makes a statement. */
const DAYS_MAX = 366
const DAY_MS = 86_400_000
const DAY = /^\d{4}-\d{2}-\d{2}$/

export function usageSearchOf(raw: Record<string, unknown>): UsageSearch {
  const { from, to, model, before, open, period, step, ending } = raw
  const isOneOf = <T extends string>(all: readonly T[], one: unknown): one is T =>
    all.includes(one as T)
  return {
    ...(isOneOf(periods, period) ? { period } : {}),
    ...(isDay(from) ? { from } : {}),
    ...(isDay(to) ? { to } : {}),
    ...(isOneOf(['hour', 'day'] as const, step) ? { step } : {}),
    ...(raw.as === 'table' ? { as: 'table' } : {}),
    ...(typeof model === 'string' ? { model } : {}),
    ...(isOneOf(['charged', 'free', ...endings] as const, ending) ? { ending } : {}),
    // The router turns digits into a number.
    ...(typeof before === 'string' || typeof before === 'number' ? { before: `${before}` } : {}),
    ...(typeof open === 'string' ? { open } : {}),
  }
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
  const count = daysIn(days)
  const usual = count <= HOURLY_DAYS_USUAL ? 'hour' : 'day'
  return { ...days, step: count > HOURLY_DAYS_MAX ? 'day' : (step ?? usual) }
}

export function without(
  search: UsageSearch,
  ...names: readonly (keyof UsageSearch)[]
): UsageSearch {
  const kept = Object.entries(search).filter(([name]) => !names.some((one) => one === name))
  return Object.fromEntries(kept)
}

/** Changes one filter and returns to the newest line; an empty value removes the filter. */
export function filtered(
  search: UsageSearch,
  name: 'model' | 'ending',
  value: string,
): UsageSearch {
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

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}

function isDay(one: unknown): one is string {
  return typeof one === 'string' && DAY.test(one) && !Number.isNaN(Date.parse(one))
}
