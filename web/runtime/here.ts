// What this browser says of its user before anything is loaded: the language and the time zone.
// Without any library, because the first script of a page asks it.

export type Language = 'ru' | 'en'
export const languages: readonly Language[] = ['ru', 'en']

/** The language chosen in this browser, else the browser's own, else Russian. */
export function languageHere(): Language {
  const chosen = /(?:^|; )language=(ru|en)(?:;|$)/.exec(document.cookie)?.[1]
  const wished = [chosen, ...navigator.languages].map((one) => one?.slice(0, 2))
  return (
    languages.find((one) => one === wished.find((each) => each === 'ru' || each === 'en')) ?? 'ru'
  )
}

export async function wordsOf(language: Language): Promise<object> {
  if (language === 'en') return (await import('../words/en/en.ts')).en
  return (await import('../words/ru/ru.ts')).ru
}

export const ZONE_STORED = 'zone'

/**
 * Asked for at every render of whatever shows a moment, and a millisecond each time: a sixth of
 * what the overview needed on a slow machine before they were kept.
 */
const known: { system?: string; readonly zones: Map<string, boolean> } = { zones: new Map() }

export function systemZone(): string {
  known.system ??= Intl.DateTimeFormat().resolvedOptions().timeZone
  return known.system
}

export function currentZone(): string {
  const chosen = localStorage.getItem(ZONE_STORED)
  return chosen !== null && isZone(chosen) ? chosen : systemZone()
}

function isZone(timeZone: string): boolean {
  const isKnown = known.zones.get(timeZone) ?? tryZone(timeZone)
  known.zones.set(timeZone, isKnown)
  return isKnown
}

function tryZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
