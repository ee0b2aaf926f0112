// Whether a credential is in service. An account without funds and a credential that is not
// accepted get the same answer for every model, until a person acts: such a credential gets one
// request a minute, which shows when it is accepted again.

const PROBE_MS = 60_000

export type OutReason = 'unpaid' | 'unauthorised'

export function createStanding(nowMs: () => number) {
  const state: { why: OutReason | undefined; sinceMs: number; probeMs: number } = {
    why: undefined,
    sinceMs: 0,
    probeMs: 0,
  }
  return {
    /** Why it is out of service; undefined while it is in service. */
    why: (): OutReason | undefined => state.why,
    isOut: (): boolean => state.why !== undefined && nowMs() < state.probeMs,
    claim(): void {
      state.probeMs = nowMs() + PROBE_MS
    },
    /** Returns true when it was in service until now. */
    leave(why: OutReason): boolean {
      const wasIn = state.why === undefined
      if (wasIn) state.sinceMs = nowMs()
      state.why = why
      state.probeMs = nowMs() + PROBE_MS
      return wasIn
    },
    /**
     * A request was served that was sent at this time; one that was sent before the funds were used
     * up shows nothing. Returns true when the credential is in service again.
     */
    serve(sentMs: number): boolean {
      if (state.why === undefined || sentMs < state.sinceMs) return false
      state.why = undefined
      return true
    },
  }
}

export type Standing = ReturnType<typeof createStanding>
