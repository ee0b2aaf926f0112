// Formats numbers, sums and moments for a language and a time zone. Sums arrive as decimal digits
// and stay integers: no balance becomes a float. Components use the hook of use-format.ts.
import type {
  Credits,
  IntegerText,
  Kopecks,
  Language,
  Localized,
  Time,
} from '../../src/cabinet/contract/contract.ts'

/** British English puts the day before the month; American English writes a million as M, not m. */
const locales = {
  ru: { numbers: 'ru-RU', dates: 'ru-RU' },
  en: { numbers: 'en-US', dates: 'en-GB' },
} as const satisfies Record<Language, object>
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export type Format = ReturnType<typeof createFormat>

const CURRENCY = { style: 'currency', currency: 'RUB', currencyDisplay: 'narrowSymbol' } as const

export function createFormat(language: Language, timeZone: string) {
  const { numbers, dates } = locales[language]
  const grouped = lazy(() => new Intl.NumberFormat(numbers))
  const short = lazy(
    () =>
      new Intl.NumberFormat(numbers, {
        notation: 'compact',
        maximumSignificantDigits: 3,
        // Rounded down: a balance of 4.35 million must not read as 4.4.
        roundingMode: 'floor',
      }),
  )
  const point = lazy(() => (1.5).toLocaleString(numbers).charAt(1))
  const rubles = lazy(() => new Intl.NumberFormat(numbers, CURRENCY))
  const price = lazy(
    () => new Intl.NumberFormat(numbers, { ...CURRENCY, trailingZeroDisplay: 'stripIfInteger' }),
  )
  const moments = (options: Intl.DateTimeFormatOptions) =>
    lazy(() => new Intl.DateTimeFormat(dates, { timeZone, ...options }))
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
  const ago = lazy(() => new Intl.RelativeTimeFormat(dates, { numeric: 'auto', style: 'short' }))

  // Russian adds `г.` (year) to the number; before a time of day that is not needed.
  const momentOf = (time: Time) =>
    moment()
      .format(new Date(time))
      .replace(/\sг\.,/, ',')

  return {
    language,
    timeZone,
    /** A name of the catalogue, which has one for each language. */
    text: (text: Localized) => text[language],
    /** 35 000 000 */
    whole: (value: IntegerText | number | bigint) => grouped().format(BigInt(value)),
    /** 1,25: exact decimal text with the separators of the language. */
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
    rubles: (kopecks: Kopecks) => rubles().format(decimalRubles(kopecks)),
    /** 1 300 ₽, but 37,15 ₽: for prices, which stand alone. */
    price: (kopecks: Kopecks) => price().format(decimalRubles(kopecks)),
    /** 15 ноября 2026 г. */
    day: (time: Time) => day().format(new Date(time)),
    /** 15 нояб.; for a calendar day such as 2026-11-15, which has no time zone. */
    calendarDay: (text: string) => calendarDay().format(new Date(`${text}T00:00:00Z`)),
    /** 9–15 нояб.; two calendar days. */
    calendarDays: (from: string, to: string) =>
      calendarDay().formatRange(new Date(`${from}T00:00:00Z`), new Date(`${to}T00:00:00Z`)),
    dayShort: (time: Time) => dayShort().format(new Date(time)),
    /** 15 нояб., 04:15:07; for lines of a log, where the period names the year. */
    second: (time: Time) => second().format(new Date(time)),
    /** 15 нояб. 2026, 04:15 */
    moment: momentOf,
    /** 04:15 */
    clock: (time: Time) => clock().format(new Date(time)),
    /** 03:00: when the days of limits begin, which are UTC days. */
    utcMidnight: (nowMs: number = Date.now()) => clock().format(nowMs - (nowMs % DAY_MS)),
    /** 5 мин назад within a day, then the moment. */
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
 * Creates a formatter at its first use. All eight took 12 ms, four times that on a slow machine; a
 * page needs a few of them.
 */
function lazy<T>(create: () => T): () => T {
  const created: { value?: T } = {}
  return () => {
    created.value ??= create()
    return created.value
  }
}

/** Text, not a number: NumberFormat reads decimal text exactly. */
function decimalRubles(kopecks: Kopecks): `${number}` {
  const text = kopecks.replace('-', '').padStart(3, '0')
  const sign = kopecks.startsWith('-') ? '-' : ''
  return `${sign}${text.slice(0, -2)}.${text.slice(-2)}` as `${number}`
}
