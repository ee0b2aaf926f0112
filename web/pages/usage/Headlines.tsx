// What the period comes to in two sentences: what caching saved, and how many requests failed.
import { useTranslation } from 'react-i18next'
import type { UsageFigures } from '../../../src/cabinet/contract/usage.ts'
import { creditsOf, millionthsOf } from '../../format/decimal.ts'
import { usePhrases } from '../../format/phrases.ts'
import { kopecksFor } from '../../format/roubles.ts'
import { useFormat } from '../../format/use-format.ts'
import { usePackRate } from '../../format/use-rubles.ts'
import type { Period } from './period.ts'
import { roughly } from './rough.ts'

const KOPECKS_PER_RUBLE = 100n

export function Headlines(props: { readonly whole: UsageFigures; readonly period: Period }) {
  const { whole, period } = props
  const lines = [useSaved(whole, period), useFailed(whole)].filter((line) => line !== undefined)
  if (lines.length === 0) return null
  return (
    <ul className="grid gap-1 font-serif text-lg text-pretty">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  )
}

/** Caching saved about ₽5,000; undefined for less than a rouble, or less than a credit. */
function useSaved({ cacheSaved }: UsageFigures, period: Period): string | undefined {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const rate = usePackRate()
  const micro = millionthsOf(cacheSaved.exact)
  const size = micro < 0n ? -micro : micro
  const span = period === 'month' ? 'month' : 'period'
  const key = `usage.headline.${micro < 0n ? 'lost' : 'saved'}.${span}` as const
  if (rate === undefined) {
    const credits = creditsOf(roughly(size))
    return credits.whole === '0' ? undefined : t(key, { amount: phrases.credits(credits) })
  }
  const rubles = roughly(BigInt(kopecksFor(size, rate)) / KOPECKS_PER_RUBLE)
  if (rubles === 0n) return undefined
  return t(key, { amount: t('usage.explorer.rubles', { shown: format.whole(rubles) }) })
}

/** 3 % of requests failed, all free. */
function useFailed({ errors, known }: UsageFigures): string | undefined {
  const { t } = useTranslation()
  const format = useFormat()
  const [failed, all] = [BigInt(errors), BigInt(known)]
  if (all === 0n) return undefined
  if (failed === 0n) return t('usage.headline.noneFailed')
  // To the nearest percent.
  const percent = (failed * 200n + all) / (all * 2n)
  const shown = t('usage.explorer.percent', { shown: format.whole(percent === 0n ? 1n : percent) })
  return t(percent === 0n ? 'usage.headline.fewFailed' : 'usage.headline.failed', {
    percent: shown,
  })
}
