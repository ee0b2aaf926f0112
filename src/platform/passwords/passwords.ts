// Passwords: Argon2id in a limited number of threads, and the rules for a new password: 10 to 128
// characters of any kind, but not one that guessers try first. There are no rules about digits and
// capitals: they make passwords harder to type and easier to guess.
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { passwordRefusal } from '../refusals.ts'
import { isCommon } from './common-passwords.ts'

export const PASSWORD_LENGTH_MIN = 10
/** A sentence of twenty words fits; longer passwords would only slow down hashing. */
export const PASSWORD_LENGTH_MAX = 128

/**
 * 19 MiB and two passes: OWASP's first choice for Argon2id, 12-15 ms on one core. With less memory
 * a graphics card could try more passwords in parallel. The library's default is Argon2id.
 */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Node's thread pool has four threads; the other two are for files and API keys. */
const THREADS_MAX = 2

export type PasswordProblem = 'password_too_short' | 'password_too_long' | 'password_common'

export function createPasswords(options: {
  /** How many calls may wait for a thread. */
  readonly waitingMax: number
  readonly threadsMax?: number
}) {
  const { waitingMax, threadsMax = Math.min(availableParallelism(), THREADS_MAX) } = options
  const queue: (() => void)[] = []
  const counts = { runs: 0, running: 0, overflows: 0 }

  async function withThread<T>(work: () => Promise<T>): Promise<T> {
    if (counts.running >= threadsMax) {
      if (queue.length >= waitingMax) {
        counts.overflows += 1
        throw passwordRefusal(
          'password_checks_overloaded',
          'Too many passwords are being checked right now; try again shortly.',
          { waiting: queue.length },
        )
      }
      // A finished call hands its place to the next one, so `running` does not change.
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
    hash: (plain: string): Promise<string> => withThread(() => hash(normalize(plain), COST)),

    /** Refuses with password_checks_overloaded. */
    verify: (p: { readonly hash: string; readonly password: string }): Promise<boolean> =>
      withThread(() => verify(p.hash, normalize(p.password))),

    stats: () => ({ ...counts, waiting: queue.length }),
  }
}

export type Passwords = ReturnType<typeof createPasswords>

/** Why a password is refused; undefined when it is accepted. */
export function passwordProblem(password: string, email = ''): PasswordProblem | undefined {
  if (password.length < PASSWORD_LENGTH_MIN) return 'password_too_short'
  if (password.length > PASSWORD_LENGTH_MAX) return 'password_too_long'
  const plain = normalize(password).toLowerCase()
  const [mailbox = ''] = email.toLowerCase().split('@')
  const isOwnEmail = email !== '' && (plain === email.toLowerCase() || plain === mailbox)
  return isOwnEmail || isCommon(plain) ? 'password_common' : undefined
}

/** One Unicode form: "й" may be one character on a phone and two on a Mac. */
function normalize(password: string): string {
  return password.normalize('NFKC')
}
