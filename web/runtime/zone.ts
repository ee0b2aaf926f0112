// The time zone in which days begin and moments are shown: the one chosen in this browser, else the
// system's. The browser stores it, because travellers mean the place they are in; the account knows
// the last choice for e-mails and statements.
import { useSyncExternalStore } from 'react'
import { currentZone, ZONE_STORAGE_KEY } from './preferences.ts'

const CHANGED = 'zone-chosen'

/** Undefined chooses the system's zone. */
export function chooseZone(zone: string | undefined): void {
  if (zone === undefined) localStorage.removeItem(ZONE_STORAGE_KEY)
  else localStorage.setItem(ZONE_STORAGE_KEY, zone)
  window.dispatchEvent(new Event(CHANGED))
}

/** Whether the user chose a zone, instead of the system's. */
export function hasChosenZone(): boolean {
  return localStorage.getItem(ZONE_STORAGE_KEY) !== null
}

export function useZone(): string {
  return useSyncExternalStore(
    (changed) => {
      window.addEventListener(CHANGED, changed)
      return () => window.removeEventListener(CHANGED, changed)
    },
    currentZone,
    zoneOfServer,
  )
}

/** The server does not know the reader's zone; the browser replaces its moments at once. */
const zoneOfServer = () => 'UTC'

/** Every zone that the browser knows, with its present offset from UTC. */
export function zones(): { readonly name: string; readonly offset: string }[] {
  const names = Intl.supportedValuesOf('timeZone')
  const all = names.includes('UTC') ? names : ['UTC', ...names]
  return all.map((name) => ({ name, offset: offsetOf(name) }))
}

function offsetOf(timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' })
  const part = format.formatToParts(new Date()).find(({ type }) => type === 'timeZoneName')
  return part?.value.replace('GMT', 'UTC') ?? ''
}
