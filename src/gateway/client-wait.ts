// How long a reply has waited for its client to read. It decides who pays when a limit passes or
// the upstream closes: if the client was slow, it pays for what was generated, as if it had left;
// otherwise the reply is not charged.

/**
 * Servers close a connection whose peer has not read for 30 to 60 s, some sooner. An upstream that
 * closes after a shorter wait closed for another reason.
 */
const STALLED_MS_MIN = 10_000
/** As long as a client may read nothing at all. */
export const UNREAD_MS_MAX = 60_000

export class ClientWait {
  isWaiting = false
  private begunMs = 0
  private countedMs: number
  private totalMs = 0
  // The longest span up to now in which we waited for the client for more than half of the time.
  private spanWaitedMs = 0
  private spanOtherMs = 0

  constructor(startedMs: number) {
    this.countedMs = startedMs
  }

  begin(nowMs: number): void {
    this.count(nowMs)
    this.isWaiting = true
    this.begunMs = nowMs
  }

  /** Does nothing when no wait is under way. */
  end(nowMs: number): void {
    this.count(nowMs)
    this.isWaiting = false
  }

  /** The length of the wait under way; 0 when there is none. */
  currentMs(nowMs: number): number {
    return this.isWaiting ? nowMs - this.begunMs : 0
  }

  /**
   * Whether a time limit that passes now, for a request of `ageMs`, passed because of the client:
   * we waited for it for a minute in total, or for more than half of the time.
   */
  explainsTimeLimit(ageMs: number, nowMs: number): boolean {
    this.count(nowMs)
    return this.totalMs > Math.min(UNREAD_MS_MAX, ageMs / 2)
  }

  /**
   * Whether an upstream that closes now did so because we did not read from it while the client was
   * slow. We see the close only after we have read what the upstream had sent before it, which
   * takes time and, with a client that reads in small steps, more waits. So waits count together as
   * long as they make up more than half of the time since the first of them.
   */
  hasStalledUpstream(nowMs: number): boolean {
    this.count(nowMs)
    return this.spanWaitedMs >= STALLED_MS_MIN
  }

  private count(nowMs: number): void {
    const ms = nowMs - this.countedMs
    this.countedMs = nowMs
    if (this.isWaiting) {
      this.totalMs += ms
      this.spanWaitedMs += ms
    } else {
      this.spanOtherMs += ms
      if (this.spanOtherMs < this.spanWaitedMs) return
      this.spanWaitedMs = 0
      this.spanOtherMs = 0
    }
  }
}
