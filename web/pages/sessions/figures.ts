// Figures of a session that the page computes: exact sums, shares and times.
import type { SessionFigures } from '../../../src/cabinet/contract/sessions.ts'

type Tokens = Pick<SessionFigures, 'input' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h'>

/** The whole percent of input tokens that came from the cache, rounded down; null without any. */
export function cachePercent(figures: Tokens): number | null {
  const read = BigInt(figures.cacheRead)
  const all = BigInt(figures.input) + read + cacheWrite(figures)
  return all === 0n ? null : Number((read * 100n) / all)
}

export function cacheWrite(figures: Pick<Tokens, 'cacheWrite5m' | 'cacheWrite1h'>): bigint {
  return BigInt(figures.cacheWrite5m) + BigInt(figures.cacheWrite1h)
}

/** From the first reply to the last one; a single request counts with its own time. */
export function durationMs(
  figures: Pick<SessionFigures, 'firstAt' | 'lastAt' | 'requests' | 'busyMs'>,
): number {
  if (figures.requests === '1') return Number(figures.busyMs)
  return Date.parse(figures.lastAt) - Date.parse(figures.firstAt)
}

/** Between two turns of an agent that works, its tools rarely take longer. */
const ACTIVE_MS = 2 * 60_000

export function isActive({ lastAt }: Pick<SessionFigures, 'lastAt'>, nowMs = Date.now()): boolean {
  return nowMs - Date.parse(lastAt) < ACTIVE_MS
}
