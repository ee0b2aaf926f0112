// When to look at an order or a refund again. Short pauses while the payer is likely to be paying,
// long ones for a day after, because a success that comes late is honoured. All in seconds.

const MINUTE = 60
const HOUR = 3_600

/** After this nobody asks by itself any more; a notice or an operator still may. */
export const LOOKED_FOR_SECONDS = 25 * HOUR

/** A top-up that is neither paid nor canceled by then; its end is awaited for weeks, if need be. */
export const UNRESOLVED_LOOK_SECONDS = 6 * HOUR

/**
 * For providers that cannot list what was settled: 3, 6, 10, 15, 20, 30 s after the creation or the
 * payer's return, each 30 s to 15 minutes, each 5 minutes to 75, each hour to 25 hours.
 */
const ALONE = [3, 6, 10, 15, 20, 30]
/**
 * Where the sweep finds payments, this only finds cancellations whose notice was lost: twice while
 * the payer is there, once after the payer's hour, then each hour.
 */
const BESIDE_SWEEP = [10 * MINUTE, 40 * MINUTE, 75 * MINUTE]

export function firstLookSeconds(hasSettledList: boolean): number {
  return (hasSettledList ? BESIDE_SWEEP : ALONE)[0] ?? MINUTE
}

/** From the age at which it was looked at, the pause until the next look; null: no more. */
export function nextLookSeconds(ageSeconds: number, hasSettledList: boolean): number | null {
  if (ageSeconds >= LOOKED_FOR_SECONDS) return null
  const next = (hasSettledList ? BESIDE_SWEEP : ALONE).find((at) => at > ageSeconds + 1)
  if (next !== undefined) return next - ageSeconds
  if (hasSettledList) return HOUR
  if (ageSeconds < 15 * MINUTE) return 30
  return ageSeconds < 75 * MINUTE ? 5 * MINUTE : HOUR
}

/** Pauses after an unknown outcome, as the provider advises: Fibonacci, up to an hour. */
export function repeatSeconds(tries: number): number {
  let [before, pause] = [1, 2]
  for (let i = 1; i < tries && pause < HOUR; i++) [before, pause] = [pause, before + pause]
  return Math.min(pause, HOUR)
}

/** A pending refund: minutes at first, then each hour; a bank takes up to three days. */
export function refundLookSeconds(looks: number): number {
  return looks < 5 ? MINUTE : looks < 12 ? 10 * MINUTE : HOUR
}
