// How long a reply has waited for its client to read. It decides who pays when a limit passes or
// the upstream closes: if the client was slow, it pays for what was generated, as if it had left;
// otherwise the reply is not charged. Time in which our own event loop was blocked is not the
// client's: it may have read everything, and we did not notice.

/**
 * Servers close a connection whose peer has not read for 30 to 60 s, some sooner. An upstream that
 * closes after a shorter wait closed for another reason.
 */
const STALLED_MS_MIN = 10_000
/** As long as a client may read nothing at all. */
export const UNREAD_MS_MAX = 60_000

export class ClientWait {
  isWaiting = false
  private readonly blockedMs: () => number
  private currentWaitMs = 0
  private countedMs: number
  private countedBlockedMs: number
  private totalMs = 0
  // The longest span up to now in which we waited for the client for more than half of the time.
  private spanWaitedMs = 0
  private spanOtherMs = 0

  /** `blockedMs` says for how long in total the event loop was blocked. */
  constructor(startedMs: number, blockedMs: () => number) {
    this.countedMs = startedMs
    this.blockedMs = blockedMs
    this.countedBlockedMs = blockedMs()
  }

  begin(nowMs: number): void {
    this.count(nowMs)
    this.isWaiting = true
    this.currentWaitMs = 0
  }

  /** Does nothing when no wait is under way. */
  end(nowMs: number): void {
    this.count(nowMs)
    this.isWaiting = false
  }

  /** The length of the wait under way; 0 when there is none. */
  currentMs(nowMs: number): number {
    this.count(nowMs)
    return this.isWaiting ? this.currentWaitMs : 0
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
    const blockedMs = this.blockedMs()
    const oursMs = Math.min(ms, blockedMs - this.countedBlockedMs)
    const waitedMs = this.isWaiting ? ms - oursMs : 0
    this.countedMs = nowMs
    this.countedBlockedMs = blockedMs
    this.currentWaitMs += waitedMs
    this.totalMs += waitedMs
    this.spanWaitedMs += waitedMs
    this.spanOtherMs += ms - waitedMs
    if (this.spanOtherMs < this.spanWaitedMs) return
    this.spanWaitedMs = 0
    this.spanOtherMs = 0
  }
}
