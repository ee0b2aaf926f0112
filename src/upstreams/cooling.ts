// The models that one target asked us to leave alone, on one path, and until when. The vendor
// counts its limits for each credential, model and path, so other models and paths go on meanwhile.

/** A 429 that names no time: as long as between two probes of a sick target. */
const COOL_MS_MIN = 1_000
/** Some upstreams ask for an hour; one request a minute finds out whether the limit still holds. */
const COOL_MS_MAX = 60_000

export function createCooling(nowMs: () => number) {
  // Nothing is deleted: the gateway refuses models that are not in the catalogue before it routes a
  // request, so a process keeps at most targets × models of the catalogue × 2 paths numbers.
  const freeAtMs = new Map<string, number>()

  return {
    /** Of the waits that answers of the same moment ask for, the longest counts. */
    coolDown(model: string, askedMs: number): void {
      const ms = Math.min(Math.max(askedMs, COOL_MS_MIN), COOL_MS_MAX)
      freeAtMs.set(model, Math.max(freeAtMs.get(model) ?? 0, nowMs() + ms))
    },

    isCooling: (model: string): boolean => (freeAtMs.get(model) ?? 0) > nowMs(),

    /** When the model may be asked for again; in the past where nothing cools down. */
    freeAtMs: (model: string): number => freeAtMs.get(model) ?? 0,
  }
}

export type Cooling = ReturnType<typeof createCooling>
