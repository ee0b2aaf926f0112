// GET /v1/usage: what the account behind the key used, by hours, days or months of a time zone,
// grouped by model, ending, session or label. The figures are those of the cabinet's usage page: at
// every moment they equal the sums over the requests of GET /v1/requests; those of days whose
// entries have left the ledger stay.
import type { UsageFigures, UsageSeries } from '../../ledger/ledger.ts'
import { dayText, isDay } from '../../platform/clock.ts'
import type { BookId } from '../../platform/ids.ts'
import { creditsText } from '../../units/credits.ts'
import { authenticate } from '../2-authenticate.ts'
import type { Exchange } from '../exchange.ts'
import type { Modules } from '../modules.ts'
import { writeJson } from './json.ts'
import {
  cursorOf,
  dayIn,
  invalid,
  limitOf,
  oneOf,
  parametersOf,
  positionIn,
  zoneIn,
} from './parameters.ts'
import { knownZone, readAs } from './reads.ts'
import { tokensOf } from './requests.ts'

const steps = ['hour', 'day', 'month'] as const
const groups = ['model', 'ending', 'session', 'label'] as const
type Step = (typeof steps)[number]

/**
 * The longest period, in days, which bounds what the database reads: 336 hours as in the cabinet's
 * chart, 366 days, 24 months.
 */
const DAYS_MAX = { hour: 14, day: 366, month: 731 } as const
const DAYS_DEFAULT = { hour: 2, day: 30, month: 365 } as const
const PAGE_DEFAULT = 31
/** A bucket has at most 13 groups of about 400 bytes: a page has at most 500 KB. */
const PAGE_MAX = 100
const DAY_MS = 86_400_000

/** First and last day of the period, both included, and the number of the page's first bucket. */
type Place = { readonly from: string; readonly to: string; readonly first: number }
const POSITION = /^20\d\d-\d\d-\d\d,20\d\d-\d\d-\d\d,\d{1,4}$/

export async function getUsage(exchange: Exchange, modules: Modules): Promise<void> {
  const caller = await authenticate(exchange, modules.keys, modules.settings.slug)
  const names = ['step', 'group', 'from', 'to', 'zone', 'limit', 'cursor'] as const
  const given = parametersOf(exchange, names)
  const step = oneOf('step', given.step, steps) ?? 'day'
  const group = oneOf('group', given.group, groups)
  const zone = zoneIn(given.zone)
  const limit = limitOf(given.limit, PAGE_DEFAULT, PAGE_MAX)
  const [from, to] = [dayIn('from', given.from), dayIn('to', given.to)]
  const placed = placeIn(positionIn('usage', given.cursor, POSITION))
  const read = async (book: BookId) => {
    const { usage } = modules.ledger
    const place = placed ?? placeOf(step, from, to, await knownZone(() => usage.today(zone)))
    const period = { zone, from: place.from, to: place.to }
    expectLength(step, place)
    return { place, used: await usage.explore({ book, step, split: group ?? 'model', ...period }) }
  }
  const { place, used } = await readAs(caller, exchange, modules, read)
  const last = place.first + limit
  const isMore = last < used.buckets.length
  const seriesOf = (series: readonly UsageSeries[]) =>
    group === undefined ? {} : { groups: series.map(groupObject) }
  writeJson(exchange, {
    ...{ object: 'list', step, group: group ?? null, zone, from: place.from, to: place.to },
    data: used.buckets.slice(place.first, last).map(({ at, local, whole, series }) => ({
      ...{ at: at.toISOString(), local, ...figuresObject(whole), ...seriesOf(series) },
    })),
    total: { ...figuresObject(used.whole), ...seriesOf(used.totals) },
    has_more: isMore,
    next_cursor: isMore ? cursorOf('usage', `${place.from},${place.to},${last}`) : null,
  })
}

/** A cursor keeps the period: without `to`, it would move at midnight between two pages. */
function placeIn(position: string | undefined): Place | undefined {
  if (position === undefined) return undefined
  const [from = '', to = '', first] = position.split(',')
  if (isDay(from) && isDay(to)) return { from, to, first: Number(first) }
  throw invalid('cursor', 'Input should be the next_cursor of an answer')
}

function placeOf(
  step: Step,
  from: string | undefined,
  to: string | undefined,
  today: string,
): Place {
  const last = to ?? (from !== undefined && from > today ? from : today)
  const first = dayText(Date.parse(last) - (DAYS_DEFAULT[step] - 1) * DAY_MS)
  return { from: from ?? first, to: last, first: 0 }
}

function expectLength(step: Step, { from, to }: Place): void {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days >= 1 && days <= DAYS_MAX[step]) return
  throw invalid('from', `A period by ${step} has from 1 to ${DAYS_MAX[step]} days`)
}

function groupObject({ key, isOther, ...figures }: UsageSeries) {
  return { key, is_other: isOther, ...figuresObject(figures) }
}

/** Numbers of requests and tokens stay below 2^53, so these are exact. */
function figuresObject(figures: UsageFigures) {
  return {
    requests: Number(figures.requests),
    free: Number(figures.free),
    errors: Number(figures.errors),
    known: Number(figures.known),
    tokens: tokensOf(figures),
    credits: creditsText(figures.spent),
    cache_saved: creditsText(figures.cacheSaved),
    first_byte_ms: figures.firstByte,
    total_ms: figures.total,
  }
}
