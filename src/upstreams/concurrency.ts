// How many requests a target gets at a time for one model and path. There is no limit until the
// upstream answers 429 or 529; then it is a part of what was under way, and grows again with time.

/** The part of the requests under way that stays after a 429 or 529. */
const CUT = 0.7
/** A burst of answers to requests that were sent together counts once. */
const CUT_MS = 1_000
/** Growth in a second: one request, or this part of the limit if that is more. */
const GROWTH = 0.05

/** `most`: the connections to the upstream; a limit above them means nothing. */
export function createConcurrency(nowMs: () => number, most: number) {
  const state = { underWay: 0, cut: Number.POSITIVE_INFINITY, growsFromMs: 0, cutMs: -CUT_MS }

  /** Never below 1; infinite when there is none. */
  function limit(): number {
    if (state.cut === Number.POSITIVE_INFINITY) return state.cut
    const seconds = Math.max(0, nowMs() - state.growsFromMs) / 1_000
    const grown = Math.floor(state.cut + seconds * Math.max(1, state.cut * GROWTH))
    if (grown >= most) state.cut = Number.POSITIVE_INFINITY
    return grown >= most ? Number.POSITIVE_INFINITY : grown
  }

  return {
    limit,
    underWay: (): number => state.underWay,
    isFull: (): boolean => state.underWay >= limit(),
    begin(): void {
      state.underWay += 1
    },
    end(): void {
      state.underWay -= 1
    },
    /** It grows again from `untilMs` on, when the pause that the upstream asked for is over. */
    cut(untilMs: number): void {
      if (nowMs() - state.cutMs < CUT_MS) return
      const now = Math.min(limit(), Math.max(1, state.underWay))
      state.cut = Math.max(1, Math.floor(now * CUT))
      state.cutMs = nowMs()
      state.growsFromMs = Math.max(nowMs(), untilMs)
    },
  }
}

export type Concurrency = ReturnType<typeof createConcurrency>
