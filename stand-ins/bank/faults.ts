// Faults of API calls, on request: for the next call, for the calls of one order, or at random with
// a seed. A rule says what the client sees and whether the call had its effect before.
import { BankError } from './errors.ts'
import { isObject } from './json.ts'

const kinds = {
  /** 500 in the provider's shape. */
  error: 'after',
  /** The connection is reset. */
  reset: 'after',
  /** No answer until the client gives up. */
  hang: 'after',
  /** 429; the provider promises that nothing happened. */
  'too-many-requests': 'before',
  /** 202, as the provider's older libraries expect it. */
  processing: 'after',
  /** The right answer, late. */
  slow: 'after',
  /** 502 with the page of a proxy. */
  html: 'after',
  /** 200 with half of the JSON. */
  truncated: 'after',
} as const

export type FaultKind = keyof typeof kinds

export type FaultRule = {
  readonly kind: FaultKind
  /** Whether the call fails before or after its effect. */
  readonly when?: 'before' | 'after'
  /** How often; null is unlimited. Once unless there is a probability. */
  readonly times?: number | null
  /** Only calls that concern the payment with this `metadata.order_id`. */
  readonly orderId?: string
  readonly method?: string
  /** How the path begins, after /v3. */
  readonly path?: string
  /** A delay before the answer. */
  readonly delayMs?: number
  readonly retryAfterMs?: number
  readonly probability?: number
  readonly seed?: number
}

export type Fault = Omit<FaultRule, 'when'> & { readonly when: 'before' | 'after' }
export type Call = { method: string; path: string; orderId: string | null }

type Kept = Fault & { left: number; draw: () => number }

export function createFaults() {
  let kept: Kept[] = []

  const isMeant = (rule: Kept, call: Call) =>
    rule.left > 0 &&
    (rule.orderId === undefined || rule.orderId === call.orderId) &&
    (rule.method === undefined || rule.method === call.method) &&
    call.path.startsWith(rule.path ?? '') &&
    (rule.probability === undefined || rule.draw() < rule.probability)

  return {
    add(rule: FaultRule): void {
      const { times = rule.probability === undefined ? 1 : null } = rule
      const left = times ?? Number.POSITIVE_INFINITY
      kept.push({ when: kinds[rule.kind], ...rule, left, draw: chance(rule.seed ?? 1) })
    },

    /** The first rule that matches, with one use taken; null for a correct answer. */
    take(call: Call): Fault | null {
      const rule = kept.find((one) => isMeant(one, call))
      if (rule === undefined) return null
      rule.left -= 1
      if (rule.left <= 0) kept = kept.filter((one) => one !== rule)
      return rule
    },

    list: () =>
      kept.map(({ draw, left, ...rule }) => ({
        ...rule,
        times: Number.isFinite(left) ? left : null,
      })),
    clear(): void {
      kept = []
    },
  }
}

export type Faults = ReturnType<typeof createFaults>

const members: Readonly<Record<keyof FaultRule, string>> = {
  kind: 'string',
  when: 'string',
  times: 'number',
  orderId: 'string',
  method: 'string',
  path: 'string',
  delayMs: 'number',
  retryAfterMs: 'number',
  probability: 'number',
  seed: 'number',
}

export function readFaultRule(given: unknown): FaultRule {
  const wrong = (why: string) => new BankError(400, `stand-in: ${why}`)
  if (!isObject(given)) throw wrong('a fault is an object')
  for (const [name, value] of Object.entries(given)) {
    const type = Object.hasOwn(members, name) ? members[name as keyof FaultRule] : undefined
    if (type === undefined) throw wrong(`unknown member ${name}`)
    const isRight = typeof value === type || (name === 'times' && value === null)
    if (!isRight) throw wrong(`${name} is not a ${type}`)
  }
  if (!Object.hasOwn(kinds, String(given.kind))) throw wrong(`unknown fault ${given.kind}`)
  if (!['before', 'after', undefined].includes(given.when as string | undefined)) {
    throw wrong('when is before or after')
  }
  // Safe: names, types and words were checked above.
  return given as FaultRule
}

/** Pseudo-random numbers from 0 to 1 that depend only on the seed (mulberry32). */
function chance(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
