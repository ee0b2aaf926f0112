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
