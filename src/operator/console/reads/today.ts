// The figures of today for the console, in the contract's form. The reports module computes them.
import type { Today } from '../../../reports/reports.ts'
import { micro } from '../../../units/credits.ts'
import type * as contract from '../contract/contract.ts'
import { creditsOf, timeOf } from './amounts.ts'

export function todayOf(today: Today): contract.Today {
  const { day, timeZone, models, refused, costs } = today
  return {
    ...{ day, timeZone, now: timeOf(today.now) },
    figures: today.figures.map(({ name, unit, value, of }) => ({
      ...{ name, of: of.kind, value: value === null ? null : String(value) },
      unit: unit === 'tenths of a percent' ? 'tenths' : unit,
    })),
    models: models.map(({ key, requests, errors, spent }) => ({
      ...{ name: key, requests: String(requests), errors: String(errors) },
      spent: creditsOf(micro(spent)),
    })),
    hours: today.hours.map(({ at, requests, errors, spent, before }) => ({
      ...{ at: timeOf(at), spent: creditsOf(micro(spent)) },
      ...{ requests: String(requests), errors: String(errors), before: String(before) },
    })),
    refused: refused.map(({ reason, requests }) => ({ reason, requests: String(requests) })),
    costs: (costs ?? []).map(({ upstream, costKopecks }) => ({
      upstream: upstream ?? '',
      kopecks: costKopecks === null ? null : String(costKopecks),
    })),
  }
}
