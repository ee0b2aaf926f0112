// Counts attempts in PostgreSQL, so that all processes share one count: by address, against a
// machine that tries many accounts, and by account, against many machines that try one. Keys
// contain keyed digests of e-mail addresses, so the table does not show which ones are tried.
import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from '../platform/db/db.ts'
import type { Masked } from '../platform/masked.ts'
import * as queries from './queries.ts'

/** A process that dies keeps a lease for this long; the longest work is a few password hashes. */
const LEASE_SECONDS = 30
/** Together five seconds: as long as a browser's page should wait. */
const LEASE_TRIES = 100
const LEASE_PAUSE_MS = 50

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

  /** Counts one attempt and says whether it is allowed. In one statement: races lose no count. */
  async function countAttempt(key: string, { max, seconds }: Allowance): Promise<AttemptCount> {
    const { hits, leftSeconds } = await queries.throttleIncrement(db, { key, seconds, max })
    return {
      isAllowed: hits <= max,
      isFirstRefused: hits === max + 1,
      retryAfterSeconds: Math.max(1, Math.ceil(leftSeconds)),
    }
  }

  /** Resets the count, after a success. */
  const clear = (key: string): Promise<void> => queries.throttleDelete(db, key)

  return {
    countAttempt,
    clear,

    /**
     * Runs `work` while no other process runs work with the same key; undefined when the others
     * took too long. It keeps a row and no connection: better-auth needs connections of its own,
     * and transactions that waited for them could use up the pool.
     */
    async withLease<T>(key: string, work: () => Promise<T>): Promise<T | undefined> {
      const name = `lease ${key}`
      for (let tries = 0; tries < LEASE_TRIES; tries += 1) {
        if ((await countAttempt(name, { max: 1, seconds: LEASE_SECONDS })).isAllowed) {
          return work().finally(() => clear(name))
        }
        await pause(LEASE_PAUSE_MS)
      }
      return undefined
    },

    /** For use in a key: hides an e-mail address, or an address together with a device cookie. */
    keyedDigest: (text: string): string =>
      createHmac('sha256', secret.reveal()).update(`throttle ${text}`).digest('base64url'),
  }
}

export type Throttle = ReturnType<typeof createThrottle>
