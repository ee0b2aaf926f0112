// The usage chart: what each model used by days or hours of the owner's time zone.
import { z } from 'zod'
import type { Ledger, ModelUsage } from '../../../ledger/ledger.ts'
import type * as contract from '../../contract/usage.ts'
import { creditsOf, timeOf } from '../amounts.ts'
import type { RouteTable } from '../routes.ts'
import { periodFields, periodOf } from './period.ts'

/** A year, also a leap year. By hours two weeks: a wide screen shows 336 bars. */
const DAYS_MAX = { day: 366, hour: 14 } as const
const DAYS_DEFAULT = { day: 30, hour: 2 } as const

export function usageRoutes({
  ledger,
}: {
  readonly ledger: Pick<Ledger, 'usage'>
}): RouteTable<'GET /api/usage'> {
  return {
    'GET /api/usage': {
      session: 'required',
      query: z.object({ ...periodFields, step: z.enum(['hour', 'day']).optional() }),
      async run({ session, query }) {
        const { step = 'day' } = query
        const limits = { defaultDays: DAYS_DEFAULT[step], maxDays: DAYS_MAX[step] }
        const period = await periodOf(ledger.usage, query, limits)
        const used = await ledger.usage.steps({ book: session.book, step, ...period })
        return {
          ...period,
          step,
          buckets: used.steps.map(({ at, local, models }) => ({
            at: timeOf(at),
            local,
            models: usesOf(models),
          })),
          totals: usesOf(used.totals),
        }
      },
    },
  }
}

function usesOf(models: readonly ModelUsage[]): contract.ModelUsage[] {
  return models.toSorted(byCredits).map(useOf)
}

/** Most credits first, then by name, so that models keep their colours in the chart. */
function byCredits(a: ModelUsage, b: ModelUsage): number {
  if (a.spent !== b.spent) return a.spent > b.spent ? -1 : 1
  return a.model < b.model ? -1 : 1
}

function useOf(used: ModelUsage): contract.ModelUsage {
  return {
    model: used.model,
    requests: String(used.requests),
    free: String(used.free),
    input: String(used.input),
    output: String(used.output),
    cacheRead: String(used.cacheRead),
    cacheWrite5m: String(used.cacheWrite5m),
    cacheWrite1h: String(used.cacheWrite1h),
    credits: creditsOf(used.spent),
  }
}
