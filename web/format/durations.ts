// How long something took, in seconds with two significant digits, and how fast it was.
import type { Language } from '../../src/cabinet/contract/contract.ts'

const locales = { ru: 'ru-RU', en: 'en-US' } as const satisfies Record<Language, string>
const formats = new Map<Language, Intl.NumberFormat>()

/** 0,42 с; 3,2 с; 95 с */
export function secondsText(language: Language, ms: number): string {
  const format =
    formats.get(language) ??
    new Intl.NumberFormat(locales[language], {
      ...{ style: 'unit', unit: 'second', unitDisplay: 'narrow' },
    })
  formats.set(language, format)
  const seconds = ms / 1_000
  if (seconds >= 10) return format.format(Math.round(seconds))
  return format.format(Number(seconds.toPrecision(2)))
}

/** Output tokens per second while the model wrote; undefined without times. */
export function tokensPerSecond(request: {
  readonly output: string
  readonly firstByteMs: number | null
  readonly totalMs: number | null
  readonly isStream: boolean | null
}): number | undefined {
  const { output, firstByteMs, totalMs, isStream } = request
  if (totalMs === null || output === '0') return undefined
  // Without a stream the whole response is written before its first byte is sent.
  const ms = isStream === true && firstByteMs !== null ? totalMs - firstByteMs : totalMs
  return ms > 0 ? Math.round((Number(output) * 1_000) / ms) : undefined
}
