// How long a reply has waited for its client to read. It decides who pays when a time limit passes
// or the upstream closes: if the client was slow, it pays for what was generated, as if it had
// left; if the upstream failed, the reply is not charged.

/**
 * Servers close a connection whose peer has not read for 30 to 60 s, some sooner. An upstream that
 * closes after a shorter wait closed for another reason.
 */
const UPSTREAM_MS_MIN = 10_000

export class ClientWait {
  isWaiting = false
  private begunMs = 0
  private lastMs = 0
  private pastMs = 0

  begin(nowMs: number): void {
    this.isWaiting = true
    this.begunMs = nowMs
  }

  /** Does nothing when no wait is under way. */
  end(nowMs: number): void {
    if (!this.isWaiting) return
    this.lastMs = this.currentMs(nowMs)
    this.pastMs += this.lastMs
    this.isWaiting = false
  }

  /** The length of the wait under way; 0 when there is none. */
  currentMs(nowMs: number): number {
    return this.isWaiting ? nowMs - this.begunMs : 0
  }

  /**
   * Whether more than half of the time since `startedMs` was spent waiting for the client. The
   * upstream then took less than half of the limit, so the limit passed because of the client.
   */
  isMostOfTimeSince(startedMs: number, nowMs: number): boolean {
    return this.pastMs + this.currentMs(nowMs) > (nowMs - startedMs) / 2
  }

  /**
   * Whether an upstream that closes now did so because we did not read from it while the client was
   * slow. We see the close only after we have resumed and read what the upstream had sent before
   * it, so some time may have passed since the last wait ended. That wait explains the close while
   * it makes up more than half of the time since it began.
   */
  explainsUpstreamClose(nowMs: number): boolean {
    const lastMs = this.isWaiting ? this.currentMs(nowMs) : this.lastMs
    return lastMs >= UPSTREAM_MS_MIN && lastMs > (nowMs - this.begunMs) / 2
  }
}
