// Counts attempts in PostgreSQL, so that all processes share one count: by address, against a
// machine that tries many operators, and by operator, against many machines that try one.
import { createHash } from 'node:crypto'
import type { Db } from '../platform/db/db.ts'
import * as queries from './queries.ts'
import { signInRefusal } from './refusals.ts'

export type Allowance = { readonly max: number; readonly seconds: number }

export function createThrottle(db: Db) {
  return {
    /** Counts one attempt. Refuses: sign_in_throttled. */
    async count(kind: string, text: string, { max, seconds }: Allowance): Promise<void> {
      const { hits, leftSeconds } = await queries.throttleIncrement(db, {
        ...{ key: keyOf(kind, text), max, seconds },
      })
      if (hits <= max) return
      const refusal = signInRefusal(
        'sign_in_throttled',
        `Too many attempts; try again in ${Math.max(1, Math.ceil(leftSeconds / 60))} min.`,
        { kind },
      )
      refusal.retryAfterMs = Math.max(1, leftSeconds) * 1_000
      throw refusal
    },

    /** Resets the count, after a success. */
    clear: (kind: string, text: string): Promise<void> =>
      queries.throttleDelete(db, keyOf(kind, text)),
  }
}

export type Throttle = ReturnType<typeof createThrottle>

/** A digest, so that every key fits; what it counts is no secret. */
function keyOf(kind: string, text: string): string {
  return `${kind} ${createHash('sha256').update(text).digest('base64url')}`
}
