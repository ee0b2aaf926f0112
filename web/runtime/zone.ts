// The time zone in which days begin and moments are shown: the one chosen in this browser, else the
// system's. Kept in the browser, because people who travel mean the place they are in; the account
// knows the last choice, for letters and statements.
import { useSyncExternalStore } from 'react'
import { currentZone, ZONE_STORED } from './here.ts'

const CHANGED = 'zone-chosen'

/** Undefined: as the system says. */
export function chooseZone(zone: string | undefined): void {
  if (zone === undefined) localStorage.removeItem(ZONE_STORED)
  else localStorage.setItem(ZONE_STORED, zone)
  window.dispatchEvent(new Event(CHANGED))
}

/** Whether somebody chose one, rather than leaving it to the system. */
export function hasChosenZone(): boolean {
  return localStorage.getItem(ZONE_STORED) !== null
}

export function useZone(): string {
  return useSyncExternalStore((changed) => {
    window.addEventListener(CHANGED, changed)
    return () => window.removeEventListener(CHANGED, changed)
  }, currentZone)
}

/** Every zone that the browser knows, with its present distance from UTC. */
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
