// Counts attempts in PostgreSQL, so that all processes share one count: by address, against a
// machine that tries many accounts, and by account, against many machines that try one. Keys of
// people are keyed digests: the table tells nobody which addresses are being tried.
import { createHmac } from 'node:crypto'
import type { Db } from '../platform/db/db.ts'
import type { Masked } from '../platform/masked.ts'
import * as queries from './queries.ts'

/** So many in so many seconds. A window opens with its first attempt and then runs out. */
export type Allowance = { readonly max: number; readonly seconds: number }

export type Count = {
  readonly isAllowed: boolean
  /** True for the first attempt beyond the allowance: the moment to tell somebody. */
  readonly isFirstBeyond: boolean
  readonly retryAfterSeconds: number
}

export function createThrottle(options: { readonly db: Db; readonly secret: Masked<string> }) {
  const { db, secret } = options

  return {
    /** Counts one attempt and says whether it may go on. One statement, so none slips past. */
    async take(key: string, { max, seconds }: Allowance): Promise<Count> {
      const { hits, leftSeconds } = await queries.throttleTake(db, { key, seconds, max })
      return {
        isAllowed: hits <= max,
        isFirstBeyond: hits === max + 1,
        retryAfterSeconds: Math.max(1, Math.ceil(leftSeconds)),
      }
    },

    /** After a success: the next attempts begin anew. */
    clear: (key: string): Promise<void> => queries.throttleDelete(db, key),

    /** A person, or a person's browser, as part of a key. */
    blind: (text: string): string =>
      createHmac('sha256', secret.reveal()).update(`throttle ${text}`).digest('base64url'),
  }
}

export type Throttle = ReturnType<typeof createThrottle>
