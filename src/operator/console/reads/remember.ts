// Everybody who looks shares one reading of what pages ask for again and again.
import type { Clock } from '../../../platform/clock.ts'

/**
 * Reads at most once within the time, counted from the end of a reading: while the database is
 * slow, pages that ask again must not add readings. What failed is not remembered.
 */
export function remember<T>(clock: Clock, ms: number, read: () => Promise<T>): () => Promise<T> {
  const kept: { untilMs: number; found: Promise<T> | undefined } = { untilMs: 0, found: undefined }
  return () => {
    if (kept.found !== undefined && clock.spanMs() < kept.untilMs) return kept.found
    const found = read()
    Object.assign(kept, { found, untilMs: Number.POSITIVE_INFINITY })
    found.then(
      () => Object.assign(kept, { untilMs: clock.spanMs() + ms }),
      () => Object.assign(kept, { found: undefined }),
    )
    return found
  }
}
