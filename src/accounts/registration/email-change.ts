// Change of the e-mail address: requested by an owner who has just proven who they are, confirmed
// by a code sent to the new address. For a week the old mailbox can undo it. We do not use
// better-auth's own change: its link signs in anyone who opens it, without the second factor, and
// by a GET, which mail scanners send too.
import { z } from 'zod'
import { type AccountId, randomText } from '../../platform/ids.ts'
import { type Answer, errorAnswer, isOk, okAnswer } from '../answers.ts'
import type { AuthRequest, AuthRouteTable, SignedInAuthRequest } from '../auth-route.ts'
import { codeDigest, UNDO_DAYS } from '../codes.ts'
import type { Dependencies } from '../dependencies.ts'
import * as accountQueries from '../queries.ts'
import * as recoveryQueries from '../recovery/queries.ts'
import type { Session } from '../sessions.ts'
import { oneAtATime } from '../sign-in/one-at-a-time.ts'
import type { PasswordChange } from '../sign-in/password-change.ts'
import { emailShape } from '../sign-in/sign-in.ts'
import * as queries from './queries.ts'
import type { Registration } from './registration.ts'

const CONFIRM_MINUTES = 60
const pendingChangeShape = z.object({ account: z.string(), email: z.string() })
const undoShape = z.object({ code: z.string().min(10).max(64) })

export function createEmailChange(
  dependencies: Dependencies,
  registration: Registration,
  passwordChange: Pick<PasswordChange, 'forgetResets'>,
) {
  const { db, emails, passwords, throttle } = dependencies

  async function requestChange(request: SignedInAuthRequest): Promise<Answer> {
    const email = emailShape.safeParse(request.body.newEmail)
    const { session } = request
    if (!email.success || email.data === session.email) return errorAnswer('email_wrong')
    if ((await queries.emailChangeFind(db, session.account)) !== undefined) {
      return errorAnswer('email_change_recent')
    }
    const newEmail = email.data
    if (!(await registration.mayEmail(newEmail, request.address))) return okAnswer()
    if (await registration.emailIfTaken(newEmail, session.language)) return okAnswer()
    const code = randomText(24)
    const { account, language, zone } = session
    const facts = { ...request.eventContext, oldEmail: session.email, newEmail }
    await db.transaction(async (tx) => {
      await accountQueries.codeInsert(tx, {
        id: `code_${randomText(12)}`,
        identifier: identifierOf(code),
        value: JSON.stringify({ account, email: newEmail }),
        seconds: CONFIRM_MINUTES * 60,
      })
      await emails.post(
        tx,
        { email: newEmail, language, zone, account },
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
      // Someone has registered with the address meanwhile, or another change was confirmed.
      if (accountQueries.isUniqueViolation(error) || error instanceof CodeOfAnother) return false
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
      const value = await accountQueries.codeConsume(tx, identifierOf(code))
      if (value === undefined) return false
      const { account, email: newEmail } = pendingChangeShape.parse(JSON.parse(value))
      // Rolls back: whoever opens the link in another account must not use it up for its owner.
      if (account !== session.account) throw new CodeOfAnother()
      const before = await accountQueries.accountLock(tx, account as AccountId)
      if (before === undefined) return false
      await queries.accountSetEmail(tx, before.id, newEmail)
      // A reset link in the old mailbox must not work after this.
      await accountQueries.codeDeleteByAccount(tx, before.id)
      const undo = randomText(24)
      const undoUntil = await queries.emailChangeInsert(tx, {
        ...{ account: before.id, oldEmail: before.email, newEmail, days: UNDO_DAYS },
        undoHash: codeDigest(undo),
      })
      const { language, zone } = before
      const facts = { ...request.eventContext, oldEmail: before.email, newEmail }
      await emails.post(tx, { email: newEmail, language, zone }, { kind: 'email-changed', facts })
      await emails.post(tx, before, {
        kind: 'email-change-undo',
        facts: { ...facts, link: emails.link('undo-email', undo), untilMs: undoUntil.getTime() },
      })
      return true
    })
  }

  /** Needs no session: the owner of the old mailbox may have lost every one of them. */
  async function undo(request: AuthRequest): Promise<Answer> {
    const body = undoShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const undoHash = codeDigest(body.data.code)
    const account = await queries.emailChangeAccount(db, undoHash)
    if (account === undefined) return errorAnswer('code_wrong')
    return oneAtATime(throttle, account, async () => {
      const email = await restore(request, account, undoHash)
      if (email === undefined) return errorAnswer('code_wrong')
      // The owner needs a new password; the link goes to the restored address.
      await passwordChange.forgetResets(email)
      const sent = await request.callBetterAuth({ email }, '/request-password-reset')
      return isOk(sent) ? okAnswer() : sent
    })
  }

  async function restore(
    request: AuthRequest,
    account: AccountId,
    undoHash: Buffer,
  ): Promise<string | undefined> {
    // A password that nobody knows: only the owner of the restored mailbox can set another one.
    const passwordHash = await passwords.hash(randomText(24))
    return db.transaction(async (tx) => {
      const before = await accountQueries.accountLock(tx, account)
      const change = await queries.emailChangeConsume(tx, undoHash)
      if (before === undefined || change === undefined) return undefined
      const { oldEmail, secondFactor } = change
      await queries.accountMoveTo(tx, { account, email: oldEmail, passwordHash, secondFactor })
      // A recovery had replaced the address: the second factor that it removed comes back too.
      const recovery = await recoveryQueries.recoveryTakeBack(tx, { account })
      if (recovery !== undefined) await recoveryQueries.factorRestore(tx, recovery.id)
      const { language, zone } = before
      const facts = { ...request.eventContext, oldEmail, newEmail: before.email }
      for (const email of [oldEmail, before.email]) {
        await emails.post(tx, { email, language, zone }, { kind: 'email-change-undone', facts })
      }
      return oldEmail
    })
  }

  const routes: AuthRouteTable = {
    'POST /email/change': {
      hasStrictLimit: true,
      hidesTiming: 'always',
      session: 'required',
      action: 'email.change',
      run: requestChange,
    },
    'POST /email/confirm': {
      hasStrictLimit: true,
      session: 'required',
      action: 'email.confirm',
      run: confirm,
    },
    'POST /email/undo': { hasStrictLimit: true, run: undo },
  }
  return { routes }
}

function identifierOf(code: string): string {
  return `email-change ${codeDigest(code).toString('base64url')}`
}

class CodeOfAnother extends Error {}
