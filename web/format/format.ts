// The formats of formats.ts for the language that is spoken and the time zone that was chosen.
import { useTranslation } from 'react-i18next'
import type { Language } from '../runtime/here.ts'
import { useZone } from '../runtime/zone.ts'
import { createFormat, type Format } from './formats.ts'

const made = new Map<string, Format>()

/** The formats of the language spoken and the zone chosen now. */
export function useFormat(): Format {
  const { i18n } = useTranslation()
  const zone = useZone()
  const language: Language = i18n.language === 'en' ? 'en' : 'ru'
  const key = `${language} ${zone}`
  const format = made.get(key) ?? createFormat(language, zone)
  made.set(key, format)
  return format
}
