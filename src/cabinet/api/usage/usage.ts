// The usage explorer: what an owner used by hours, days or weeks of their time zone, split by
// model, ending, session or label.
import { z } from 'zod'
import type { Ledger, UsageFigures, UsageSeries } from '../../../ledger/ledger.ts'
import type { Payments } from '../../../payments/payments.ts'
import type { BookId } from '../../../platform/ids.ts'
import { kopecksPerMillion } from '../../../units/pack-price.ts'
import type * as contract from '../../contract/usage.ts'
import { timeOf } from '../amounts.ts'
import type { RouteTable } from '../routes.ts'
import { amountsUsed } from './amounts-used.ts'
import { periodFields, periodOf } from './period.ts'
import type { UsageReads } from './reads.ts'

/** A year, also a leap year. By hours two weeks: a wide screen shows 336 bars. */
const DAYS_MAX = { week: 366, day: 366, hour: 14 } as const
const DAYS_DEFAULT = { week: 364, day: 30, hour: 2 } as const

export type UsageOptions = {
  readonly ledger: Pick<Ledger, 'usage'>
  readonly payments: Pick<Payments, 'lastPack'>
  readonly reads: UsageReads
}

export const usageFields = {
  ...periodFields,
  step: z.enum(['hour', 'day', 'week']).optional(),
  split: z.enum(['model', 'ending', 'session', 'label']).optional(),
  compare: z.literal('1').optional(),
}

export function usageRoutes(options: UsageOptions): RouteTable<'GET /api/usage'> {
  return {
    'GET /api/usage': {
      session: 'required',
      query: z.object(usageFields),
      run: ({ session, query }) => readUsage(options, session.book, query),
    },
  }
}

/** The answer, which is also the contents of the files. Refuses: overloaded. */
export function readUsage(
  options: UsageOptions,
  book: BookId,
  query: contract.UsageQuery,
): Promise<contract.Usage> {
  return options.reads.inTurn(book, () => read(options, book, query))
}

async function read(
  { ledger, payments }: UsageOptions,
  book: BookId,
  query: contract.UsageQuery,
): Promise<contract.Usage> {
  const { step = 'day', split = 'model' } = query
  const limits = { defaultDays: DAYS_DEFAULT[step], maxDays: DAYS_MAX[step] }
  const period = await periodOf(ledger.usage, query, limits)
  const withPrevious = query.compare === '1'
  const [used, bought] = await Promise.all([
    ledger.usage.explore({ book, step, split, withPrevious, ...period }),
    payments.lastPack(book),
  ])
  const timeStep = (one: { at: Date; local: string; whole: UsageFigures }) => ({
    ...{ at: timeOf(one.at), local: one.local, whole: figuresOf(one.whole) },
  })
  const { previous } = used
  return {
    ...{ ...period, step, split },
    buckets: used.buckets.map((one) => ({ ...timeStep(one), series: one.series.map(seriesOf) })),
    totals: used.totals.map(seriesOf),
    whole: figuresOf(used.whole),
    previous: previous && {
      ...{ from: previous.from, to: previous.to, whole: figuresOf(previous.whole) },
      buckets: previous.buckets.map(timeStep),
    },
    kopecksPerMillion: bought === undefined ? null : String(kopecksPerMillion(bought)),
  }
}

function seriesOf(one: UsageSeries): contract.UsageSeries {
  return { key: one.key, ...(one.isOther ? { isOther: true } : {}), ...figuresOf(one) }
}

function figuresOf(used: UsageFigures): contract.UsageFigures {
  return {
    ...amountsUsed(used),
    known: String(used.known),
    firstByte: used.firstByte,
    total: used.total,
  }
}
