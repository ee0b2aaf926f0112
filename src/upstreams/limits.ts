// What an upstream's `anthropic-ratelimit-*` headers say is left of our account's limits for one
// model and path. The gateway prefers another target before a limit is reached; it never refuses a
// request because of these numbers.
import type { IncomingHttpHeaders } from 'node:http'

export const limitKinds = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const
export type LimitKind = (typeof limitKinds)[number]

/** Below this part of a limit the next few requests may reach it. */
const LOW = 0.05

type Limit = {
  readonly limit: number
  readonly left: number
  readonly seenMs: number
  /** When it is full again; undefined: not read, because much was left. */
  readonly fullMs: number | undefined
}

export type LimitView = { readonly limit: number; readonly left: number }

const names = limitKinds.map((kind) => {
  const prefix = `anthropic-ratelimit-${kind}`
  return { kind, limit: `${prefix}-limit`, left: `${prefix}-remaining`, reset: `${prefix}-reset` }
})

export function createLimits(nowMs: () => number) {
  const known = new Map<LimitKind, Limit>()

  /** The vendor refills its limits evenly: `reset` is when they are full again. */
  function leftNow({ limit, left, seenMs, fullMs }: Limit): number {
    if (fullMs === undefined) return left
    const passed = fullMs <= seenMs ? 1 : Math.min(1, (nowMs() - seenMs) / (fullMs - seenMs))
    return left + (limit - left) * passed
  }

  return {
    /** `wallMs`: our wall clock, for a reply without the header `date`. */
    learn(headers: IncomingHttpHeaders, wallMs: number): void {
      for (const name of names) {
        const limit = Number(headers[name.limit] ?? 0)
        const left = Number(headers[name.left] ?? Number.NaN)
        if (!(limit > 0 && left >= 0)) continue
        const seenMs = nowMs()
        // Reading a time costs more than the rest, and matters only when little is left.
        const isLittle = left < limit / 2
        const fullMs = isLittle ? seenMs + resetSpanMs(headers, name.reset, wallMs) : undefined
        known.set(name.kind, { limit, left, seenMs, fullMs })
      }
    },
    isLow(): boolean {
      for (const one of known.values()) if (leftNow(one) < one.limit * LOW) return true
      return false
    },
    view: (): Partial<Record<LimitKind, LimitView>> =>
      Object.fromEntries(
        [...known].map(([kind, one]) => [
          kind,
          { limit: one.limit, left: Math.floor(leftNow(one)) },
        ]),
      ),
  }
}

export type Limits = ReturnType<typeof createLimits>

/** A minute at most: the vendor's limits are per minute, and a wrong clock must not matter long. */
const SPAN_MS_MAX = 60_000

/** By the upstream's own clock, if it sends one: ours may differ. */
function resetSpanMs(headers: IncomingHttpHeaders, name: string, wallMs: number): number {
  const sentMs = Date.parse(headers.date ?? '')
  const resetMs = Date.parse(String(headers[name]))
  const spanMs = resetMs - (Number.isNaN(sentMs) ? wallMs : sentMs)
  return Number.isNaN(spanMs) ? 0 : Math.min(Math.max(spanMs, 0), SPAN_MS_MAX)
}
