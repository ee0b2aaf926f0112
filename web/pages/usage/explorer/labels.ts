// The names of buckets and of keys: a day, an hour, a week; a model, an ending, a session, a label.
import { useTranslation } from 'react-i18next'
import type { Usage, UsageBucket, UsageSplit } from '../../../../src/cabinet/contract/usage.ts'
import { useFormat } from '../../../format/use-format.ts'
import { dayAfter, endings } from '../period.ts'
import { REST_ID } from './chart.ts'

/** `15 нояб.`, `15 нояб., 13:00` or `9–15 нояб.` */
export function useBucketLabel(usage: Usage): (index: number) => string {
  const format = useFormat()
  const { buckets, step } = usage
  return (index) => {
    const [day = '', hour] = buckets[index]?.local.split('T') ?? []
    if (hour !== undefined) return `${format.calendarDay(day)}, ${hour}`
    if (step !== 'week') return format.calendarDay(day)
    const last = lastDayOf(usage, index)
    return last === day ? format.calendarDay(day) : format.calendarDays(day, last)
  }
}

/** The last day of a bucket of days or weeks. */
export function lastDayOf({ buckets, to }: Usage, index: number): string {
  const next: UsageBucket | undefined = buckets[index + 1]
  return next === undefined ? to : dayAfter(next.local.slice(0, 10), -1)
}

export function useKeyName(split: UsageSplit): (id: string) => string {
  const { t } = useTranslation()
  return (id) => {
    if (id === REST_ID) return t(`usage.explorer.rest.${split}`)
    if (id === '') return t('usage.explorer.without')
    const ending = endings.find((one) => one === id)
    return split === 'ending' && ending !== undefined ? t(`usage.ending.${ending}`) : id
  }
}
