// For one target and path, the models that it asked us not to request, and until when. The vendor
// applies its limits per credential, model and path, so other models and paths are not affected.

/** For a 429 without a time: as long as between two probes of an open breaker. */
const COOL_MS_MIN = 1_000
/** Some upstreams ask for an hour; one request a minute shows whether the limit still applies. */
const COOL_MS_MAX = 60_000

export function createCooling(nowMs: () => number) {
  // Nothing is deleted: the gateway refuses models that are not in the catalogue before it routes a
  // request, so a process keeps at most targets × models of the catalogue × 2 paths numbers.
  const freeAtMs = new Map<string, number>()

  return {
    /** When several answers ask for different times, the longest counts. */
    coolDown(model: string, askedMs: number): void {
      const ms = Math.min(Math.max(askedMs, COOL_MS_MIN), COOL_MS_MAX)
      freeAtMs.set(model, Math.max(freeAtMs.get(model) ?? 0, nowMs() + ms))
    },

    isCooling: (model: string): boolean => (freeAtMs.get(model) ?? 0) > nowMs(),

    /** When the model may be requested again; in the past when it is not cooling. */
    freeAtMs: (model: string): number => freeAtMs.get(model) ?? 0,
  }
}

export type Cooling = ReturnType<typeof createCooling>
