// Signing in and out: by password, by password and second factor, by passkey. Answers a known and
// an unknown address alike. Wrong passwords are counted per account, but apart for browsers that
// the account knows: else anybody could lock an owner out by guessing.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type AccountId, randomText } from '../../platform/ids.ts'
import { type Answer, isYes, no, yes } from '../answers.ts'
import type { Parts } from '../parts.ts'
import * as queries from '../queries.ts'
import type { Routes, Visit } from '../visit.ts'

/** As long as browsers keep any cookie. */
const DEVICE_DAYS = 400
/** A code of an authenticator app is good for its half minute and its neighbours. */
const CODE_SECONDS = 120

export const emailShape = z.string().trim().toLowerCase().max(254).pipe(z.email())
const signInShape = z.object({
  email: emailShape,
  password: z.string().min(1).max(1_000),
  isPrivate: z.boolean().default(true),
})
const codeShape = z.object({ code: z.string().trim().min(6).max(40) })

export function createSignIn(parts: Parts) {
  const { db, throttle, letters, settings } = parts
  const wrong = { max: settings.wrongPerAccount, seconds: settings.wrongMinutes * 60 }

  async function keyOf(visit: Visit, email: string): Promise<string> {
    const device = visit.cookie('device') ?? ''
    const isKnown = await queries.deviceIsKnown(db, { email, deviceHash: digest(device) })
    return isKnown ? deviceKey(email, device) : accountKey(email)
  }
  const accountKey = (email: string) => `sign-in ${throttle.blind(email)}`
  const deviceKey = (email: string, device: string) =>
    `sign-in ${throttle.blind(`${email} ${device}`)}`

  async function warn(visit: Visit, email: string): Promise<void> {
    const account = await queries.accountFindByEmail(db, email)
    if (account === undefined) return
    const facts = { ...visit.circumstances, minutes: settings.wrongMinutes }
    await letters.post(db, account, { kind: 'password-guessed', facts })
  }

  /**
   * The end of every sign-in. The browser's former session ends with it, so that signing in again
   * replaces it and none that was planted lives on; an unknown browser is told to the owner.
   */
  async function signedIn(visit: Visit, answer: Answer): Promise<Answer> {
    const { user } = answer.body as { user: { id: AccountId } }
    const account = await queries.accountFind(db, user.id)
    if (account === undefined) return no('sign_in_wrong')
    const device = visit.cookie('device') ?? randomText(24)
    const seen = await queries.deviceSee(db, { account: account.id, deviceHash: digest(device) })
    if (!seen.wasKnown && seen.known > 0) {
      await letters.post(db, account, { kind: 'new-device', facts: visit.circumstances })
    }
    // Last: a browser that is not told of its new session needs the one it has.
    if (visit.session !== undefined) await queries.sessionDelete(db, visit.session)
    const cookies = [...answer.cookies, visit.newCookie('device', device, DEVICE_DAYS)]
    return yes({ status: 'signed_in' }, cookies)
  }

  async function signIn(visit: Visit): Promise<Answer> {
    const body = signInShape.safeParse(visit.body)
    if (!body.success) return no('body_wrong')
    const { email, password, isPrivate } = body.data
    const key = await keyOf(visit, email)
    const count = await throttle.take(key, wrong)
    if (count.isFirstBeyond) await warn(visit, email)
    if (!count.isAllowed) return no('attempts_exceeded', count)
    const asked = { email, password, rememberMe: isPrivate }
    const answer = await visit.ask(asked, '/sign-in/email')
    // Too long to be anybody's: the same as wrong.
    if (!isYes(answer)) return answer.code === 'password_too_long' ? no('sign_in_wrong') : answer
    await throttle.clear(key)
    if (!('twoFactorRedirect' in answer.body)) return signedIn(visit, answer)
    if (visit.session !== undefined) await queries.sessionDelete(db, visit.session)
    return yes({ status: 'second_factor' }, answer.cookies)
  }

  /** A code is good once: whoever looked over the owner's shoulder comes too late. */
  async function isReplay(answer: Answer, code: string): Promise<boolean> {
    const { user, token: secret } = answer.body as { user: { id: string }; token: string }
    const once = await throttle.take(`code ${throttle.blind(`${user.id} ${code}`)}`, {
      max: 1,
      seconds: CODE_SECONDS,
    })
    if (!once.isAllowed) await queries.sessionDeleteBySecret(db, secret)
    return !once.isAllowed
  }

  async function verifyCode(visit: Visit): Promise<Answer> {
    const body = codeShape.safeParse(visit.body)
    if (!body.success) return no('body_wrong')
    const { code } = body.data
    // trustDevice, which would skip the code next time, is not passed on.
    const answer = await visit.ask({ code })
    if (!isYes(answer)) return answer
    const { session } = visit
    if (session === undefined) {
      return (await isReplay(answer, code)) ? no('second_factor_wrong') : signedIn(visit, answer)
    }
    if (!session.hasSecondFactor) {
      await letters.post(db, session, { kind: 'second-factor-on', facts: visit.circumstances })
    }
    return yes({ status: 'second_factor_on' }, answer.cookies)
  }

  async function verifyRecoveryCode(visit: Visit): Promise<Answer> {
    const body = codeShape.safeParse(visit.body)
    if (!body.success || visit.session !== undefined) return no('body_wrong')
    const answer = await visit.ask({ code: body.data.code })
    if (!isYes(answer)) return answer
    const { user } = answer.body as { user: { id: string } }
    const account = await queries.accountFind(db, user.id)
    if (account !== undefined) {
      await letters.post(db, account, { kind: 'recovery-code-used', facts: visit.circumstances })
    }
    return signedIn(visit, answer)
  }

  const routes: Routes = {
    'POST /sign-in/email': {
      isStrict: true,
      isEven: 'when refused',
      session: 'maybe',
      run: signIn,
    },
    'POST /sign-out': { session: 'maybe', run: (visit) => visit.ask({}) },
    'POST /two-factor/verify-totp': { isStrict: true, session: 'maybe', run: verifyCode },
    'POST /two-factor/verify-backup-code': {
      isStrict: true,
      session: 'maybe',
      run: verifyRecoveryCode,
    },
    'GET /passkey/generate-authenticate-options': {
      session: 'maybe',
      async run(visit) {
        const answer = await visit.ask({})
        // better-auth only prefers it, and then refuses nobody; auth/auth.ts does refuse.
        return isYes(answer)
          ? yes({ ...answer.body, userVerification: 'required' }, answer.cookies)
          : answer
      },
    },
    'POST /passkey/verify-authentication': {
      isStrict: true,
      session: 'maybe',
      async run(visit) {
        const { response } = visit.body
        const answer = await visit.ask({ response })
        return isYes(answer) ? signedIn(visit, answer) : answer
      },
    },
  }

  return {
    routes,
    signIn,
    /** After a reset: the owner is not kept out by somebody else's guesses. */
    forget: (email: string): Promise<void> => throttle.clear(accountKey(email)),
  }
}

export type SignIn = ReturnType<typeof createSignIn>

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
