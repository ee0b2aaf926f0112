// The route of one request: which target it tries next. Targets are ordered by priority, then by
// the conversation's preference. Those with an open breaker and drained ones are left out, and one
// that cools down is tried only when there is no other. When no target is left, the request waits a
// short time for one to recover.
import type { Clock } from '../platform/clock.ts'
import { rank } from './affinity.ts'
import type { Breaker } from './breaker.ts'
import type { Cooling } from './cooling.ts'
import type { Target } from './port.ts'
import type { RetryBudget } from './retry-budget.ts'
import type { PendingWait, WaitQueue } from './wait-queue.ts'

/**
 * Limit on all waits of one request together. An open breaker allows a probe every second, and an
 * upstream that is down refuses at once.
 */
const WAIT_MS = 1_500
/** Added while a probe is under way: an upstream that has recovered answers within seconds. */
const ANSWER_MS = 1_500

/** What the route needs to know of a target. */
export type RouteTarget = Target & {
  readonly priority: number
  readonly salt: number
  readonly weight: number
  readonly isDrained: boolean
  readonly breaker: Breaker
  readonly cooling: Cooling
}

type RouteOptions = {
  readonly model: string
  /** All targets that serve the model. */
  readonly candidates: readonly RouteTarget[]
  readonly conversation: number
  readonly budget: RetryBudget
  readonly waitQueue: WaitQueue
  readonly clock: Clock
}

// A class, because a dozen closures for each request took 1 µs and 0.7 KB.
export class Route {
  private readonly options: RouteOptions
  private readonly order: readonly RouteTarget[]
  /** Targets tried so far, with their number of recoveries at that time. */
  private readonly tried = new Map<RouteTarget, number>()
  /** A request tries at most one cooling target: the others asked for an even longer pause. */
  private hasTriedCooling = false
  private waitedMs = 0
  private retryUntilMs: number | undefined

  constructor(options: RouteOptions) {
    this.options = options
    this.order = orderOf(options.candidates, options.conversation)
  }

  /**
   * The next target that may be tried now. If its breaker is open, no other request probes it for a
   * second.
   */
  next(): Target | undefined {
    // When there is only one target, its own error is better than a refusal of ours.
    const isOnly = this.options.candidates.length === 1
    return this.pick((one) => !this.tried.has(one) && (isOnly || one.breaker.isReady()))
  }

  /**
   * Waits for a target; one that was tried before counts when it has recovered or may be probed
   * again.
   */
  wait(): PendingWait<Target> {
    const { clock, waitQueue, candidates } = this.options
    const fromMs = clock.spanMs()
    this.retryUntilMs ??= fromMs + WAIT_MS
    const untilMs = fromMs + WAIT_MS - this.waitedMs
    const isProbing = () => this.waitable().some(({ breaker }) => breaker.state() === 'probing')
    const mayRecoverInTime =
      isProbing() || this.waitable().some(({ breaker }) => breaker.dueMs() < untilMs)
    const isWaiting = mayRecoverInTime && candidates.length > 1
    const wait = waitQueue.wait<Target>({
      find: () => this.pick((one) => this.mayBeTried(one) && this.isUsable(one)),
      nextMs: () => least(this.waitable().map(({ breaker }) => breaker.dueMs())),
      untilMs: () => (isWaiting ? untilMs + (isProbing() ? ANSWER_MS : 0) : fromMs),
    })
    const found = wait.found.finally(() => {
      this.waitedMs += clock.spanMs() - fromMs
    })
    return { found, abandon: wait.abandon }
  }

  /** After how long a retry may succeed; undefined when only the operator can help. */
  retryAfterMs(): number | undefined {
    const { clock, model } = this.options
    const known = this.order.filter((one) => !one.isDrained)
    const dueMs = least(
      known.map(({ breaker, cooling }) => Math.max(breaker.dueMs(), cooling.freeAtMs(model))),
    )
    return dueMs === undefined ? undefined : Math.max(0, dueMs - clock.spanMs())
  }

  /**
   * The first in order that may be tried and does not cool down. If all cool down, the one that
   * ends soonest, at once: its own answer with its retry-after is better than a refusal of ours.
   */
  private pick(mayTry: (one: RouteTarget) => boolean): RouteTarget | undefined {
    const { model } = this.options
    let soonest: RouteTarget | undefined
    for (const one of this.order) {
      if (one.isDrained || !mayTry(one)) continue
      if (!one.cooling.isCooling(model)) {
        if (this.isWithinBudget(one)) return this.take(one)
      } else if (
        soonest === undefined ||
        one.cooling.freeAtMs(model) < soonest.cooling.freeAtMs(model)
      ) {
        soonest = one
      }
    }
    if (soonest === undefined || this.hasTriedCooling || !this.isWithinBudget(soonest))
      return undefined
    this.hasTriedCooling = true
    return this.take(soonest)
  }

  private take(found: RouteTarget): RouteTarget {
    this.tried.set(found, found.breaker.recoveries())
    // Claim now, not at `send`: other requests choose their targets in between.
    found.breaker.claim()
    return found
  }

  /**
   * Only a retry at a target that is failing or cooling takes from the retry budget: it adds to
   * that target's load.
   */
  private isWithinBudget({ breaker, cooling }: RouteTarget): boolean {
    const { model, budget } = this.options
    if (this.tried.size === 0) return true
    return !(breaker.isFailing() || cooling.isCooling(model)) || budget.take()
  }

  /**
   * A target is tried a second time only until `retryUntilMs`: each attempt may hang for a minute.
   */
  private mayBeTried(one: RouteTarget): boolean {
    return !this.tried.has(one) || this.options.clock.spanMs() < (this.retryUntilMs ?? 0)
  }

  private isUsable(one: RouteTarget): boolean {
    const { breaker } = one
    if (breaker.state() !== 'closed') return breaker.isDue()
    return this.tried.get(one) !== breaker.recoveries()
  }

  private waitable(): readonly RouteTarget[] {
    return this.order.filter(
      (one) =>
        !(one.isDrained || (this.hasTriedCooling && one.cooling.isCooling(this.options.model))) &&
        this.mayBeTried(one) &&
        one.breaker.state() !== 'closed',
    )
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
