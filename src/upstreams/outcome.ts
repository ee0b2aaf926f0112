// Records at a target how one request went.
import type { Breaker, Ticket } from './breaker.ts'
import type { Cooling } from './cooling.ts'
import type { Outcome } from './port.ts'

/** What the operator reads of a target. */
export type TargetCounts = { underWay: number; succeeded: number; failed: number }

type RecordedTarget = {
  readonly breaker: Breaker
  readonly cooling: Cooling
  readonly counts: TargetCounts
}

export class TargetOutcome implements Outcome {
  private readonly breaker: Breaker
  private readonly cooling: Cooling
  private readonly counts: TargetCounts
  private readonly model: string
  private readonly onChange: () => void
  private readonly ticket: Ticket
  private isAnswered = false
  private isWhole = false
  private isOver = false

  constructor(target: RecordedTarget, model: string, onChange: () => void) {
    this.breaker = target.breaker
    this.cooling = target.cooling
    this.counts = target.counts
    this.model = model
    this.onChange = onChange
    this.ticket = this.breaker.begin()
  }

  answer(): void {
    this.counts.succeeded += 1
    const hasClosed = this.breaker.answer(this.ticket)
    this.isAnswered = true
    this.succeed()
    if (hasClosed) this.onChange()
  }

  finish(): void {
    this.isWhole = true
    this.succeed()
  }

  fail(retryAfterMs?: number): void {
    this.counts.failed += 1
    if (retryAfterMs !== undefined) this.cooling.coolDown(this.model, retryAfterMs)
    if (this.breaker.fail(this.ticket)) this.onChange()
  }

  coolDown(retryAfterMs = 0): void {
    this.counts.failed += 1
    this.cooling.coolDown(this.model, retryAfterMs)
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.counts.underWay -= 1
    // A probe whose client left has shown nothing, so the next request may be the probe.
    if (this.breaker.forget(this.ticket)) this.onChange()
  }

  /** A short reply may be complete before the relay has reported its status. */
  private succeed(): void {
    if (this.isAnswered && this.isWhole) this.breaker.succeed(this.ticket)
  }
}
