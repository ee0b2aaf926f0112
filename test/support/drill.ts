// Types and functions that every fault program (a drill) uses.

export type Figures = Record<string, number | string | bigint>

export type Drill = (options: {
  readonly isFull: boolean
  readonly seed: number
  /** The chosen ones of the module's `parts`; undefined when none were chosen. */
  readonly only: readonly string[] | undefined
  /** How often to play each part; undefined leaves it to the program. */
  readonly times: number | undefined
  say(text: string): void
}) => Promise<Figures>

/** The system broke a promise that a drill checks. */
export class PromiseBroken extends Error {
  override readonly name = 'PromiseBroken'
}

/** The assertion of fault programs: names the promise when it breaks. */
export function ensure(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new PromiseBroken(promise)
}

/** A small deterministic random generator (mulberry32): a seed replays a run. */
export function random(seed: number): () => number {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** The value below which a share of the sorted sample lies. */
export function percentile(sample: readonly number[], share: number): number {
  const sorted = [...sample].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Within the factor of calm, or within 25 ms of it: the machine is noisy below that. */
export function isWithin(measuredMs: number, calmMs: number, factor: number): boolean {
  return measuredMs <= calmMs * factor || measuredMs <= calmMs + 25
}
