// Runs Argon2id outside the event loop: at most one at a time per core and a short queue; when the
// queue is full, it refuses. Without this limit a flood of keys would take every core from the
// replies that are being relayed.
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { keyCheckRefusal } from './refusals.ts'

/**
 * Issued keys contain 256 random bits, which need no stretching: 4 MiB and one pass take 1-2 ms, so
 * that a cold cache of 10,000 keys costs about 12 seconds of one core instead of 105. The entropy
 * of imported keys is unknown: 19 MiB and two passes, as for passwords.
 * The library's default algorithm is Argon2id; the table refuses anything else.
 */
const COSTS = {
  issued: { memoryCost: 4_096, timeCost: 1, parallelism: 1 },
  imported: { memoryCost: 19_456, timeCost: 2, parallelism: 1 },
} as const

/** Node's thread pool has four threads; one stays free for the ledger's spool. */
const THREADS_MAX = 3

export function createHashing(options: {
  /** How many checks may wait for a core. */
  readonly waitingMax: number
  readonly atOnce?: number
}) {
  const { atOnce = Math.min(availableParallelism(), THREADS_MAX) } = options
  const limit = createConcurrencyLimit(atOnce, options.waitingMax)
  const counts = { runs: 0, overflows: 0 }

  async function withinLimit<T>(work: () => Promise<T>): Promise<T> {
    const isAcquired = await limit.acquire()
    if (!isAcquired) {
      counts.overflows += 1
      throw keyCheckRefusal(
        'key_checks_overloaded',
        'Too many API keys are being checked right now; try again shortly.',
        { waiting: limit.waiting() },
      )
    }
    try {
      return await work()
    } finally {
      limit.release()
    }
  }

  return {
    /** Refuses with key_checks_overloaded. */
    hash: (plain: string, origin: keyof typeof COSTS): Promise<string> =>
      withinLimit(() => {
        counts.runs += 1
        return hash(plain, COSTS[origin])
      }),

    /**
     * The first candidate whose hash matches this key. All are tried in one place of the limit, so
     * that a check that has started is not refused halfway. Refuses with key_checks_overloaded.
     */
    findMatch: <C extends { readonly hash: string }>(
      plain: string,
      candidates: readonly C[],
    ): Promise<C | undefined> =>
      withinLimit(async () => {
        for (const candidate of candidates) {
          counts.runs += 1
          if (await verify(candidate.hash, plain)) return candidate
        }
        return undefined
      }),

    stats: () => ({ ...counts, running: limit.running(), waiting: limit.waiting() }),
  }
}

export type Hashing = ReturnType<typeof createHashing>

/** A semaphore with `atOnce` places and a queue of `waitingMax`; `acquire` is false beyond it. */
export function createConcurrencyLimit(atOnce: number, waitingMax: number) {
  const queue: (() => void)[] = []
  const state = { running: 0 }
  return {
    acquire(): Promise<boolean> {
      if (state.running < atOnce) {
        state.running += 1
        return Promise.resolve(true)
      }
      if (queue.length >= waitingMax) return Promise.resolve(false)
      return new Promise((resolve) => queue.push(() => resolve(true)))
    },
    /** Gives the place to the next in the queue, or frees it. */
    release(): void {
      const next = queue.shift()
      if (next === undefined) state.running -= 1
      else next()
    },
    running: () => state.running,
    waiting: () => queue.length,
  }
}
