// Sets a new password, with the old one or with a link from an e-mail. Either way the other
// sessions end, earlier links stop working, and the owner gets an e-mail. A request for a link gets
// the same answer whether its e-mail address is known or not.
import { z } from 'zod'
import type { AccountId } from '../../platform/ids.ts'
import { type Answer, errorAnswer, isOk, okAnswer } from '../answers.ts'
import type { AuthRouteTable, SignedInAuthRequest } from '../auth-route.ts'
import { ADDRESS_HEADER, type Dependencies, RESET_MINUTES } from '../dependencies.ts'
import { passwordProblem } from '../passwords/passwords.ts'
import * as queries from '../queries.ts'
import { deviceName } from '../user-agent.ts'
import { emailShape } from './sign-in.ts'

const changeShape = z.object({ currentPassword: z.string().min(1), newPassword: z.string() })
const resetShape = z.object({ code: z.string().min(10).max(64), newPassword: z.string() })

type User = { readonly id: string; readonly email: string }

export function createPasswordChange(dependencies: Dependencies) {
  const { db, emails, throttle, settings } = dependencies

  /** Limits wrong passwords inside a session too: a stolen cookie must not allow free guesses. */
  async function withPasswordLimit(
    request: SignedInAuthRequest,
    check: () => Promise<Answer>,
  ): Promise<Answer> {
    const key = `password ${request.session.account}`
    const allowance = { max: settings.wrongPerAccount, seconds: settings.wrongMinutes * 60 }
    const count = await throttle.countAttempt(key, allowance)
    if (!count.isAllowed) return errorAnswer('attempts_exceeded', count)
    const answer = await check()
    if (isOk(answer)) await throttle.clear(key)
    return answer
  }

  async function change(request: SignedInAuthRequest): Promise<Answer> {
    const body = changeShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const { currentPassword, newPassword } = body.data
    const { session } = request
    const problem = passwordProblem(newPassword, session.email)
    if (problem !== undefined) return errorAnswer(problem)
    const answer = await withPasswordLimit(request, () =>
      request.callBetterAuth({ currentPassword, newPassword, revokeOtherSessions: true }),
    )
    if (!isOk(answer)) return answer
    await queries.codeDeleteByAccount(db, session.account)
    await emails.post(db, session, { kind: 'password-changed', facts: request.eventContext })
    return okAnswer({ status: true }, answer.cookies)
  }

  const routes: AuthRouteTable = {
    'POST /change-password': { hasStrictLimit: true, session: 'required', run: change },
    'POST /request-password-reset': {
      hasStrictLimit: true,
      hidesTiming: 'always',
      async run(request) {
        const email = emailShape.safeParse(request.body.email)
        if (!email.success) return errorAnswer('email_wrong')
        const answer = await request.callBetterAuth({ email: email.data })
        return isOk(answer) ? okAnswer() : answer
      },
    },
    'POST /reset-password': {
      hasStrictLimit: true,
      async run(request) {
        const body = resetShape.safeParse(request.body)
        if (!body.success) return errorAnswer('body_wrong')
        const { code, newPassword } = body.data
        const problem = passwordProblem(newPassword)
        if (problem !== undefined) return errorAnswer(problem)
        return request.callBetterAuth({ token: code, newPassword })
      },
    },
  }

  return {
    routes,
    withPasswordLimit,

    /** better-auth calls this with a code for an account; it ignores unknown addresses. */
    async sendReset(user: User, code: string): Promise<void> {
      const count = await throttle.countAttempt(`letter ${throttle.keyedDigest(user.email)}`, {
        max: settings.lettersPerHour,
        seconds: 3_600,
      })
      const account = await queries.accountFind(db, user.id)
      if (!count.isAllowed || account === undefined) return
      const facts = { link: emails.link('reset', code), minutes: RESET_MINUTES }
      await emails.post(db, account, { kind: 'reset-password', facts })
    },

    /** better-auth calls this after it has set the new password, and then ends the sessions. */
    async onReset(user: User, headers: Headers): Promise<void> {
      const account = await queries.accountFind(db, user.id)
      if (account === undefined) return
      await queries.codeDeleteByAccount(db, user.id as AccountId)
      const facts = {
        atMs: dependencies.clock.nowMs(),
        address: headers.get(ADDRESS_HEADER) ?? '',
        device: deviceName(headers.get('user-agent') ?? ''),
      }
      await emails.post(db, account, { kind: 'password-changed', facts })
    },
  }
}

export type PasswordChange = ReturnType<typeof createPasswordChange>
