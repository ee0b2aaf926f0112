// Everybody who looks shares one reading of what pages ask for again and again.
import type { Clock } from '../../../platform/clock.ts'

/** Reads at most once within the time; what failed is not remembered. */
export function remember<T>(clock: Clock, ms: number, read: () => Promise<T>): () => Promise<T> {
  const kept: { untilMs: number; found: Promise<T> | undefined } = { untilMs: 0, found: undefined }
  return () => {
    if (kept.found !== undefined && clock.spanMs() < kept.untilMs) return kept.found
    const found = read()
    Object.assign(kept, { found, untilMs: clock.spanMs() + ms })
    found.catch(() => Object.assign(kept, { found: undefined }))
    return found
  }
}
