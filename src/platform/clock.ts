// The only file that reads the system clock. These times are for logs, caches and timers; the
// ledger uses the database's time.

export type Clock = {
  /** Wall clock, milliseconds since 1970. May jump. */
  nowMs(): number
  /** Monotonic, milliseconds since an arbitrary start. For measuring spans. */
  spanMs(): number
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  spanMs: () => performance.now(),
}

/** The UTC day of a moment, as 2026-11-15. */
export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Whether a text is a day of this century; 30 February is none, though Date.parse reads it. */
export function isDay(text: string): boolean {
  if (!/^20\d\d-\d\d-\d\d$/.test(text)) return false
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && dayText(ms) === text
}

/** A number of milliseconds since 1970 as a Date. */
export function dateAt(ms: number): Date {
  return new Date(ms)
}

/**
 * Parses an RFC 3339 time, as providers write it; undefined when it is not one. 30 February is
 * none, though Date reads it as 2 March.
 */
export function dateOf(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text))
    return undefined
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) return undefined
  const day = text.slice(0, 10)
  return dayText(Date.parse(day)) === day ? date : undefined
}
