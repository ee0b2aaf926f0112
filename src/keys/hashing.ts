// Argon2id, off the event loop and rationed: at most one at a time per core, a short queue, and
// beyond it a refusal. Without the ration a flood of keys would take every core from the replies
// that are being relayed. What a hash belongs to is the caller's affair.
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { Refusal } from '../platform/refusal.ts'

/**
 * Issued keys hold 256 random bits, which need no stretching: 4 MiB and one pass take 1-2 ms, so
 * that a cold cache of 10,000 keys costs some 12 seconds of one core and not 105. Imported keys
 * come from elsewhere with entropy nobody vouches for: 19 MiB and two passes, as for passwords.
 * The library's default algorithm is Argon2id; the table refuses anything else.
 */
const COSTS = {
  issued: { memoryCost: 4_096, timeCost: 1, parallelism: 1 },
  imported: { memoryCost: 19_456, timeCost: 2, parallelism: 1 },
} as const

/** Of the four threads that Node lends to such work one stays free: the ledger's spool needs it. */
const THREADS_MAX = 3

export function createHashing(options: {
  /** How many may wait for a core. */
  readonly waitingMax: number
  readonly atOnce?: number
}) {
  const { atOnce = Math.min(availableParallelism(), THREADS_MAX) } = options
  const ration = createRation(atOnce, options.waitingMax)
  const counts = { runs: 0, overflows: 0 }

  async function rationed<T>(work: () => Promise<T>): Promise<T> {
    const isIn = await ration.enter()
    if (!isIn) {
      counts.overflows += 1
      throw new Refusal(
        'key_checks_overloaded',
        'Too many API keys are being checked right now; try again shortly.',
        { waiting: ration.waiting() },
      )
    }
    try {
      return await work()
    } finally {
      ration.leave()
    }
  }

  return {
    /** Refuses with key_checks_overloaded. */
    make: (plain: string, origin: keyof typeof COSTS): Promise<string> =>
      rationed(() => {
        counts.runs += 1
        return hash(plain, COSTS[origin])
      }),

    /**
     * The first of the candidates whose hash is of this key. All are tried in one turn, so that
     * a verification that has begun is not refused halfway. Refuses with key_checks_overloaded.
     */
    match: <C extends { readonly hash: string }>(
      plain: string,
      candidates: readonly C[],
    ): Promise<C | undefined> =>
      rationed(async () => {
        for (const candidate of candidates) {
          counts.runs += 1
          if (await verify(candidate.hash, plain)) return candidate
        }
        return undefined
      }),

    stats: () => ({ ...counts, running: ration.running(), waiting: ration.waiting() }),
  }
}

export type Hashing = ReturnType<typeof createHashing>

/** Lets so many in at once; so many wait, first come first served; the rest are turned away. */
export function createRation(atOnce: number, waitingMax: number) {
  const queue: (() => void)[] = []
  const state = { running: 0 }
  return {
    enter(): Promise<boolean> {
      if (state.running < atOnce) {
        state.running += 1
        return Promise.resolve(true)
      }
      if (queue.length >= waitingMax) return Promise.resolve(false)
      return new Promise((resolve) => queue.push(() => resolve(true)))
    },
    /** Hands the place to the next in line, or frees it. */
    leave(): void {
      const next = queue.shift()
      if (next === undefined) state.running -= 1
      else next()
    },
    running: () => state.running,
    waiting: () => queue.length,
  }
}
