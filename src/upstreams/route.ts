// The way of one request: which target it tries next, by priority, then the conversation's own
// among equals, leaving out the sick and the drained; and, when it has nowhere to go, its short
// wait for one to get well. So a request fails only if none was well, or none could be known to be
// in time.
import type { Clock } from '../platform/clock.ts'
import { rank } from './affinity.ts'
import type { Breaker } from './breaker.ts'
import type { RetryBudget } from './budget.ts'
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
}

export type Route = {
  /** The next target that may be asked now. A sick one is then nobody else's for a second. */
  next(): Target | undefined
  /** Waits for a target; of those tried before, for one that got well or may be asked again. */
  wait(): Wait<Target>
  /** When asking again may help, from now on; undefined when only the operator can help. */
  retryAfterMs(): number | undefined
}

export function createRoute(options: {
  /** All that serve the model. */
  readonly fit: readonly Known[]
  readonly conversation: number
  readonly budget: RetryBudget
  readonly waiting: Waiting
  readonly clock: Clock
}): Route {
  const { fit, conversation, budget, waiting, clock } = options
  const order = orderOf(fit, conversation)
  /** How often each had recovered when it was tried. */
  const tried = new Map<Known, number>()
  const state: { waitedMs: number; againUntilMs?: number } = { waitedMs: 0 }

  /** A repeat on a target that fails adds to its trouble; on another one it does not. */
  const isWithin = ({ breaker }: Known) => tried.size === 0 || !breaker.isFailing() || budget.take()

  function take(isOpenTo: (target: Known) => boolean): Known | undefined {
    const found = order.find((one) => !one.isDrained && isOpenTo(one) && isWithin(one))
    if (found === undefined) return undefined
    tried.set(found, found.breaker.recoveries())
    // Now and not when it is sent to: others look in between.
    found.breaker.claim()
    return found
  }

  /** A target that was tried is asked again only for so long: each may hang for a minute. */
  const isWanted = (one: Known) => !tried.has(one) || clock.spanMs() < (state.againUntilMs ?? 0)

  function isWell(one: Known): boolean {
    const { breaker } = one
    if (breaker.state() !== 'closed') return breaker.isDue()
    return tried.get(one) !== breaker.recoveries()
  }

  const sick = () =>
    order.filter((one) => !one.isDrained && isWanted(one) && one.breaker.state() !== 'closed')

  return {
    next: () =>
      // Where there is no other, its own answer is better than none of ours.
      take((one) => !tried.has(one) && (fit.length === 1 || one.breaker.isReady())),

    wait() {
      const fromMs = clock.spanMs()
      state.againUntilMs ??= fromMs + WAIT_MS
      const untilMs = fromMs + WAIT_MS - state.waitedMs
      const isAsked = () => sick().some(({ breaker }) => breaker.state() === 'probing')
      const hasHope = isAsked() || sick().some(({ breaker }) => breaker.dueMs() < untilMs)
      const isWaiting = hasHope && fit.length > 1
      const wait = waiting.wait<Target>({
        look: () => take((one) => isWanted(one) && isWell(one)),
        nextMs: () => least(sick().map(({ breaker }) => breaker.dueMs())),
        untilMs: () => (isWaiting ? untilMs + (isAsked() ? ANSWER_MS : 0) : fromMs),
      })
      const found = wait.found.finally(() => {
        state.waitedMs += clock.spanMs() - fromMs
      })
      return { found, abandon: wait.abandon }
    },

    retryAfterMs() {
      const dueMs = least(
        order.filter((one) => !one.isDrained).map(({ breaker }) => breaker.dueMs()),
      )
      return dueMs === undefined ? undefined : Math.max(0, dueMs - clock.spanMs())
    },
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
