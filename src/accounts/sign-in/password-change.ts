// A new password: with the old one, or with a link out of a letter. Either way the other sessions
// end, links sent so far stop, and the owner is told. Asking for a link answers everybody alike.
import { z } from 'zod'
import type { AccountId } from '../../platform/ids.ts'
import { type Answer, isYes, no, yes } from '../answers.ts'
import { deviceOf } from '../device.ts'
import { ADDRESS_HEADER, type Parts, RESET_MINUTES } from '../parts.ts'
import { problemOf } from '../passwords/passwords.ts'
import * as queries from '../queries.ts'
import type { OwnVisit, Routes } from '../visit.ts'
import { emailShape } from './sign-in.ts'

const changeShape = z.object({ currentPassword: z.string().min(1), newPassword: z.string() })
const resetShape = z.object({ code: z.string().min(10).max(64), newPassword: z.string() })

type User = { readonly id: string; readonly email: string }

export function createPasswordChange(parts: Parts) {
  const { db, letters, throttle, settings } = parts

  /** Passwords asked for inside a session count too: a stolen cookie must not guess freely. */
  async function withPassword(visit: OwnVisit, ask: () => Promise<Answer>): Promise<Answer> {
    const key = `password ${visit.session.account}`
    const allowance = { max: settings.wrongPerAccount, seconds: settings.wrongMinutes * 60 }
    const count = await throttle.take(key, allowance)
    if (!count.isAllowed) return no('attempts_exceeded', count)
    const answer = await ask()
    if (isYes(answer)) await throttle.clear(key)
    return answer
  }

  async function change(visit: OwnVisit): Promise<Answer> {
    const body = changeShape.safeParse(visit.body)
    if (!body.success) return no('body_wrong')
    const { currentPassword, newPassword } = body.data
    const { session } = visit
    const problem = problemOf(newPassword, session.email)
    if (problem !== undefined) return no(problem)
    const answer = await withPassword(visit, () =>
      visit.ask({ currentPassword, newPassword, revokeOtherSessions: true }),
    )
    if (!isYes(answer)) return answer
    await queries.codeDeleteOf(db, session.account)
    await letters.post(db, session, { kind: 'password-changed', facts: visit.circumstances })
    return yes({ status: true }, answer.cookies)
  }

  const routes: Routes = {
    'POST /change-password': { isStrict: true, session: 'needed', run: change },
    'POST /request-password-reset': {
      isStrict: true,
      isEven: 'always',
      async run(visit) {
        const email = emailShape.safeParse(visit.body.email)
        if (!email.success) return no('email_wrong')
        const answer = await visit.ask({ email: email.data })
        return isYes(answer) ? yes() : answer
      },
    },
    'POST /reset-password': {
      isStrict: true,
      async run(visit) {
        const body = resetShape.safeParse(visit.body)
        if (!body.success) return no('body_wrong')
        const { code, newPassword } = body.data
        const problem = problemOf(newPassword)
        if (problem !== undefined) return no(problem)
        return visit.ask({ token: code, newPassword })
      },
    },
  }

  return {
    routes,
    withPassword,

    /** better-auth has a code for somebody who asked; unknown addresses do not come here. */
    async sendReset(user: User, code: string): Promise<void> {
      const count = await throttle.take(`letter ${throttle.blind(user.email)}`, {
        max: settings.lettersPerHour,
        seconds: 3_600,
      })
      const account = await queries.accountFind(db, user.id)
      if (!count.isAllowed || account === undefined) return
      const facts = { link: letters.link('reset', code), minutes: RESET_MINUTES }
      await letters.post(db, account, { kind: 'reset-password', facts })
    },

    /** The password is new; the sessions end right after this. */
    async onReset(user: User, headers: Headers): Promise<void> {
      const account = await queries.accountFind(db, user.id)
      if (account === undefined) return
      await queries.codeDeleteOf(db, user.id as AccountId)
      const facts = {
        atMs: parts.clock.nowMs(),
        address: headers.get(ADDRESS_HEADER) ?? '',
        device: deviceOf(headers.get('user-agent') ?? ''),
      }
      await letters.post(db, account, { kind: 'password-changed', facts })
    },
  }
}

export type PasswordChange = ReturnType<typeof createPasswordChange>
