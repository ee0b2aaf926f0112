// Durations are counted in steps of a factor of the square root of 2, so that a chart adds up
// counts instead of reading every request. The function usage_latency_step of the database
// (sql/usage.sql) chooses the step; this file knows what a step means.

/** Where the steps 1 to 37 begin, in milliseconds; step 0 is below the first. */
export const LATENCY_BOUNDS: readonly number[] = Array.from({ length: 37 }, (_, i) =>
  Math.ceil(8 * 2 ** (i / 2) - 1e-9),
)
export const LATENCY_STEPS = LATENCY_BOUNDS.length + 1

/** Milliseconds. */
export type Latency = { readonly p50: number; readonly p95: number }

/** The percentiles of the counts from `at` on; null when there are none. */
export function latencyOf(counts: Float64Array, at: number): Latency | null {
  let all = 0
  for (let step = 0; step < LATENCY_STEPS; step++) all += counts[at + step] ?? 0
  if (all === 0) return null
  return { p50: percentile(counts, at, all * 0.5), p95: percentile(counts, at, all * 0.95) }
}

/** The middle of the step in which the request of this rank is. */
function percentile(counts: Float64Array, at: number, rank: number): number {
  let below = 0
  for (let step = 0; step < LATENCY_STEPS; step++) {
    below += counts[at + step] ?? 0
    if (below >= rank) return middleOf(step)
  }
  return middleOf(LATENCY_STEPS - 1)
}

/** The geometric middle: at most 1.19 times (2 to the power of 1/4) above or below any of it. */
function middleOf(step: number): number {
  const from = LATENCY_BOUNDS[step - 1]
  const to = LATENCY_BOUNDS[step]
  if (from === undefined) return Math.round((to ?? 0) / 2)
  return Math.round(to === undefined ? from : Math.sqrt(from * to))
}
