// Counts wrong passwords of an account: separately for browsers that it knows, because otherwise
// anybody could lock an owner out by guessing. Operators can forget the counts.
import { createHash } from 'node:crypto'
import type { AuthRequest } from '../auth-route.ts'
import type { Dependencies } from '../dependencies.ts'
import * as queries from '../queries.ts'
import { accountSetGuessed } from '../recovery/proof-queries.ts'
import { countedAs, type ThrottleKey } from '../throttle.ts'

export function createGuesses({ db, throttle, emails, settings }: Dependencies) {
  const wrongPasswords = { max: settings.wrongPerAccount, seconds: settings.wrongMinutes * 60 }

  async function throttleKey(request: AuthRequest, email: string): Promise<ThrottleKey> {
    const device = request.cookie('device') ?? ''
    const found = await queries.deviceIsKnown(db, { email, deviceHash: deviceDigest(device) })
    const own = countedAs(email, found.unlocks)
    return throttle.digestKey('sign-in', found.isKnown ? `${own} ${device}` : own)
  }

  async function warn(request: AuthRequest, email: string, seconds: number): Promise<void> {
    const account = await queries.accountFindByEmail(db, email)
    if (account === undefined) return
    await accountSetGuessed(db, { account: account.id, seconds })
    const facts = { ...request.eventContext, minutes: settings.wrongMinutes }
    await emails.post(db, account, { kind: 'password-guessed', facts })
  }

  return {
    /** Counts an attempt, and e-mails the owner about the first that is refused. */
    async count(request: AuthRequest, email: string) {
      const key = await throttleKey(request, email)
      const count = await throttle.countAttempt(key, wrongPasswords)
      if (count.isFirstRefused) await warn(request, email, count.retryAfterSeconds)
      return { key, count }
    },

    /** Called after a password reset: other people's guesses must not lock the owner out. */
    async clear(email: string): Promise<void> {
      const account = await queries.accountFindByEmail(db, email)
      await throttle.clear(throttle.digestKey('sign-in', countedAs(email, account?.unlocks ?? 0)))
    },
  }
}

export function deviceDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
