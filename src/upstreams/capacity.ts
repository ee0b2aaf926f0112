// What is known of one target for one model and path: whether a request may be sent there now, and
// how good a choice it is. Upstreams apply their limits by credential, model and path, so nothing
// here concerns another model or path; what concerns the whole credential is in standing.ts.
import type { BookId } from '../platform/ids.ts'
import { type Breaker, createBreaker } from './breaker.ts'
import { type Concurrency, createConcurrency } from './concurrency.ts'
import { type Cooling, createCooling } from './cooling.ts'
import { createLimits, type Limits } from './limits.ts'
import type { Standing } from './standing.ts'

/**
 * From the best choice to the worst. `low`: near a limit of our account. `full`: as many requests
 * are under way as the upstream takes. `out`: out of service, or the model is forbidden.
 */
export const grades = ['ready', 'low', 'full', 'sick', 'cooling', 'out'] as const
export type Grade = (typeof grades)[number]

/** A model that is forbidden to our credential is tried again once a minute. */
const FORBIDDEN_MS = 60_000

export class Capacity {
  readonly breaker: Breaker
  readonly cooling: Cooling
  readonly concurrency: Concurrency
  readonly limits: Limits
  /** When a request was last served here. */
  servedMs = Number.NEGATIVE_INFINITY
  private readonly nowMs: () => number
  private readonly standing: Standing
  private readonly forbidden: Cooling
  private readonly paid: () => Capacity | undefined

  /**
   * `paid`: for the free path, the capacity of the paid one, once it is used. The free path reads
   * it but never changes it: otherwise a token count could hang for ten minutes at an upstream that
   * messages have found to be down.
   */
  constructor(
    nowMs: () => number,
    {
      standing,
      connections,
      paid,
    }: { standing: Standing; connections: number; paid: () => Capacity | undefined },
  ) {
    this.nowMs = nowMs
    this.breaker = createBreaker(nowMs)
    this.cooling = createCooling(nowMs)
    this.forbidden = createCooling(nowMs)
    this.concurrency = createConcurrency(nowMs, connections)
    this.limits = createLimits(nowMs)
    this.standing = standing
    this.paid = paid
  }

  gradeFor(book: BookId): Grade {
    if (this.isOut(book)) return 'out'
    if (this.cooling.isCooling(book)) return 'cooling'
    if (!this.isWell()) return 'sick'
    if (this.concurrency.isFull()) return 'full'
    return this.limits.isLow() ? 'low' : 'ready'
  }

  /** Reserves a probe, if a request that is sent now is one. */
  claim(book: BookId): void {
    this.breaker.claim()
    this.standing.claim(book)
    if (this.cooling.isCooling(book)) this.cooling.claim(book)
  }

  forbid(book: BookId): boolean {
    return this.forbidden.coolDown(book, FORBIDDEN_MS)
  }

  /** A request of this account was served that was sent at this time. */
  serve(book: BookId, sentMs: number): void {
    this.servedMs = this.nowMs()
    if (this.cooling.isCooling(book)) this.cooling.lift(book, sentMs)
    if (this.forbidden.isCooling(book)) this.forbidden.lift(book, sentMs)
  }

  /** For the operator. `cooling` and `forbidden`: for at least one account. */
  state(): 'serving' | 'sick' | 'cooling' | 'forbidden' {
    if (this.breaker.state() !== 'closed') return 'sick'
    if (this.forbidden.isActive()) return 'forbidden'
    return this.cooling.isActive() ? 'cooling' : 'serving'
  }

  private isOut(book: BookId): boolean {
    if (this.standing.isOut(book) || this.forbidden.isCooling(book)) return true
    return this.paid()?.isOut(book) === true
  }

  private isWell(): boolean {
    return this.breaker.isReady() && this.paid()?.isClosed() !== false
  }

  private isClosed(): boolean {
    return this.breaker.state() === 'closed'
  }
}
