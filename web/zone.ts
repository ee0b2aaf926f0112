// The time zone in which days begin and moments are shown: the one chosen in this browser, else the
// system's. Kept in the browser, because people who travel mean the place they are in.
import { useSyncExternalStore } from 'react'

const STORED = 'zone'
const CHANGED = 'zone-chosen'

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
  const chosen = localStorage.getItem(STORED)
  return chosen !== null && isZone(chosen) ? chosen : systemZone()
}

/** Undefined: as the system says. */
export function chooseZone(zone: string | undefined): void {
  if (zone === undefined) localStorage.removeItem(STORED)
  else localStorage.setItem(STORED, zone)
  window.dispatchEvent(new Event(CHANGED))
}

/** Whether somebody chose one, rather than leaving it to the system. */
export function hasChosenZone(): boolean {
  return localStorage.getItem(STORED) !== null
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
