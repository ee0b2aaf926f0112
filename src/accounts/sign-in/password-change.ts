// Sets a new password, with the old one or with a link from an e-mail. Either way the other
// sessions end, earlier links stop working, and the owner gets an e-mail. A request for a link gets
// the same answer whether its e-mail address is known or not.
import { z } from 'zod'
import { dateAt } from '../../platform/clock.ts'
import type { AccountId } from '../../platform/ids.ts'
import { passwordProblem } from '../../platform/passwords/passwords.ts'
import { type Answer, errorAnswer, isOk, okAnswer } from '../answers.ts'
import type { AuthRouteTable, SignedInAuthRequest } from '../auth-route.ts'
import { ADDRESS_HEADER, type Dependencies, RESET_MINUTES } from '../dependencies.ts'
import * as queries from '../queries.ts'
import { countedAs } from '../throttle.ts'
import { deviceName } from '../user-agent.ts'
import { oneAtATime } from './one-at-a-time.ts'
import * as stepUpQueries from './queries.ts'
import { emailShape } from './sign-in.ts'

const changeShape = z.object({ currentPassword: z.string().min(1), newPassword: z.string() })
const resetShape = z.object({ code: z.string().min(10).max(64), newPassword: z.string() })

type User = { readonly id: string; readonly email: string }

export function createPasswordChange(dependencies: Dependencies) {
  const { db, clock, emails, throttle, settings } = dependencies
  const resetKey = (email: string, unlocks: number) =>
    throttle.digestKey('reset', countedAs(email, unlocks))

  /**
   * Limits wrong passwords inside a session too: a stolen cookie must not allow free guesses. They
   * count for this session only: who has stolen one must not keep the owner's others from a change
   * of the password. A right one is recorded as proven in the session.
   */
  async function withPasswordLimit(
    request: SignedInAuthRequest,
    check: () => Promise<Answer>,
  ): Promise<Answer> {
    const key = `password ${request.session.id}`
    const allowance = { max: settings.wrongPerAccount, seconds: settings.wrongMinutes * 60 }
    const count = await throttle.countAttempt(key, allowance)
    if (!count.isAllowed) return errorAnswer('attempts_exceeded', count)
    const answer = await check()
    if (!isOk(answer)) return answer
    await throttle.clear(key)
    // No row when better-auth has replaced the session; auth/auth.ts has recorded it then.
    const { account, id } = request.session
    const at = dateAt(clock.nowMs())
    await stepUpQueries.sessionProve(db, { account, id, proof: 'passwordAt', at })
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
      oneAtATime(throttle, session.account, () =>
        request.callBetterAuth({ currentPassword, newPassword, revokeOtherSessions: true }),
      ),
    )
    if (!isOk(answer)) return answer
    await queries.codeDeleteByAccount(db, session.account)
    await emails.post(db, session, { kind: 'password-changed', facts: request.eventContext })
    return okAnswer({ status: true }, answer.cookies)
  }

  const routes: AuthRouteTable = {
    'POST /change-password': {
      hasStrictLimit: true,
      session: 'required',
      action: 'password.change',
      hasPasswordInBody: true,
      run: change,
    },
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
        const account = await stepUpQueries.codeAccount(db, `reset-password:${code}`)
        if (account === undefined) return errorAnswer('code_wrong')
        const reset = { token: code, newPassword }
        return oneAtATime(throttle, account, () => request.callBetterAuth(reset))
      },
    },
  }

  return {
    routes,
    withPasswordLimit,

    /**
     * better-auth calls this with a code for an account; it ignores unknown addresses. Counted
     * apart from other e-mails, which anybody can cause by registering the address: who has used
     * them up must not keep the owner from a reset. When resets are used up, the e-mailed links
     * still work.
     */
    async sendReset(user: User, code: string): Promise<void> {
      const account = await queries.accountFind(db, user.id)
      if (account === undefined) return
      const count = await throttle.countAttempt(resetKey(user.email, account.unlocks), {
        max: settings.lettersPerHour,
        seconds: RESET_MINUTES * 60,
      })
      if (!count.isAllowed) return
      const facts = { link: emails.link('reset', code), minutes: RESET_MINUTES }
      await emails.post(db, account, { kind: 'reset-password', facts })
    },

    /** The next reset is e-mailed, whatever was requested before: those links have ended. */
    async forgetResets(email: string): Promise<void> {
      const account = await queries.accountFindByEmail(db, email)
      await throttle.clear(resetKey(email, account?.unlocks ?? 0))
    },

    /** better-auth calls this after it has set the new password, and then ends the sessions. */
    async onReset(user: User, headers: Headers): Promise<void> {
      const account = await queries.accountFind(db, user.id)
      if (account === undefined) return
      await stepUpQueries.resetBegin(db, user.id as AccountId)
      await queries.codeDeleteByAccount(db, user.id as AccountId)
      const facts = {
        atMs: clock.nowMs(),
        address: headers.get(ADDRESS_HEADER) ?? '',
        device: deviceName(headers.get('user-agent') ?? ''),
      }
      await emails.post(db, account, { kind: 'password-changed', facts })
    },
  }
}

export type PasswordChange = ReturnType<typeof createPasswordChange>
