// Signing in with a password, and the one-time code that an invited operator sets the first
// password with. Each attempt counts by address and by operator before anything is compared, and an
// unknown address takes as long as a wrong password.
import type { Db } from '../../platform/db/db.ts'
import { randomText } from '../../platform/ids.ts'
import { networkOf } from '../../platform/networks.ts'
import {
  PASSWORD_LENGTH_MIN,
  type Passwords,
  passwordProblem,
} from '../../platform/passwords/passwords.ts'
import * as people from '../queries.ts'
import { signInRefusal } from '../refusals.ts'
import type { Throttle } from '../throttle.ts'
import { sessionDeleteAll } from './queries.ts'
import {
  type Caller,
  digestOf,
  type Sessions,
  type SignedIn,
  type StaffSession,
} from './sessions.ts'

export type AttemptSettings = {
  readonly addressPerMinute: number
  readonly wrongPerOperator: number
  readonly wrongMinutes: number
}

export function createSignIn(p: {
  readonly db: Db
  readonly passwords: Passwords
  readonly throttle: Throttle
  readonly sessions: Sessions
  readonly settings: AttemptSettings
}) {
  const { db, passwords, throttle, sessions, settings } = p
  const state: { unknownHash?: Promise<string> } = {}

  const countAddress = (address: string) =>
    throttle.count('address', networkOf(address), { max: settings.addressPerMinute, seconds: 60 })

  /** The hash of no password, which an unknown address is compared with. */
  function unknownHash(): Promise<string> {
    state.unknownHash ??= passwords.hash(randomText(32))
    return state.unknownHash
  }

  return {
    countAddress,

    /** The session still misses its factor. Refuses: sign_in_throttled, sign_in_wrong. */
    async signIn(
      given: Caller & { readonly email: string; readonly password: string },
    ): Promise<SignedIn> {
      const email = given.email.trim().toLowerCase()
      await countAddress(given.address)
      // Strangers reach the console only: their wrong passwords do not keep people out of `op`.
      const attempts = given.kind === 'terminal' ? 'password in op' : 'password'
      await throttle.count(attempts, email, {
        ...{ max: settings.wrongPerOperator, seconds: settings.wrongMinutes * 60 },
      })
      const found = await people.passwordFind(db, email)
      const hash = found?.hash ?? (await unknownHash())
      const isRight = await passwords.verify({ hash, password: given.password })
      if (found === undefined || !isRight) {
        throw wrongPassword()
      }
      await throttle.clear(attempts, email)
      return db.transaction(async (tx) => {
        // An admin may have reset the operator while the password was compared.
        if (!(await people.passwordIsStill(tx, found))) throw wrongPassword()
        return sessions.open(tx, { ...given, operator: found.id, proof: 'password' })
      })
    },

    /**
     * Sets the password of an invited operator, who then sets up a second factor. The code stays
     * valid until that is done, so that a closed window does not lock a person out.
     * Refuses: sign_in_throttled, invitation_wrong, operator_password_weak.
     */
    async acceptInvitation(
      given: Caller & { readonly code: string; readonly password: string },
    ): Promise<SignedIn> {
      await countAddress(given.address)
      const digest = digestOf(given.code.trim())
      const invited = await db.transaction((tx) => people.invitationFind(tx, digest))
      if (invited === undefined) throw wrongInvitation()
      requireStrong(given.password, invited.email)
      const hash = await passwords.hash(given.password)
      return db.transaction(async (tx) => {
        const still = await people.invitationFind(tx, digest)
        if (still === undefined) throw wrongInvitation()
        // Whatever was set up before belongs to a password that is no more.
        await people.proofsDelete(tx, still.id)
        await people.passwordSet(tx, still.id, hash)
        return sessions.open(tx, { ...given, operator: still.id, proof: 'password' })
      })
    },

    /**
     * One's own password; every other session ends. Refuses: sign_in_throttled, sign_in_wrong for a
     * wrong present one, operator_password_weak.
     */
    async changePassword(
      session: StaffSession,
      given: { readonly present: string; readonly next: string },
    ): Promise<void> {
      const { id, email } = session.operator
      await throttle.count('own password', id, {
        ...{ max: settings.wrongPerOperator, seconds: settings.wrongMinutes * 60 },
      })
      const found = await people.passwordFind(db, email)
      const hash = found?.hash ?? (await unknownHash())
      const isRight = await passwords.verify({ hash, password: given.present })
      if (found === undefined || !isRight) throw wrongPassword()
      requireStrong(given.next, email)
      const next = await passwords.hash(given.next)
      await db.transaction(async (tx) => {
        if (!(await people.passwordIsStill(tx, found))) throw wrongPassword()
        await people.passwordSet(tx, id, next)
        await sessionDeleteAll(tx, id, session.id)
      })
      await throttle.clear('own password', id)
    },
  }
}

/** Refuses: operator_password_weak. */
function requireStrong(password: string, email: string): void {
  const problem = passwordProblem(password, email)
  if (problem === undefined) return
  throw signInRefusal(
    'operator_password_weak',
    `A password has at least ${PASSWORD_LENGTH_MIN} characters and is not a common one.`,
    { problem },
  )
}

export type SignIn = ReturnType<typeof createSignIn>

function wrongPassword() {
  return signInRefusal('sign_in_wrong', 'The address or the password is wrong.')
}

function wrongInvitation() {
  return signInRefusal(
    'invitation_wrong',
    'This code was used or has expired; ask for another: op operators reset.',
  )
}
