// The hook that gives components the format for the current language and the reader's time zone,
// or for another one: a report's day begins at midnight in the shop's.
import { useTranslation } from 'react-i18next'
import type { Language } from '../runtime/preferences.ts'
import { useZone } from '../runtime/zone.ts'
import { createFormat, type Format } from './format.ts'

const formats = new Map<string, Format>()

export function useFormat(otherZone?: string): Format {
  const { i18n } = useTranslation()
  const ownZone = useZone()
  const zone = otherZone ?? ownZone
  const language: Language = i18n.language === 'en' ? 'en' : 'ru'
  const key = `${language} ${zone}`
  const format = formats.get(key) ?? createFormat(language, zone)
  formats.set(key, format)
  return format
}
