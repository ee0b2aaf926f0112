// Labels of the chart's buckets, and sums of what was used in them.
import type { ModelUsage, UsageBucket } from '../../../src/cabinet/contract/usage.ts'
import { creditsOf, millionthsOf } from '../../format/decimal.ts'
import { useFormat } from '../../format/use-format.ts'
import { sumOf } from './chart.ts'

type Counted = 'requests' | 'free' | 'input' | 'output' | 'cacheRead' | 'cacheWrite'

/** `15 нояб.` or `13:00`; when `isWhole`, `15 нояб., 13:00`. */
export function useBucketLabel(): (
  bucket: Pick<UsageBucket, 'local'>,
  isWhole?: boolean,
) => string {
  const format = useFormat()
  return ({ local }, isWhole = false) => {
    const [day = '', hour] = local.split('T')
    if (hour === undefined) return format.calendarDay(day)
    // The label of midnight is the day that begins.
    if (!isWhole) return hour === '00:00' ? format.calendarDay(day) : hour
    return `${format.calendarDay(day)}, ${hour}`
  }
}

export function countIn(models: readonly ModelUsage[], counted: Counted): string {
  const one = (use: ModelUsage) =>
    counted === 'cacheWrite'
      ? BigInt(use.cacheWrite5m) + BigInt(use.cacheWrite1h)
      : BigInt(use[counted])
  return String(sumOf(models.map(one)))
}

export function requestsIn(models: readonly ModelUsage[]): string {
  return countIn(models, 'requests')
}

export function creditsIn(models: readonly ModelUsage[]) {
  return creditsOf(sumOf(models.map(({ credits }) => millionthsOf(credits.exact))))
}
