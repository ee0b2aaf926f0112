// Passwords: Argon2id off the event loop, rationed, and the few rules there are. 10 to 128
// characters, anything in them, but not what every guesser tries first. Rules about digits and
// capitals are left out: they make passwords longer to type and easier to guess.
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { Refusal } from '../../platform/refusal.ts'
import { isCommon } from './common-passwords.ts'

export const PASSWORD_LENGTH_MIN = 10
/** Longer only makes our hashing slower; a sentence of twenty words fits. */
export const PASSWORD_LENGTH_MAX = 128

/**
 * 19 MiB and two passes: OWASP's first choice for Argon2id, 12-15 ms of a core. Less memory would
 * let a graphics card try more at a time. The library's default algorithm is Argon2id.
 */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Node lends four threads to such work; the other two are for files and for keys. */
const THREADS_MAX = 2

export type PasswordProblem = 'password_too_short' | 'password_too_long' | 'password_common'

export function createPasswords(options: {
  /** How many may wait for a thread. */
  readonly waitingMax: number
  readonly atOnce?: number
}) {
  const { waitingMax, atOnce = Math.min(availableParallelism(), THREADS_MAX) } = options
  const queue: (() => void)[] = []
  const counts = { runs: 0, running: 0, overflows: 0 }

  async function rationed<T>(work: () => Promise<T>): Promise<T> {
    if (counts.running >= atOnce) {
      if (queue.length >= waitingMax) {
        counts.overflows += 1
        throw new Refusal(
          'password_checks_overloaded',
          'Too many passwords are being checked right now; try again shortly.',
          { waiting: queue.length },
        )
      }
      // Whoever leaves hands over its place, so `running` stays as it is.
      await new Promise<void>((resolve) => queue.push(resolve))
    } else {
      counts.running += 1
    }
    try {
      counts.runs += 1
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) counts.running -= 1
      else next()
    }
  }

  return {
    /** Refuses with password_checks_overloaded. */
    hash: (plain: string): Promise<string> => rationed(() => hash(normal(plain), COST)),

    /** Refuses with password_checks_overloaded. */
    verify: (p: { readonly hash: string; readonly password: string }): Promise<boolean> =>
      rationed(() => verify(p.hash, normal(p.password))),

    stats: () => ({ ...counts, waiting: queue.length }),
  }
}

export type Passwords = ReturnType<typeof createPasswords>

/** Why a password cannot be chosen; undefined when it can. */
export function problemOf(password: string, email = ''): PasswordProblem | undefined {
  if (password.length < PASSWORD_LENGTH_MIN) return 'password_too_short'
  if (password.length > PASSWORD_LENGTH_MAX) return 'password_too_long'
  const plain = normal(password).toLowerCase()
  const [mailbox = ''] = email.toLowerCase().split('@')
  const isOwnName = email !== '' && (plain === email.toLowerCase() || plain === mailbox)
  return isOwnName || isCommon(plain) ? 'password_common' : undefined
}

/** One spelling: "й" is one character on a phone and two on a Mac. */
function normal(password: string): string {
  return password.normalize('NFKC')
}
