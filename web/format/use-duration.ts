// How long something took, in its two largest units: 2 h 5 min, 7 sec.
import { useTranslation } from 'react-i18next'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const units = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
  ['second', SECOND_MS],
] as const

export function useDuration(): (ms: number) => string {
  const { i18n } = useTranslation()
  return (ms) => durationText(ms, i18n.language)
}

/** Rounded down; less than a second is shown with a tenth. */
export function durationText(ms: number, language: string): string {
  const shown = (count: number, unit: string) =>
    new Intl.NumberFormat(language, {
      ...{ style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 },
    }).format(count)
  if (ms < SECOND_MS) return shown(Math.floor(ms / 100) / 10, 'second')
  const first = units.findIndex(([, length]) => ms >= length)
  const parts = units.slice(first, first + 2).map(([unit, length], i) => {
    const larger = i === 0 ? Number.POSITIVE_INFINITY : (units[first]?.[1] ?? 1)
    return [Math.floor((ms % larger) / length), unit] as const
  })
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => shown(count, unit))
    .join(' ')
}
