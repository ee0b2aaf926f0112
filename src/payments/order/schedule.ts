// When to poll an order or a refund again, in seconds. Pauses are short while the payer is probably
// paying, and long for the day after, because a late payment is still credited.

const MINUTE = 60
const HOUR = 3_600

/** Older orders are not polled; a notification or an operator can still trigger a check. */
export const POLL_AGE_SECONDS_MAX = 25 * HOUR

/** Pause between polls of a top-up that is unresolved after that; it is polled until it ends. */
export const UNRESOLVED_POLL_SECONDS = 6 * HOUR

/**
 * For providers that cannot list settled payments: 3, 6, 10, 15, 20 and 30 s after the creation or
 * the payer's return, then every 30 s up to 15 minutes, every 5 minutes up to 75 minutes, and every
 * hour up to 25 hours.
 */
const WITHOUT_SWEEP = [3, 6, 10, 15, 20, 30]
/**
 * Where a sweep finds payments, polling only finds cancellations whose notification was lost: twice
 * in the payer's hour, once after it, then every hour.
 */
const WITH_SWEEP = [10 * MINUTE, 40 * MINUTE, 75 * MINUTE]

export function firstPollSeconds(hasSettledList: boolean): number {
  return (hasSettledList ? WITH_SWEEP : WITHOUT_SWEEP)[0] ?? MINUTE
}

/** The pause until the next poll of an order of this age; null: no more polls. */
export function nextPollSeconds(ageSeconds: number, hasSettledList: boolean): number | null {
  if (ageSeconds >= POLL_AGE_SECONDS_MAX) return null
  const next = (hasSettledList ? WITH_SWEEP : WITHOUT_SWEEP).find((at) => at > ageSeconds + 1)
  if (next !== undefined) return next - ageSeconds
  if (hasSettledList) return HOUR
  if (ageSeconds < 15 * MINUTE) return 30
  return ageSeconds < 75 * MINUTE ? 5 * MINUTE : HOUR
}

/** The pause after an unknown outcome, as the provider advises: Fibonacci, up to an hour. */
export function retryDelaySeconds(tries: number): number {
  let [before, pause] = [1, 2]
  for (let i = 1; i < tries && pause < HOUR; i++) [before, pause] = [pause, before + pause]
  return Math.min(pause, HOUR)
}

/** Pause between polls of a pending refund: minutes, then an hour; banks take up to three days. */
export function refundPollSeconds(tries: number): number {
  return tries < 5 ? MINUTE : tries < 12 ? 10 * MINUTE : HOUR
}
