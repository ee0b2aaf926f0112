// Passkeys of operators, bound to the console's origin. A passkey that has verified its owner, by
// fingerprint or PIN, replaces password and second factor. Each challenge is used once.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Db } from '../../platform/db/db.ts'
import { randomText } from '../../platform/ids.ts'
import * as people from '../queries.ts'
import { signInRefusal } from '../refusals.ts'
import { requireEnrolling } from './factors.ts'
import * as queries from './queries.ts'
import type { Caller, Sessions, SignedIn, StaffSession } from './sessions.ts'

/** As long as a browser's dialog stays open. */
const CHALLENGE_MINUTES = 5
const NAME_MAX = 60

/** Loaded when it is needed: a gateway builds this module too, and never does. */
const load = () => import('@simplewebauthn/server')

type Begun<T> = { readonly ticket: string; readonly options: T }

export function createPasskeys(p: {
  readonly db: Db
  readonly sessions: Sessions
  readonly site: { readonly origin: string; readonly name: string }
  countAddress(address: string): Promise<void>
}) {
  const { db, sessions, site } = p
  const rpID = new URL(site.origin).hostname
  const expected = { expectedOrigin: site.origin, expectedRPID: rpID }

  async function begin<T extends { readonly challenge: string }>(
    options: T,
    session: string | null,
  ): Promise<Begun<T>> {
    const ticket = randomText(16)
    await queries.challengeInsert(db, {
      ...{ id: ticket, challenge: options.challenge, session, minutes: CHALLENGE_MINUTES },
    })
    return { ticket, options }
  }

  /** Refuses: operator_passkey_wrong. */
  async function take(ticket: string, session: string | null): Promise<string> {
    const challenge = await queries.challengeTake(db, { id: ticket, session })
    if (challenge === undefined) throw wrongPasskey('challenge')
    return challenge
  }

  return {
    /** Refuses: second_factor_missing, unless the session sets up the first factor. */
    async beginRegistration(session: StaffSession) {
      requireEnrolling(session)
      const { id, email, name } = session.operator
      const own = await queries.passkeyList(db, id)
      const { generateRegistrationOptions } = await load()
      const options = await generateRegistrationOptions({
        ...{ rpID, rpName: site.name, userName: email, userDisplayName: name },
        userID: Uint8Array.from(Buffer.from(id)),
        attestationType: 'none',
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        excludeCredentials: own.map((one) => ({ id: one.credentialId })),
      })
      return begin(options, session.id)
    },

    /** Refuses: second_factor_missing, operator_passkey_wrong. */
    async finishRegistration(
      session: StaffSession,
      given: {
        readonly ticket: string
        readonly response: RegistrationResponseJSON
        readonly name: string
      },
    ): Promise<SignedIn> {
      requireEnrolling(session)
      const expectedChallenge = await take(given.ticket, session.id)
      const { verifyRegistrationResponse } = await load()
      const { registrationInfo } = await verifyRegistrationResponse({
        ...{ ...expected, expectedChallenge, response: given.response },
        requireUserVerification: true,
      }).catch((error: unknown) => {
        throw wrongPasskey('response', error)
      })
      if (registrationInfo === undefined) throw wrongPasskey('response')
      const { credential } = registrationInfo
      return db.transaction(async (tx) => {
        // A reset that is under way would not see this passkey, and leave it.
        await people.operatorLock(tx, session.operator.id)
        const isNew = await queries.passkeyInsert(tx, {
          ...{ id: `opk_${randomText(12)}`, operator: session.operator.id },
          ...{ credentialId: credential.id, publicKey: Buffer.from(credential.publicKey) },
          ...{ counter: BigInt(credential.counter), transports: credential.transports ?? [] },
          name: given.name.trim().slice(0, NAME_MAX),
        })
        if (!isNew) throw wrongPasskey('registered already')
        await people.operatorActivate(tx, session.operator.id)
        return sessions.prove(tx, session, 'passkey')
      })
    },

    /** Refuses: sign_in_throttled. */
    async beginSignIn({ address }: Pick<Caller, 'address'>) {
      await p.countAddress(address)
      const { generateAuthenticationOptions } = await load()
      const options = await generateAuthenticationOptions({ rpID, userVerification: 'required' })
      return begin(options, null)
    },

    /** Refuses: operator_passkey_wrong. */
    async finishSignIn(
      given: Caller & { readonly ticket: string; readonly response: AuthenticationResponseJSON },
    ): Promise<SignedIn> {
      const expectedChallenge = await take(given.ticket, null)
      const { verifyAuthenticationResponse } = await load()
      return db.transaction(async (tx) => {
        const passkey = await queries.passkeyLock(tx, String(given.response.id))
        if (passkey === undefined) throw wrongPasskey('unknown')
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          ...{ ...expected, expectedChallenge, response: given.response },
          requireUserVerification: true,
          credential: {
            id: passkey.credentialId,
            publicKey: Uint8Array.from(passkey.publicKey),
            counter: Number(passkey.counter),
          },
        }).catch((error: unknown) => {
          throw wrongPasskey('response', error)
        })
        if (!verified) throw wrongPasskey('response')
        await queries.passkeyUse(tx, passkey.id, BigInt(authenticationInfo.newCounter))
        return sessions.open(tx, { ...given, operator: passkey.operator, proof: 'passkey' })
      })
    },

    list: async ({ operator }: StaffSession) =>
      (await queries.passkeyList(db, operator.id)).map(({ id, name, createdAt, usedAt }) => ({
        ...{ id, name, createdAt, usedAt },
      })),

    /** True when it was there. Refuses: second_factor_missing for the last factor of a person. */
    remove: ({ operator }: StaffSession, id: string): Promise<boolean> =>
      db.transaction(async (tx) => {
        // Two at once would each see the other's passkey, and leave none.
        await people.operatorLock(tx, operator.id)
        const isRemoved = await queries.passkeyDelete(tx, { operator: operator.id, id })
        const { hasApp, passkeys } = await queries.factorsHas(tx, operator.id)
        if (isRemoved && !hasApp && passkeys === 0) {
          throw signInRefusal('second_factor_missing', 'Set up an authenticator app first.')
        }
        return isRemoved
      }),
  }
}

export type Passkeys = ReturnType<typeof createPasskeys>

function wrongPasskey(what: string, cause?: unknown) {
  return signInRefusal('operator_passkey_wrong', 'This passkey was not accepted.', { what }, cause)
}
