// Counts attempts in PostgreSQL, so that all processes share one count: by address, against a
// machine that tries many accounts, and by account, against many machines that try one. Keys
// contain keyed digests of e-mail addresses, so the table does not show which ones are tried.
import { createHmac } from 'node:crypto'
import type { Db } from '../platform/db/db.ts'
import type { Masked } from '../platform/masked.ts'
import * as queries from './queries.ts'

/** At most `max` attempts in `seconds`. The window begins with the first attempt. */
export type Allowance = { readonly max: number; readonly seconds: number }

export type AttemptCount = {
  readonly isAllowed: boolean
  /** True only for the first attempt that is refused: the owner gets one e-mail, not many. */
  readonly isFirstRefused: boolean
  readonly retryAfterSeconds: number
}

export function createThrottle(options: { readonly db: Db; readonly secret: Masked<string> }) {
  const { db, secret } = options

  return {
    /** Counts one attempt and says whether it is allowed. In one statement: races lose no count. */
    async countAttempt(key: string, { max, seconds }: Allowance): Promise<AttemptCount> {
      const { hits, leftSeconds } = await queries.throttleIncrement(db, { key, seconds, max })
      return {
        isAllowed: hits <= max,
        isFirstRefused: hits === max + 1,
        retryAfterSeconds: Math.max(1, Math.ceil(leftSeconds)),
      }
    },

    /** Resets the count, after a success. */
    clear: (key: string): Promise<void> => queries.throttleDelete(db, key),

    /** For use in a key: hides an e-mail address, or an address together with a device cookie. */
    keyedDigest: (text: string): string =>
      createHmac('sha256', secret.reveal()).update(`throttle ${text}`).digest('base64url'),
  }
}

export type Throttle = ReturnType<typeof createThrottle>
