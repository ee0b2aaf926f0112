// Numbers, sums and moments as people read them, in a language and a time zone. Sums arrive as
// decimal digits and stay integers: a float never meets a balance. Pages use the hook of format.ts.
import type {
  Credits,
  Kopecks,
  Language,
  Time,
  Whole,
} from '../../src/cabinet/contract/contract.ts'

/** British days come before months, as in most of the world; American millions are M and not m. */
const locales = {
  ru: { numbers: 'ru-RU', dates: 'ru-RU' },
  en: { numbers: 'en-US', dates: 'en-GB' },
} as const satisfies Record<Language, object>
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export type Format = ReturnType<typeof createFormat>

/** Everything that formats, for one language and one time zone. */
export function createFormat(language: Language, timeZone: string) {
  const { numbers, dates } = locales[language]
  const grouped = kept(() => new Intl.NumberFormat(numbers))
  const short = kept(
    () =>
      new Intl.NumberFormat(numbers, {
        notation: 'compact',
        maximumSignificantDigits: 3,
        // 4.35 million left must not read as 4.4.
        roundingMode: 'floor',
      }),
  )
  const point = kept(() => (1.5).toLocaleString(numbers).charAt(1))
  const rubles = kept(
    () =>
      new Intl.NumberFormat(numbers, {
        style: 'currency',
        currency: 'RUB',
        currencyDisplay: 'narrowSymbol',
      }),
  )
  const moments = (options: Intl.DateTimeFormatOptions) =>
    kept(() => new Intl.DateTimeFormat(dates, { timeZone, ...options }))
  const day = moments({ dateStyle: 'long' })
  const dayShort = moments({ day: 'numeric', month: 'short' })
  const calendarDay = moments({ day: 'numeric', month: 'short', timeZone: 'UTC' })
  const moment = moments({ dateStyle: 'medium', timeStyle: 'short' })
  const second = moments({
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  const clock = moments({ timeStyle: 'short' })
  const ago = kept(() => new Intl.RelativeTimeFormat(dates, { numeric: 'auto', style: 'short' }))

  // Beside a clock's time nobody takes 2026 for anything but a year.
  const momentOf = (time: Time) =>
    moment()
      .format(new Date(time))
      .replace(/\sг\.,/, ',')

  return {
    language,
    timeZone,
    /** 35 000 000 */
    whole: (value: Whole | number | bigint) => grouped().format(BigInt(value)),
    /** 1,25: exact decimal text with the language's own marks. */
    decimal: (text: string) => {
      const [whole = '0', fraction] = text.split('.')
      const shown = grouped().format(BigInt(whole))
      return fraction === undefined ? shown : `${shown}${point()}${fraction}`
    },
    /** 35 000 000, rounded down. */
    credits: (credits: Credits) => grouped().format(BigInt(credits.whole)),
    /** 35 млн, rounded down. */
    creditsShort: (credits: Credits) => short().format(BigInt(credits.whole)),
    /** 1 300,00 ₽ */
    rubles: (kopecks: Kopecks) => {
      // Text, not a number: NumberFormat reads decimal text exactly.
      const text = kopecks.replace('-', '').padStart(3, '0')
      const sign = kopecks.startsWith('-') ? '-' : ''
      return rubles().format(`${sign}${text.slice(0, -2)}.${text.slice(-2)}` as `${number}`)
    },
    /** 15 ноября 2026 г. */
    day: (time: Time) => day().format(new Date(time)),
    /** 15 нояб.; for a day of a calendar such as 2026-11-15 in no zone but its own. */
    calendarDay: (text: string) => calendarDay().format(new Date(`${text}T00:00:00Z`)),
    dayShort: (time: Time) => dayShort().format(new Date(time)),
    /** 15 нояб., 04:15:07; for lines of a log, whose year is known from elsewhere. */
    second: (time: Time) => second().format(new Date(time)),
    /** 15 нояб. 2026, 04:15 */
    moment: momentOf,
    /** 04:15 */
    clock: (time: Time) => clock().format(new Date(time)),
    /** 5 мин назад; in words for a day, then as a moment. */
    ago: (time: Time, nowMs: number = Date.now()) => {
      const ms = nowMs - Date.parse(time)
      if (ms >= DAY_MS || ms < -MINUTE_MS) return momentOf(time)
      if (ms >= HOUR_MS) return ago().format(-Math.floor(ms / HOUR_MS), 'hour')
      if (ms >= MINUTE_MS) return ago().format(-Math.floor(ms / MINUTE_MS), 'minute')
      return ago().format(0, 'second')
    },
    /** 1:05 of a countdown. */
    countdown: (seconds: number) =>
      `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`,
  }
}

/**
 * Built when first used, and kept. Eight of them took 12 ms together, and take a slow machine four
 * times that; a page needs a few.
 */
function kept<T>(make: () => T): () => T {
  const made: { one?: T } = {}
  return () => {
    made.one ??= make()
    return made.one
  }
}
