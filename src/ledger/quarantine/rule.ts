// Decides when a refused settle is sent again, and when it goes to quarantine: after ten minutes in
// which the database accepted other settles. If it accepts none, it is unavailable or broken for
// everybody, and waiting is right.
import type { Clock } from '../../platform/clock.ts'

/** A migration or a repair of the schema takes minutes; quarantine is for what outlasts it. */
const QUARANTINE_AFTER_MS = 600_000
/** The pause before a refused settle is sent again: the first, and the longest after doubling. */
const RETRY_MS = 1_000
const RETRY_MS_MAX = 60_000
/**
 * How recently another settle must have committed for a refusal to count against this one: twice
 * the longest pause between two refusals.
 */
const ACCEPTED_MS = 2 * RETRY_MS_MAX
/** How often the database is asked whether it accepts settles of other processes. */
const ASK_MS = 10_000

/** The times of the first and the last refusal of a settle. */
type Refusals = { readonly sinceMs: number; readonly lastMs: number }

export type QuarantineRule = ReturnType<typeof createQuarantineRule>

export function createQuarantineRule(options: {
  readonly clock: Clock
  /** Whether a settle of any process committed within the last minute. */
  readonly hasSettledLately: () => Promise<boolean>
}) {
  const { clock } = options
  const never = Number.NEGATIVE_INFINITY
  /** `acceptedMs`: when this process last learned that the database accepts settles. */
  const state = { acceptedMs: never, askedMs: never }

  return {
    /** A settle of this process committed. */
    accepted(): void {
      state.acceptedMs = clock.spanMs()
    },

    pauseMs: (attempts: number) => Math.min(RETRY_MS * 2 ** attempts, RETRY_MS_MAX),

    /** Refused for long enough, and the last time while the database accepted others. */
    isMet({ sinceMs, lastMs }: Refusals): boolean {
      const acceptedAgoMs = lastMs - state.acceptedMs
      const isOld = lastMs - sinceMs >= QUARANTINE_AFTER_MS
      return isOld && acceptedAgoMs >= 0 && acceptedAgoMs <= ACCEPTED_MS
    },

    /**
     * Asks the database about others' settles, when something has been refused for long enough: a
     * worker that replays a spool may have no other settles of its own.
     */
    async ask(refusedSinceMs: readonly number[]): Promise<void> {
      const nowMs = clock.spanMs()
      const isDue = nowMs - state.askedMs >= ASK_MS && nowMs - state.acceptedMs >= ASK_MS
      const isOld = (sinceMs: number) => nowMs - sinceMs >= QUARANTINE_AFTER_MS
      if (!isDue || !refusedSinceMs.some(isOld)) return
      state.askedMs = nowMs
      if (await options.hasSettledLately().catch(() => false)) state.acceptedMs = clock.spanMs()
    },
  }
}
