// How long a reply has waited for its client to read. It tells who is to blame when a limit passes
// or the upstream gives up: a client that was waited for pays what was generated, as if it had
// left; a failure of the upstream is free.

/**
 * Servers close on a peer that does not read for 30 to 60 s, some sooner. What breaks off after a
 * shorter wait broke for another reason.
 */
const UPSTREAM_MS_MIN = 10_000

export class ClientWait {
  isNow = false
  private begunMs = 0
  private lastMs = 0
  private pastMs = 0

  begin(nowMs: number): void {
    this.isNow = true
    this.begunMs = nowMs
  }

  /** May be repeated. */
  end(nowMs: number): void {
    if (!this.isNow) return
    this.lastMs = this.lastsMs(nowMs)
    this.pastMs += this.lastMs
    this.isNow = false
  }

  /** How long the present wait has lasted; 0 when there is none. */
  lastsMs(nowMs: number): number {
    return this.isNow ? nowMs - this.begunMs : 0
  }

  /**
   * Whether the client took more than half of the time since then: all that the upstream did took
   * less than half of what a request may last, so the limit passed because of the client.
   */
  isMostSince(startedMs: number, nowMs: number): boolean {
    return this.pastMs + this.lastsMs(nowMs) > (nowMs - startedMs) / 2
  }

  /**
   * Whether an upstream that breaks off now has done so because it was not read. That it closed is
   * seen only when it is read again, and after what it had sent before: at a time when the last
   * wait is still more than half of all since its beginning.
   */
  hasBrokenUpstream(nowMs: number): boolean {
    const lastMs = this.isNow ? this.lastsMs(nowMs) : this.lastMs
    return lastMs >= UPSTREAM_MS_MIN && lastMs > (nowMs - this.begunMs) / 2
  }
}
