// The route of one request: which target it tries next. Targets are ordered by priority, then by
// the conversation's preference; among those, the best grade for the request's account goes first
// (capacity.ts). No request is refused because its targets look sick: then they are tried all the
// same, whether there is one or several. A request waits a short time for a target that is full, or
// whose pause ends soon.
import type { Clock } from '../platform/clock.ts'
import type { BookId } from '../platform/ids.ts'
import { rank } from './affinity.ts'
import type { Capacity, Grade } from './capacity.ts'
import type { Target } from './port.ts'
import type { RetryBudget } from './retry-budget.ts'
import type { PendingWait, WaitQueue } from './wait-queue.ts'

/** Limit on all waits of one request together; client libraries wait 0.5 s before they retry. */
const WAIT_MS = 1_500
/** The number of requests that a target takes grows with time. */
const FULL_CHECK_MS = 250

/** What the route needs to know of a target. */
export type RouteTarget = Target & {
  readonly priority: number
  readonly salt: number
  readonly weight: number
  readonly isDrained: boolean
  /** For the path of the request. */
  capacityOf(model: string): Capacity
}

type RouteOptions = {
  readonly book: BookId
  readonly model: string
  /** All targets that serve the model. */
  readonly candidates: readonly RouteTarget[]
  readonly conversation: number
  readonly budget: RetryBudget
  readonly waitQueue: WaitQueue
  /** In the wait queue: the path and the model. */
  readonly group: string
  readonly clock: Clock
}

// A class, because a dozen closures for each request took 1 µs and 0.7 KB.
export class Route {
  private readonly options: RouteOptions
  private readonly order: readonly RouteTarget[]
  private readonly tried = new Set<RouteTarget>()
  /** Tried before; each asked for a short pause, and may be tried again within the budget. */
  private readonly again = new Set<RouteTarget>()
  private attempts = 0
  /** A request tries at most one cooling target: the others asked for an even longer pause. */
  private hasTriedCooling = false
  /** All targets tried so far were out of service. */
  private hasTriedOnlyOut = true
  private waitedMs = 0

  constructor(options: RouteOptions) {
    this.options = options
    this.order = orderOf(options.candidates, options.conversation)
  }

  /** The next target that may be tried now. If it is not well, other requests leave it alone. */
  next(): Target | undefined {
    const best = this.bestOfGrades()
    const well = best.ready ?? best.low
    if (well !== undefined) return this.takeWell(well) ?? this.next()
    const failing = this.takeUnwell(best.failing)
    if (failing !== undefined) return failing
    if (best.full !== undefined) return undefined
    const sick = this.takeUnwell(best.sick)
    if (sick !== undefined) return sick
    if (best.cooling !== undefined) return this.probeCooling(best.cooling)
    // An account without funds refuses everything; but when there is no other, somebody may have
    // paid in the meantime.
    return this.hasTriedOnlyOut ? this.takeUnwell(best.out) : undefined
  }

  /**
   * Waits for a target that is full, or whose pause ends in time, even if it was tried: it did not
   * accept the request. One that is still full at the end is taken all the same.
   */
  wait(): PendingWait<Target> {
    const { clock, waitQueue, group } = this.options
    const fromMs = clock.spanMs()
    const untilMs = fromMs + WAIT_MS - this.waitedMs
    for (const one of this.tried) this.forgive(one, untilMs)
    const isFull = () => this.bestOfGrades().full !== undefined
    const untried = () => this.order.filter((one) => !this.tried.has(one))
    const isWorthIt = isFull() || this.pauseEndsMs(untried()).some((ms) => ms < untilMs)
    const wait = waitQueue.wait<Target>({
      group,
      find: () => {
        const isLast = isWorthIt && clock.spanMs() >= untilMs
        for (;;) {
          const { ready, low, failing, full } = this.bestOfGrades()
          const well = ready ?? low ?? (isLast ? full : undefined)
          if (well === undefined) return this.takeUnwell(failing)
          const found = this.takeWell(well)
          if (found !== undefined) return found
        }
      },
      nextMs: () =>
        least([
          ...this.pauseEndsMs(untried()),
          ...(isFull() ? [clock.spanMs() + FULL_CHECK_MS] : []),
        ]),
      untilMs: () => (isWorthIt ? untilMs : fromMs),
    })
    const found = wait.found.finally(() => {
      this.waitedMs += clock.spanMs() - fromMs
    })
    return { found, abandon: wait.abandon }
  }

  /** How long the shortest pause lasts that an upstream asked for; undefined when none did. */
  retryAfterMs(): number | undefined {
    const dueMs = least(this.pauseEndsMs(this.order))
    return dueMs === undefined ? undefined : Math.max(0, dueMs - this.options.clock.spanMs())
  }

  /**
   * The first in order of each grade; of the cooling ones, the one whose pause ends soonest.
   * `failing`: ready, but a retry there adds to the load of a target that has just failed.
   */
  private bestOfGrades(): Partial<Record<Grade | 'failing', RouteTarget>> {
    const best: Partial<Record<Grade | 'failing', RouteTarget>> = {}
    for (const one of this.order) {
      if (one.isDrained || this.tried.has(one)) continue
      const capacity = this.capacityOf(one)
      const grade = capacity.gradeFor(this.options.book)
      if (grade !== 'ready') {
        const isSooner = grade === 'cooling' && this.freeAtMs(one) < this.freeAtMs(best.cooling)
        if (best[grade] === undefined || isSooner) best[grade] = one
      } else if (this.attempts === 0 || !capacity.breaker.isFailing()) return { ready: one }
      else best.failing ??= one
    }
    return best
  }

  /**
   * One request a second over all cooling targets: the answer to a probe prolongs the pause of its
   * target, so that another one is free soonest at once.
   */
  private probeCooling(one: RouteTarget): RouteTarget | undefined {
    const cooling = this.order.filter((target) => this.freeAtMs(target) > 0)
    const { book } = this.options
    const isDue = cooling.every((target) => this.capacityOf(target).cooling.isProbeDue(book))
    if (this.hasTriedCooling || !isDue) return undefined
    const found = this.takeUnwell(one)
    if (found !== undefined) this.hasTriedCooling = true
    return found
  }

  /** Undefined, and left out from now on, if it was tried before and the budget is used up. */
  private takeWell(one: RouteTarget): RouteTarget | undefined {
    if (!this.again.has(one)) return this.take(one)
    this.again.delete(one)
    if (this.options.budget.take(this.options.book)) return this.take(one)
    this.tried.add(one)
    return undefined
  }

  /** A retry at a target that is not well adds to its load, and takes from the retry budget. */
  private takeUnwell(one: RouteTarget | undefined): RouteTarget | undefined {
    if (one === undefined) return undefined
    const { budget, book } = this.options
    return this.attempts === 0 || budget.take(book) ? this.take(one) : undefined
  }

  private take(found: RouteTarget): RouteTarget {
    const { book } = this.options
    const capacity = this.capacityOf(found)
    this.attempts += 1
    this.tried.add(found)
    if (capacity.gradeFor(book) !== 'out') this.hasTriedOnlyOut = false
    // Claim now, not at `send`: other requests choose their targets in between.
    capacity.claim(book)
    return found
  }

  /** A target that asked for a short pause may be tried again. */
  private forgive(one: RouteTarget, untilMs: number): void {
    const { budget, book } = this.options
    const freeAtMs = this.freeAtMs(one)
    if (freeAtMs === 0 || freeAtMs >= untilMs || !budget.has(book)) return
    this.tried.delete(one)
    this.again.add(one)
  }

  private capacityOf(one: RouteTarget): Capacity {
    return one.capacityOf(this.options.model)
  }

  /** When the pauses of these targets end that apply to this account. */
  private pauseEndsMs(targets: readonly RouteTarget[]): number[] {
    return targets.map((one) => this.freeAtMs(one)).filter((ms) => ms > 0)
  }

  private freeAtMs(one: RouteTarget | undefined): number {
    if (one === undefined || one.isDrained) return 0
    return this.capacityOf(one).cooling.freeAtMs(this.options.book)
  }
}

function orderOf(candidates: readonly RouteTarget[], conversation: number): readonly RouteTarget[] {
  const [only] = candidates
  if (candidates.length === 1 && only !== undefined && only.weight > 0) return candidates
  const priorities = [...new Set(candidates.map((one) => one.priority))].sort((a, b) => a - b)
  return priorities.flatMap((priority) =>
    rank(
      candidates.filter((one) => one.priority === priority),
      conversation,
    ),
  )
}

function least(list: readonly number[]): number | undefined {
  return list.length === 0 ? undefined : Math.min(...list)
}
