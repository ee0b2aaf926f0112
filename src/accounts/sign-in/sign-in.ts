// Signing in and out: by password, by password and second factor, by passkey. Known and unknown
// addresses get the same answers. Wrong passwords are counted per account, and separately for
// browsers that the account knows: otherwise anybody could lock an owner out by guessing.
import { z } from 'zod'
import { type AccountId, randomText } from '../../platform/ids.ts'
import { type Answer, errorAnswer, isOk, okAnswer } from '../answers.ts'
import type { AuthRequest, AuthRouteTable } from '../auth-route.ts'
import { type Dependencies, REGISTERED_PATH } from '../dependencies.ts'
import * as queries from '../queries.ts'
import { stopByProof } from '../recovery/recovery.ts'
import { createGuesses, deviceDigest as digest } from './guesses.ts'
import { oneAtATime } from './one-at-a-time.ts'
import * as stepUpQueries from './queries.ts'

/** Browsers cap the lifetime of a cookie at 400 days. */
const DEVICE_DAYS = 400
/** More than the 90 s in which better-auth accepts a code: its own 30 s, those before and after. */
const CODE_SECONDS = 120

export const emailShape = z.string().trim().toLowerCase().max(254).pipe(z.email())
const signInShape = z.object({
  email: emailShape,
  password: z.string().min(1).max(1_000),
  isPrivate: z.boolean().default(true),
})
export const codeShape = z.object({ code: z.string().trim().min(6).max(40) })

export function createSignIn(dependencies: Dependencies) {
  const { db, throttle, emails } = dependencies
  const guesses = createGuesses(dependencies)

  /**
   * The last step of every sign-in. It ends the browser's former session, so that a session cookie
   * planted by an attacker stops working, and e-mails the owner about an unknown browser.
   */
  async function finishSignIn(request: AuthRequest, answer: Answer): Promise<Answer> {
    const { user } = answer.body as { user: { id: AccountId } }
    const account = await queries.accountFind(db, user.id)
    if (account === undefined) return errorAnswer('sign_in_wrong')
    const device = request.cookie('device') ?? randomText(24)
    const seen = await queries.deviceUpsert(db, { account: account.id, deviceHash: digest(device) })
    if (!seen.wasKnown && seen.known > 0) {
      await emails.post(db, account, { kind: 'new-device', facts: request.eventContext })
    }
    // Last: if a step above fails, the browser keeps the session that it has.
    if (request.session !== undefined) await queries.sessionDelete(db, request.session)
    const cookies = [...answer.cookies, request.newCookie('device', device, DEVICE_DAYS)]
    return okAnswer({ status: 'signed_in' }, cookies)
  }

  async function signIn(request: AuthRequest): Promise<Answer> {
    const body = signInShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const { email, password, isPrivate } = body.data
    const { key, count } = await guesses.count(request, email)
    if (!count.isAllowed) return errorAnswer('attempts_exceeded', count)
    const credentials = { email, password, rememberMe: isPrivate }
    const hash = await stepUpQueries.passwordHashByEmail(db, email)
    const answer = await request.callBetterAuth(credentials, '/sign-in/email')
    // No account has a password of that length: answer as for a wrong one.
    if (!isOk(answer))
      return answer.code === 'password_too_long' ? errorAnswer('sign_in_wrong') : answer
    // The password was right when it was checked; the session may be younger than its reset.
    if (hash !== (await stepUpQueries.passwordHashByEmail(db, email))) {
      const { token: secret } = answer.body as { token?: string }
      if (secret !== undefined) await queries.sessionDeleteBySecret(db, secret)
      return errorAnswer('sign_in_wrong')
    }
    await throttle.clear(key)
    if (!('twoFactorRedirect' in answer.body)) return finishSignIn(request, answer)
    if (request.session !== undefined) await queries.sessionDelete(db, request.session)
    return okAnswer({ status: 'second_factor' }, answer.cookies)
  }

  /** The browser has just confirmed its own registration; see auth/registered.ts. */
  async function signInRegistered(
    request: AuthRequest,
    p: { readonly email: string; readonly passwordAt: Date },
  ): Promise<Answer> {
    const account = await queries.accountFindByEmail(db, p.email)
    if (account === undefined) return errorAnswer('sign_in_wrong')
    const body = { account: account.id, passwordAt: p.passwordAt.toISOString() }
    const answer = await request.callBetterAuth(body, REGISTERED_PATH)
    return isOk(answer) ? finishSignIn(request, answer) : answer
  }

  /** False when the code of the app was used before, in a sign-in or in a step-up. */
  async function isFirstUse(account: string, code: string): Promise<boolean> {
    const key = throttle.digestKey('code', `${account} ${code}`)
    return (await throttle.countAttempt(key, { max: 1, seconds: CODE_SECONDS })).isAllowed
  }

  /** After a sign-in with a second factor or a passkey: its owner needs no recovery. */
  async function finishComplete(
    request: AuthRequest,
    answer: Answer,
    account: string,
  ): Promise<Answer> {
    await stopByProof(dependencies, account, request.eventContext)
    return finishSignIn(request, answer)
  }

  /** Ends the session that better-auth has just made, when its code was used before. */
  async function finishWithCode(request: AuthRequest, answer: Answer, code: string) {
    const { user, token: secret } = answer.body as { user: { id: string }; token: string }
    if (await isFirstUse(user.id, code)) return finishComplete(request, answer, user.id)
    await queries.sessionDeleteBySecret(db, secret)
    return errorAnswer('second_factor_wrong')
  }

  /**
   * A passkey signs in, unless the password was reset and the owner has not looked through the
   * passkeys since: a thief who had the account before may have added one. The reset is recorded,
   * and a passkey removed, before the sessions end, so a session that was missed is found here.
   */
  async function finishWithPasskey(
    request: AuthRequest,
    answer: Answer,
    credential: unknown,
  ): Promise<Answer> {
    const { session } = answer.body as { session: { token: string; userId: string } }
    const { userId: account, token: secret } = session
    const problem = await stepUpQueries.passkeyProblem(db, { account, credential })
    if (problem === undefined) return finishComplete(request, answer, account)
    await queries.sessionDeleteBySecret(db, secret)
    return errorAnswer(problem)
  }

  /** Calls better-auth about a second factor, for the account of the session or of the sign-in. */
  async function callWithCode(request: AuthRequest, code: string): Promise<Answer> {
    // `2fa-…`, a dot, and better-auth's signature.
    const [name = ''] = (request.cookie('two_factor') ?? '').split('.')
    const account = request.session?.account ?? (await stepUpQueries.codeAccount(db, name))
    if (account === undefined) return errorAnswer('sign_in_expired')
    // We do not pass on trustDevice, which would skip the code next time.
    return oneAtATime(throttle, account, () => request.callBetterAuth({ code }))
  }

  async function verifyCode(request: AuthRequest): Promise<Answer> {
    const body = codeShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const { code } = body.data
    const { session } = request
    // better-auth does not count wrong codes inside a session; the step-up does.
    if (session?.hasSecondFactor) return errorAnswer('second_factor_already_on')
    const answer = await callWithCode(request, code)
    if (!isOk(answer)) return answer
    if (session === undefined) return finishWithCode(request, answer, code)
    await emails.post(db, session, { kind: 'second-factor-on', facts: request.eventContext })
    return okAnswer({ status: 'second_factor_on' }, answer.cookies)
  }

  async function verifyRecoveryCode(request: AuthRequest): Promise<Answer> {
    const body = codeShape.safeParse(request.body)
    if (!body.success || request.session !== undefined) return errorAnswer('body_wrong')
    const answer = await callWithCode(request, body.data.code)
    if (!isOk(answer)) return answer
    const { user } = answer.body as { user: { id: string } }
    const account = await queries.accountFind(db, user.id)
    if (account !== undefined) {
      await emails.post(db, account, { kind: 'recovery-code-used', facts: request.eventContext })
    }
    return finishComplete(request, answer, user.id)
  }

  const routes: AuthRouteTable = {
    'POST /sign-in/email': {
      hasStrictLimit: true,
      hidesTiming: 'when refused',
      session: 'optional',
      run: signIn,
    },
    'POST /sign-out': { session: 'optional', run: (request) => request.callBetterAuth({}) },
    'POST /two-factor/verify-totp': { hasStrictLimit: true, session: 'optional', run: verifyCode },
    'POST /two-factor/verify-backup-code': {
      hasStrictLimit: true,
      session: 'optional',
      run: verifyRecoveryCode,
    },
    'GET /passkey/generate-authenticate-options': {
      session: 'optional',
      async run(request) {
        const answer = await request.callBetterAuth({})
        // better-auth sets "preferred"; auth/auth.ts refuses a passkey without a verified owner.
        return isOk(answer)
          ? okAnswer({ ...answer.body, userVerification: 'required' }, answer.cookies)
          : answer
      },
    },
    'POST /passkey/verify-authentication': {
      hasStrictLimit: true,
      session: 'optional',
      async run(request) {
        const { response } = request.body
        const answer = await request.callBetterAuth({ response })
        if (!isOk(answer)) return answer
        return finishWithPasskey(request, answer, Object(response).id)
      },
    },
  }

  return {
    routes,
    signIn,
    signInRegistered,
    isFirstUse,
    /** Called after a password reset: other people's guesses must not lock the owner out. */
    clearFailedSignIns: guesses.clear,
  }
}

export type SignIn = ReturnType<typeof createSignIn>
