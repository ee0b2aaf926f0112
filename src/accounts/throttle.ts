// Counts attempts in PostgreSQL, so that all processes share one count: by address, against a
// machine that tries many accounts, and by account, against many machines that try one. Keys
// contain keyed digests of e-mail addresses, so the table does not show which ones are tried.
import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from '../platform/db/db.ts'
import type { SecretVersions } from '../platform/secret-versions.ts'
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

/**
 * What is counted: a key, or one for each accounts secret. While processes have different secrets,
 * before and after a step of a succession, they still share one of them, and so one count.
 */
export type ThrottleKey = string | readonly string[]

export function createThrottle(options: { readonly db: Db; readonly versions: SecretVersions }) {
  const { db, versions } = options

  /**
   * Counts one attempt and says whether it is allowed: under every key. In one statement for each:
   * races lose no count.
   */
  async function countAttempt(key: ThrottleKey, allowance: Allowance): Promise<AttemptCount> {
    const counts = []
    for (const one of [key].flat()) {
      counts.push(await queries.throttleIncrement(db, { key: one, ...allowance }))
    }
    const hits = Math.max(...counts.map((one) => one.hits))
    const highest = counts.filter((one) => one.hits === hits)
    const leftSeconds = Math.max(...highest.map((one) => one.leftSeconds))
    return {
      isAllowed: hits <= allowance.max,
      isFirstRefused: hits === allowance.max + 1,
      retryAfterSeconds: Math.max(1, Math.ceil(leftSeconds)),
    }
  }

  /** Resets the count, after a success. */
  async function clear(key: ThrottleKey): Promise<void> {
    for (const one of [key].flat()) await queries.throttleDelete(db, one)
  }

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

    /** A key that hides an e-mail address, or an address together with a device cookie. */
    digestKey: (kind: string, text: string): ThrottleKey =>
      versions.map(({ secret }) => {
        const digest = createHmac('sha256', secret.reveal()).update(`throttle ${text}`)
        return `${kind} ${digest.digest('base64url')}`
      }),
  }
}

/** What a count about an address is named by: after an operator forgot the counts, another name. */
export const countedAs = (email: string, unlocks: number): string =>
  unlocks === 0 ? email : `${email} #${unlocks}`

export type Throttle = ReturnType<typeof createThrottle>
