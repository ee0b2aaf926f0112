// Idempotency: the result of a key and a path is stored for 24 hours of the provider's clock. A
// repeat is answered with the object's current state. Operations are synchronous, so of two calls
// with one key that arrive together the second always finds what the first created.
import { BankError } from './errors.ts'
import { canonical } from './json.ts'

// The provider's window, counted from the first request.
const windowMs = 24 * 3_600_000

// As many as the stored payments: a key must not keep a deleted payment in memory.
const keysMax = 100_000

type Made = { atMs: number; parameters: string; again: () => object }

export function createIdempotence(now: () => number) {
  // In order of time, so that expired keys come first.
  const made = new Map<string, Made>()

  function forgetLapsed(): void {
    for (const [name, { atMs }] of made) {
      if (now() - atMs < windowMs && made.size < keysMax) return
      made.delete(name)
    }
  }

  return {
    /**
     * Runs the operation once; `again` shows its result now. An operation that throws leaves no
     * trace.
     */
    once(
      { key, path, body }: { key: string; path: string; body: unknown },
      deed: () => { answer: object; again: () => object },
    ): object {
      forgetLapsed()
      const name = `${key} ${path}`
      const parameters = canonical(body)
      const earlier = made.get(name)
      if (earlier !== undefined) {
        if (earlier.parameters === parameters) return earlier.again()
        const details = { parameter: 'Idempotence-Key' }
        throw new BankError(400, 'Idempotence key duplicated', details)
      }
      const { answer, again } = deed()
      made.set(name, { atMs: now(), parameters, again })
      return answer
    },

    clear: () => made.clear(),
  }
}

export type Idempotence = ReturnType<typeof createIdempotence>
