// Records at a target how one request went, and reports each change of the target's state once.
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { retryAfterMs } from '../wire/errors.ts'
import { type AccountVerdict, isAboutOurAccount, type Verdict } from '../wire/verdict.ts'
import type { Sender, Ticket } from './breaker.ts'
import type { Capacity } from './capacity.ts'
import type { Outcome } from './port.ts'
import type { Standing } from './standing.ts'

/** What the operator reads of a target. */
export type TargetCounts = {
  underWay: number
  succeeded: number
  failed: number
  /** A moving average of the time to the first byte of streams; 0 before the first. */
  firstByteMs: number
}

/** The part of a new time in the average: about the last twenty streams count. */
const AVERAGE_PART = 0.1

export type RecordedTarget = {
  readonly label: string
  readonly counts: TargetCounts
  readonly standing: Standing
}

type Sent = Sender & { readonly model: string; readonly path: string; readonly isStream: boolean }

type Needs = {
  readonly clock: Clock
  readonly log: Log
  /** A target that was full may have room. */
  readonly onRoom: () => void
}

export class TargetOutcome implements Outcome {
  /** The number of the secret that the request was sent with; set when it is sent. */
  secret = 0
  private readonly target: RecordedTarget
  private readonly capacity: Capacity
  private readonly sent: Sent
  private readonly needs: Needs
  private readonly ticket: Ticket
  private readonly sentMs: number
  private isServed = false
  private isWhole = false
  private isOver = false

  constructor(target: RecordedTarget, capacity: Capacity, sent: Sent, needs: Needs) {
    this.target = target
    this.capacity = capacity
    this.sent = sent
    this.needs = needs
    this.sentMs = needs.clock.spanMs()
    this.ticket = capacity.breaker.begin()
    capacity.concurrency.begin()
    target.counts.underWay += 1
  }

  answer(verdict: Verdict, headers: IncomingHttpHeaders): void {
    const { counts } = this.target
    this.capacity.limits.learn(headers, this.needs.clock.nowMs())
    if (verdict === 'served') {
      counts.succeeded += 1
      this.isServed = true
      this.noteServed()
      if (this.capacity.breaker.answer(this.ticket)) this.tell('info', 'an upstream answers again')
      this.succeed()
      return
    }
    if (verdict === 'refused' || verdict === 'retry') {
      // The upstream checks a request before it asks the model: that it refuses one does not show
      // that the model works, nor that it does not.
      counts.succeeded += 1
      return
    }
    counts.failed += 1
    if (isAboutOurAccount(verdict)) this.noteRefusal(verdict)
    else if (verdict === 'failed') this.noteFailure()
    else this.notePause(headers)
  }

  finish(): void {
    this.isWhole = true
    this.succeed()
  }

  fail(): void {
    this.target.counts.failed += 1
    this.noteFailure()
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.target.counts.underWay -= 1
    const { concurrency, breaker } = this.capacity
    const isLimited = concurrency.limit() !== Number.POSITIVE_INFINITY
    concurrency.end()
    // A probe that has shown nothing, because its client left, is given back.
    breaker.forget(this.ticket)
    this.target.standing.end(this.sent.book, this.sentMs)
    if (isLimited) this.needs.onRoom()
  }

  private noteServed(): void {
    const { counts, standing, label } = this.target
    this.capacity.serve(this.sent.book, this.sentMs)
    if (standing.serve(this.sent.book, this.sentMs)) {
      this.needs.log.info({ target: label }, 'an upstream credential is accepted again')
    }
    if (!this.sent.isStream) return
    const ms = this.needs.clock.spanMs() - this.sentMs
    counts.firstByteMs += (ms - counts.firstByteMs) * (counts.firstByteMs === 0 ? 1 : AVERAGE_PART)
  }

  /** The upstream refuses our credential; one that was replaced meanwhile is no longer used. */
  private noteRefusal(verdict: AccountVerdict): void {
    const { label, standing } = this.target
    if (!standing.isCurrent(this.secret)) return
    if (verdict === 'forbidden') {
      if (this.capacity.forbid(this.sent.book)) {
        this.tell('error', 'an upstream forbids our credential a model')
      }
    } else if (standing.leave(this.sent.book, verdict)) {
      this.needs.log.error({ target: label, why: verdict }, 'an upstream credential is refused')
    }
  }

  /** The upstream asks for a pause. */
  private notePause(headers: IncomingHttpHeaders): void {
    const { cooling, concurrency, breaker } = this.capacity
    const { book } = this.sent
    const askedMs = retryAfterMs(
      {
        retryAfterMs: headers['retry-after-ms'] as string | undefined,
        retryAfter: headers['retry-after'],
      },
      this.needs.clock.nowMs(),
    )
    if (cooling.coolDown(book, askedMs ?? 0)) this.tell('info', 'an upstream asks for a pause')
    // One customer's requests that the upstream limits at any time must not slow down the others.
    const sharedUntilMs = cooling.sharedUntilMs()
    if (sharedUntilMs > 0) concurrency.cut(sharedUntilMs)
    else if (!breaker.servesOthers(book)) concurrency.cut(cooling.freeAtMs(book))
  }

  private noteFailure(): void {
    if (this.capacity.breaker.fail(this.ticket, this.sent)) {
      this.tell('warn', 'an upstream fails and is avoided')
    }
  }

  /** A short reply may be complete before the relay has reported its status. */
  private succeed(): void {
    if (this.isServed && this.isWhole) this.capacity.breaker.succeed(this.ticket, this.sent.book)
  }

  private tell(level: 'info' | 'warn' | 'error', message: string): void {
    const { model, path } = this.sent
    const pauseMs = this.capacity.cooling.untilMs() - this.needs.clock.spanMs()
    const seconds = pauseMs > 0 ? Math.ceil(pauseMs / 1_000) : undefined
    const fields = { target: this.target.label, model, path, seconds }
    this.needs.log[level](fields, message)
  }
}
