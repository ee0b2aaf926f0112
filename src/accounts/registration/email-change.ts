// Change of the e-mail address: requested in a fresh session, confirmed by a code sent to the new
// address, reported to the old one. We do not use better-auth's own change: its link signs in
// anyone who opens it, without the second factor, and by a GET, which mail scanners send too.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type AccountId, randomText } from '../../platform/ids.ts'
import { type Answer, errorAnswer, okAnswer } from '../answers.ts'
import type { AuthRouteTable, SignedInAuthRequest } from '../auth-route.ts'
import type { Dependencies } from '../dependencies.ts'
import * as queries from '../queries.ts'
import type { Session } from '../sessions.ts'
import { emailShape } from '../sign-in/sign-in.ts'
import type { Registration } from './registration.ts'

const CONFIRM_MINUTES = 60

const pendingChangeShape = z.object({ account: z.string(), email: z.string() })

export function createEmailChange(dependencies: Dependencies, registration: Registration) {
  const { db, emails } = dependencies

  async function requestChange(request: SignedInAuthRequest): Promise<Answer> {
    const email = emailShape.safeParse(request.body.newEmail)
    const { session } = request
    if (!email.success || email.data === session.email) return errorAnswer('email_wrong')
    const newEmail = email.data
    if (!(await registration.mayEmail(newEmail))) return okAnswer()
    const owner = await queries.accountFindByEmail(db, newEmail)
    if (owner !== undefined) {
      await registration.emailAlreadyRegistered(owner)
      return okAnswer()
    }
    const code = randomText(24)
    const { account, language, zone } = session
    const facts = { ...request.eventContext, oldEmail: session.email, newEmail }
    await db.transaction(async (tx) => {
      await queries.codeInsert(tx, {
        id: `code_${randomText(12)}`,
        identifier: identifierOf(code),
        value: JSON.stringify({ account, email: newEmail }),
        seconds: CONFIRM_MINUTES * 60,
      })
      await emails.post(
        tx,
        { email: newEmail, language, zone },
        {
          kind: 'confirm-new-email',
          facts: { link: emails.link('email', code), minutes: CONFIRM_MINUTES },
        },
      )
      await emails.post(tx, session, { kind: 'email-change-asked', facts })
    })
    return okAnswer()
  }

  async function confirm(request: SignedInAuthRequest): Promise<Answer> {
    const { code } = request.body
    if (typeof code !== 'string') return errorAnswer('body_wrong')
    const isChanged = await changeEmail(request, request.session, code).catch((error: unknown) => {
      // Someone has registered with the address meanwhile.
      if (queries.isUniqueViolation(error)) return false
      throw error
    })
    return isChanged ? okAnswer() : errorAnswer('code_wrong')
  }

  function changeEmail(
    request: SignedInAuthRequest,
    session: Session,
    code: string,
  ): Promise<boolean> {
    return db.transaction(async (tx) => {
      const value = await queries.codeConsume(tx, identifierOf(code))
      if (value === undefined) return false
      const { account, email: newEmail } = pendingChangeShape.parse(JSON.parse(value))
      if (account !== session.account) return false
      const before = await queries.accountLock(tx, account as AccountId)
      if (before === undefined) return false
      await queries.accountSetEmail(tx, before.id, newEmail)
      // A reset link in the old mailbox must not work after this.
      await queries.codeDeleteByAccount(tx, before.id)
      const facts = { ...request.eventContext, oldEmail: before.email, newEmail }
      for (const email of [before.email, newEmail]) {
        const to = { email, language: before.language, zone: before.zone }
        await emails.post(tx, to, { kind: 'email-changed', facts })
      }
      return true
    })
  }

  const routes: AuthRouteTable = {
    'POST /email/change': {
      hasStrictLimit: true,
      hidesTiming: 'always',
      session: 'fresh',
      run: requestChange,
    },
    'POST /email/confirm': { hasStrictLimit: true, session: 'required', run: confirm },
  }
  return { routes }
}

function identifierOf(code: string): string {
  return `email-change ${createHash('sha256').update(code).digest('base64url')}`
}
