// The way of one request: which target it tries next, by priority, then the conversation's own
// among equals, leaving out the sick and the drained, and asking one that cools down only where
// there is no other; and, when it has nowhere to go, its short wait for one to get well. So a
// request fails only if none was well, or none could be known to be in time.
import type { Clock } from '../platform/clock.ts'
import { rank } from './affinity.ts'
import type { Breaker } from './breaker.ts'
import type { RetryBudget } from './budget.ts'
import type { Cooling } from './cooling.ts'
import type { Target } from './port.ts'
import type { Wait, Waiting } from './waiting.ts'

/**
 * All waits of one request together. A sick target may be asked a second after the last time, and
 * what is down answers at once.
 */
const WAIT_MS = 1_500
/** As much again while a sick target is being asked: one that is well says so within seconds. */
const ANSWER_MS = 1_500

/** As the route sees a target. */
export type Known = Target & {
  readonly priority: number
  readonly salt: number
  readonly weight: number
  readonly isDrained: boolean
  readonly breaker: Breaker
  readonly cooling: Cooling
}

type Needs = {
  readonly model: string
  /** All that serve the model. */
  readonly fit: readonly Known[]
  readonly conversation: number
  readonly budget: RetryBudget
  readonly waiting: Waiting
  readonly clock: Clock
}

// A class: a dozen closures for each request took 1 us and 0.7 KB.
export class Route {
  private readonly needs: Needs
  private readonly order: readonly Known[]
  /** How often each had recovered when it was tried. */
  private readonly tried = new Map<Known, number>()
  /** One for each request: the others that cool down asked to be left alone even longer. */
  private hasAskedCooling = false
  private waitedMs = 0
  private againUntilMs: number | undefined

  constructor(needs: Needs) {
    this.needs = needs
    this.order = orderOf(needs.fit, needs.conversation)
  }

  /** The next target that may be asked now. A sick one is then nobody else's for a second. */
  next(): Target | undefined {
    // Where there is no other, its own answer is better than none of ours.
    const isOnly = this.needs.fit.length === 1
    return this.pick((one) => !this.tried.has(one) && (isOnly || one.breaker.isReady()))
  }

  /** Waits for a target; of those tried before, for one that got well or may be asked again. */
  wait(): Wait<Target> {
    const { clock, waiting, fit } = this.needs
    const fromMs = clock.spanMs()
    this.againUntilMs ??= fromMs + WAIT_MS
    const untilMs = fromMs + WAIT_MS - this.waitedMs
    const isAsked = () => this.sick().some(({ breaker }) => breaker.state() === 'probing')
    const hasHope = isAsked() || this.sick().some(({ breaker }) => breaker.dueMs() < untilMs)
    const isWaiting = hasHope && fit.length > 1
    const wait = waiting.wait<Target>({
      look: () => this.pick((one) => this.isWanted(one) && this.isWell(one)),
      nextMs: () => least(this.sick().map(({ breaker }) => breaker.dueMs())),
      untilMs: () => (isWaiting ? untilMs + (isAsked() ? ANSWER_MS : 0) : fromMs),
    })
    const found = wait.found.finally(() => {
      this.waitedMs += clock.spanMs() - fromMs
    })
    return { found, abandon: wait.abandon }
  }

  /** When asking again may help, from now on; undefined when only the operator can help. */
  retryAfterMs(): number | undefined {
    const { clock, model } = this.needs
    const known = this.order.filter((one) => !one.isDrained)
    const dueMs = least(
      known.map(({ breaker, cooling }) => Math.max(breaker.dueMs(), cooling.freeAtMs(model))),
    )
    return dueMs === undefined ? undefined : Math.max(0, dueMs - clock.spanMs())
  }

  /**
   * The first in order of those that may be asked and do not cool down; else the one that is free
   * soonest, at once: its own answer, with its own retry-after, is better than a refusal of ours.
   */
  private pick(mayAsk: (one: Known) => boolean): Known | undefined {
    const { model } = this.needs
    let soonest: Known | undefined
    for (const one of this.order) {
      if (one.isDrained || !mayAsk(one)) continue
      if (!one.cooling.isCooling(model)) {
        if (this.isWithin(one)) return this.take(one)
      } else if (
        soonest === undefined ||
        one.cooling.freeAtMs(model) < soonest.cooling.freeAtMs(model)
      ) {
        soonest = one
      }
    }
    if (soonest === undefined || this.hasAskedCooling || !this.isWithin(soonest)) return undefined
    this.hasAskedCooling = true
    return this.take(soonest)
  }

  private take(found: Known): Known {
    this.tried.set(found, found.breaker.recoveries())
    // Now and not when it is sent to: others look in between.
    found.breaker.claim()
    return found
  }

  /** A repeat on a target that fails or cools down adds to its load; on another it does not. */
  private isWithin({ breaker, cooling }: Known): boolean {
    const { model, budget } = this.needs
    if (this.tried.size === 0) return true
    return !(breaker.isFailing() || cooling.isCooling(model)) || budget.take()
  }

  /** A target that was tried is asked again only for so long: each may hang for a minute. */
  private isWanted(one: Known): boolean {
    return !this.tried.has(one) || this.needs.clock.spanMs() < (this.againUntilMs ?? 0)
  }

  private isWell(one: Known): boolean {
    const { breaker } = one
    if (breaker.state() !== 'closed') return breaker.isDue()
    return this.tried.get(one) !== breaker.recoveries()
  }

  private sick(): readonly Known[] {
    return this.order.filter(
      (one) =>
        !(one.isDrained || (this.hasAskedCooling && one.cooling.isCooling(this.needs.model))) &&
        this.isWanted(one) &&
        one.breaker.state() !== 'closed',
    )
  }
}

function orderOf(fit: readonly Known[], conversation: number): readonly Known[] {
  const [only] = fit
  if (fit.length === 1 && only !== undefined && only.weight > 0) return fit
  const priorities = [...new Set(fit.map((one) => one.priority))].sort((a, b) => a - b)
  return priorities.flatMap((priority) =>
    rank(
      fit.filter((one) => one.priority === priority),
      conversation,
    ),
  )
}

function least(list: readonly number[]): number | undefined {
  return list.length === 0 ? undefined : Math.min(...list)
}
