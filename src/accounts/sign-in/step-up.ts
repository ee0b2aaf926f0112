// Step-up: proves a factor inside a session, without a new sign-in. The session stays the same one;
// it records what was proven and when. Guesses are counted per session: a stolen cookie must
// neither allow free guesses nor keep the owner from a step-up in another session.
import { z } from 'zod'
import { dateAt } from '../../platform/clock.ts'
import { type Answer, errorAnswer, isOk, okAnswer } from '../answers.ts'
import type { AuthRouteTable, SignedInAuthRequest } from '../auth-route.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Proofs } from '../levels.ts'
import * as accountQueries from '../queries.ts'
import { stopByProof } from '../recovery/recovery.ts'
import { oneAtATime } from './one-at-a-time.ts'
import type { PasswordChange } from './password-change.ts'
import * as queries from './queries.ts'
import { codeShape, type SignIn } from './sign-in.ts'

const code = codeShape.shape.code
const shape = z.union([
  z.strictObject({ password: z.string().min(1).max(1_000) }),
  z.strictObject({ code }),
  z.strictObject({ recoveryCode: code }),
  z.strictObject({ response: z.looseObject({}) }),
])

export function createStepUp(
  dependencies: Dependencies,
  { withPasswordLimit }: PasswordChange,
  { isFirstUse }: SignIn,
): AuthRouteTable {
  const { db, clock, emails, passwords, settings, throttle } = dependencies

  async function prove(request: SignedInAuthRequest, proof: keyof Proofs): Promise<Answer> {
    const { account, id } = request.session
    const at = dateAt(clock.nowMs())
    // A session that was revoked while the factor was checked stays revoked.
    const isAlive = await queries.sessionProve(db, { account, id, proof, at })
    if (!isAlive) return errorAnswer('session_missing')
    await stopByProof(dependencies, account, request.eventContext)
    return okAnswer()
  }

  function provePassword(request: SignedInAuthRequest, password: string): Promise<Answer> {
    return withPasswordLimit(request, async () => {
      const hash = await queries.passwordHashOf(db, request.session.account)
      const isRight = hash !== undefined && (await passwords.verify({ hash, password }))
      return isRight ? okAnswer() : errorAnswer('password_wrong')
    })
  }

  /** better-auth counts wrong codes during a sign-in only, not inside a session. */
  async function withCodeLimit(
    { session }: SignedInAuthRequest,
    check: () => Promise<Answer>,
  ): Promise<Answer> {
    if (!session.hasSecondFactor) return errorAnswer('second_factor_off')
    const key = `step-up code ${session.id}`
    const allowance = { max: settings.wrongPerAccount, seconds: settings.wrongMinutes * 60 }
    const count = await throttle.countAttempt(key, allowance)
    if (!count.isAllowed) return errorAnswer('attempts_exceeded', count)
    const answer = await check()
    if (isOk(answer)) await throttle.clear(key)
    return answer
  }

  function proveCode(request: SignedInAuthRequest, given: string): Promise<Answer> {
    return withCodeLimit(request, async () => {
      const answer = await request.callBetterAuth({ code: given }, '/two-factor/verify-totp')
      if (!isOk(answer)) return answer
      const isFirst = await isFirstUse(request.session.account, given)
      return isFirst ? prove(request, 'codeAt') : errorAnswer('second_factor_wrong')
    })
  }

  function proveRecoveryCode(request: SignedInAuthRequest, given: string): Promise<Answer> {
    return withCodeLimit(request, async () => {
      const path = '/two-factor/verify-backup-code'
      const answer = await oneAtATime(throttle, request.session.account, () =>
        request.callBetterAuth({ code: given }, path),
      )
      if (!isOk(answer)) return answer
      const facts = request.eventContext
      await emails.post(db, request.session, { kind: 'recovery-code-used', facts })
      return prove(request, 'recoveryAt')
    })
  }

  /** better-auth checks a passkey only by signing in; that session ends before it is answered. */
  async function provePasskey(request: SignedInAuthRequest, response: object): Promise<Answer> {
    const answer = await request.callBetterAuth({ response }, '/passkey/verify-authentication')
    if (!isOk(answer)) return answer
    const { session } = answer.body as { session: { token: string; userId: string } }
    await accountQueries.sessionDeleteBySecret(db, session.token)
    const { account } = request.session
    if (session.userId !== account) return errorAnswer('passkey_unknown')
    const credential = Object(response).id
    const problem = await queries.passkeyProblem(db, { account, credential })
    return problem === undefined ? prove(request, 'passkeyAt') : errorAnswer(problem)
  }

  function run(request: SignedInAuthRequest): Promise<Answer> {
    const body = shape.safeParse(request.body)
    if (!body.success) return Promise.resolve(errorAnswer('body_wrong'))
    const given = body.data
    if ('password' in given) return provePassword(request, given.password)
    if ('code' in given) return proveCode(request, given.code)
    if ('recoveryCode' in given) return proveRecoveryCode(request, given.recoveryCode)
    return provePasskey(request, given.response)
  }

  return { 'POST /step-up': { hasStrictLimit: true, session: 'required', run } }
}
