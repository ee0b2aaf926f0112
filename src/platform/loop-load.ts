// Whether the event loop of this process has been short of time lately. Nothing needs to be limited
// while it has time left.
import { performance } from 'node:perf_hooks'

/** Shorter spans say little: a single garbage collection would fill them. */
const SAMPLE_MS = 100
/** From about this part of its time on, callbacks wait noticeably longer for their turn. */
const BUSY_PART = 0.6
/**
 * A loop counts as busy for so long after it was: limits end its shortage, and without a delay they
 * would begin and end ten times a second.
 */
const BUSY_MS = 30_000

/** Looks only when it is asked; between two questions it costs nothing. */
export function createLoopLoad(
  spanMs: () => number,
  used: typeof performance.eventLoopUtilization = performance.eventLoopUtilization,
): () => boolean {
  const state = { at: used(), sampledMs: spanMs(), busyUntilMs: 0 }
  return () => {
    const nowMs = spanMs()
    if (nowMs - state.sampledMs >= SAMPLE_MS) {
      const at = used()
      if (used(at, state.at).utilization > BUSY_PART) state.busyUntilMs = nowMs + BUSY_MS
      Object.assign(state, { at, sampledMs: nowMs })
    }
    return nowMs < state.busyUntilMs
  }
}
