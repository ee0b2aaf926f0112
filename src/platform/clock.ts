// The only place that asks what time it is. Money never uses these times: the ledger's times are
// the database's. They serve logs, caches and timers.

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

/** A moment of somebody's clock as a Date. */
export function dateAt(ms: number): Date {
  return new Date(ms)
}

/** Reads an RFC 3339 moment, such as a provider writes; undefined when it is none. */
export function dateOf(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text))
    return undefined
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? undefined : date
}
