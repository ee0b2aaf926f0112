// Which days are looked at, and by what they are told apart: everything of the usage page that a
// link restores.
import type { Ending, LogFilter, UsageStep } from '../../../src/cabinet/contract/usage.ts'

export const periods = ['today', 'week', 'month', 'quarter', 'year', 'own'] as const
export type Period = (typeof periods)[number]

export const endings = [
  'complete',
  'client_left',
  'refused',
  'upstream_failed',
  'process_lost',
  'given_up',
  'overdue',
] as const satisfies readonly Ending[]
export type EndingFilter = NonNullable<LogFilter['ending']>

/** What stands in the address; what is as usual does not. */
export type UsageSearch = {
  readonly period?: Period
  /** Of a period of one's own: days such as `2026-11-15`. */
  readonly from?: string
  readonly to?: string
  readonly step?: UsageStep
  readonly as?: 'table'
  readonly model?: string
  readonly ending?: EndingFilter
  /** The page of the log. */
  readonly before?: string
  /** The request whose arithmetic is open. */
  readonly open?: string
}

export const DEFAULT_PERIOD: Period = 'week'
/** In days; one of one's own begins with the usual. */
const lengths: Readonly<Record<Period, number>> = {
  today: 1,
  week: 7,
  month: 30,
  quarter: 90,
  year: 365,
  own: 7,
}
/** Two weeks of hours are 336 bars: as many as a screen can show. */
export const HOURLY_DAYS_MAX = 14
/** A day by days would be one bar. */
const HOURLY_DAYS_USUAL = 2
/** What the statement takes at most. */
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
    // The router reads digits as a number.
    ...(typeof before === 'string' || typeof before === 'number' ? { before: `${before}` } : {}),
    ...(typeof open === 'string' ? { open } : {}),
  }
}

export type Span = { readonly from: string; readonly to: string; readonly step: UsageStep }

/** The days of a zone that are meant now, both included. */
export function spanOf(search: UsageSearch, zone: string, nowMs: number): Span {
  const { period = DEFAULT_PERIOD, from, to, step } = search
  const today = dayAt(zone, nowMs)
  const isOwn = period === 'own' && ownProblem(from, to) === undefined
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

/** Another filter begins at its newest line; an empty one is none. */
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

/** Why two days are no period. */
export function ownProblem(
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

/** The calendar's day in a zone. */
export function dayAt(timeZone: string, ms: number): string {
  // The Swedish calendar is written as RFC 3339 is.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(new Date(ms))
}

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}

function isDay(one: unknown): one is string {
  return typeof one === 'string' && DAY.test(one) && !Number.isNaN(Date.parse(one))
}
