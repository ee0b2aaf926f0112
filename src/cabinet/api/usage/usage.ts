// The chart: what each model used, by days or hours of the owner's time zone. The numbers are the
// ledger's.
import { z } from 'zod'
import type { Ledger, ModelUsed } from '../../../ledger/ledger.ts'
import type * as contract from '../../contract/usage.ts'
import { creditsOf, timeOf } from '../amounts.ts'
import type { Table } from '../routes.ts'
import { periodFields, periodOf } from './period.ts'

/** A year, also one with a leap day. By hours two weeks: 336 bars are what a wide screen shows. */
const DAYS_MAX = { day: 366, hour: 14 } as const
const DAYS_USUAL = { day: 30, hour: 2 } as const

export function usageRoutes({
  ledger,
}: {
  readonly ledger: Pick<Ledger, 'usage'>
}): Table<'GET /api/usage'> {
  return {
    'GET /api/usage': {
      session: 'needed',
      query: z.object({ ...periodFields, step: z.enum(['hour', 'day']).optional() }),
      async run({ session, query }) {
        const { step = 'day' } = query
        const limits = { usual: DAYS_USUAL[step], max: DAYS_MAX[step] }
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

function usesOf(models: readonly ModelUsed[]): contract.ModelUse[] {
  return models.toSorted(byCredits).map(useOf)
}

/** Most credits first; of equals the name decides, so that a chart keeps its colours. */
function byCredits(a: ModelUsed, b: ModelUsed): number {
  if (a.spent !== b.spent) return a.spent > b.spent ? -1 : 1
  return a.model < b.model ? -1 : 1
}

function useOf(used: ModelUsed): contract.ModelUse {
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
