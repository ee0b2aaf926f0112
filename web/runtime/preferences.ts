// The language and the time zone of this browser's user. Imports no library, because bootstrap.ts,
// the first script of a page, needs both before anything else has loaded.

export type Language = 'ru' | 'en'
export const languages: readonly Language[] = ['ru', 'en']

/**
 * The language in which the server rendered the page; else the one that the address names, the one
 * chosen in this browser, the browser's own, or Russian.
 */
export function preferredLanguage(): Language {
  const { lang, dataset } = document.documentElement
  if (dataset.rendered !== undefined) return lang === 'en' ? 'en' : 'ru'
  const chosen = /(?:^|; )language=(ru|en)(?:;|$)/.exec(document.cookie)?.[1]
  const named = /[?&]lang=(ru|en)(?:&|$)/.exec(location.search)?.[1]
  const wanted = [named, chosen, ...navigator.languages].map((one) => one?.slice(0, 2))
  return (
    languages.find((one) => one === wanted.find((each) => each === 'ru' || each === 'en')) ?? 'ru'
  )
}

export const ZONE_STORAGE_KEY = 'zone'

/**
 * Cached, because every render that shows a time reads the zone. Each read took 1 ms, and all of
 * them a sixth of the overview's time on a slow machine.
 */
const known: { system?: string; readonly zones: Map<string, boolean> } = { zones: new Map() }

export function systemZone(): string {
  known.system ??= Intl.DateTimeFormat().resolvedOptions().timeZone
  return known.system
}

export function currentZone(): string {
  const chosen = localStorage.getItem(ZONE_STORAGE_KEY)
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
