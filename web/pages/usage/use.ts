// How the steps of time are named on the page, and what was used in them is added up.
import type { ModelUse, UsageBucket } from '../../../src/cabinet/contract/usage.ts'
import { creditsOf, millionthsOf } from '../../format/decimal.ts'
import { useFormat } from '../../format/format.ts'
import { sumOf } from './chart.ts'

type Counted = 'requests' | 'free' | 'input' | 'output' | 'cacheRead' | 'cacheWrite'

/** `15 нояб.`, `13:00`, or, when whole, `15 нояб., 13:00`. */
export function useWhen(): (bucket: Pick<UsageBucket, 'local'>, isWhole?: boolean) => string {
  const format = useFormat()
  return ({ local }, isWhole = false) => {
    const [day = '', hour] = local.split('T')
    if (hour === undefined) return format.calendarDay(day)
    // Midnight begins a day, and says which.
    if (!isWhole) return hour === '00:00' ? format.calendarDay(day) : hour
    return `${format.calendarDay(day)}, ${hour}`
  }
}

export function countIn(models: readonly ModelUse[], counted: Counted): string {
  const one = (use: ModelUse) =>
    counted === 'cacheWrite'
      ? BigInt(use.cacheWrite5m) + BigInt(use.cacheWrite1h)
      : BigInt(use[counted])
  return String(sumOf(models.map(one)))
}

export function requestsIn(models: readonly ModelUse[]): string {
  return countIn(models, 'requests')
}

export function creditsIn(models: readonly ModelUse[]) {
  return creditsOf(sumOf(models.map(({ credits }) => millionthsOf(credits.exact))))
}
