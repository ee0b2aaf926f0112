// Misbehaviour of API calls, on order: for the next call, for the calls of one order, or by chance
// with a seed. A rule says what the client sees and whether the deed happened before it.
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
  /** 202, as its older libraries know it. */
  processing: 'after',
  /** The right answer, late. */
  slow: 'after',
  /** 502 with a page of the proxy in front. */
  html: 'after',
  /** 200 with half of the JSON. */
  truncated: 'after',
} as const

export type FaultKind = keyof typeof kinds

export type FaultRule = {
  readonly kind: FaultKind
  /** Whether the deed is done before or after the client is let down: `after` means done. */
  readonly when?: 'before' | 'after'
  /** How often; null for ever. Once unless there is a probability. */
  readonly times?: number | null
  /** Only calls that concern the payment with this `metadata.order_id`. */
  readonly orderId?: string
  readonly method?: string
  /** How the path begins, after /v3. */
  readonly path?: string
  /** Waits so long before the answer. */
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

    /** The first rule that is meant, one use spent; null for an honest call. */
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

/** Numbers from 0 to 1 that depend only on the seed (mulberry32). */
function chance(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
