// The mailbox's part of a recovery that an operator began: confirming the mailbox begins the wait;
// after it, a code sent there gives the account the new address. The old mailbox can undo that for
// a week, as every change of address.
import { z } from 'zod'
import { randomText } from '../../platform/ids.ts'
import { type Answer, errorAnswer, isOk, okAnswer } from '../answers.ts'
import type { AuthRequest, AuthRouteTable } from '../auth-route.ts'
import { codeDigest, UNDO_DAYS } from '../codes.ts'
import type { Dependencies } from '../dependencies.ts'
import * as accountQueries from '../queries.ts'
import * as recoveryQueries from '../recovery/queries.ts'
import { warnOwner } from '../recovery/warnings.ts'
import { refusalOf, stateOf } from '../sign-in/lost-authenticator.ts'
import { oneAtATime } from '../sign-in/one-at-a-time.ts'
import * as queries from './queries.ts'

const codeShape = z.object({ code: z.string().min(10).max(64) })

export function createLostMailbox(dependencies: Dependencies): AuthRouteTable {
  const { db, emails, passwords, throttle } = dependencies

  async function confirm(request: AuthRequest): Promise<Answer> {
    const body = codeShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const hash = codeDigest(body.data.code)
    const id = await recoveryQueries.recoveryAccountByCode(db, { column: 'confirm', hash })
    if (id === undefined) return errorAnswer('code_wrong')
    return db.transaction(async (tx) => {
      const account = await accountQueries.accountLock(tx, id)
      const recovery = await recoveryQueries.recoveryOpen(tx, hash)
      const living = recovery ?? (await recoveryQueries.recoveryLockLiving(tx, id))
      if (account === undefined || living === undefined) return errorAnswer('code_wrong')
      if (recovery !== undefined) {
        const warning = { emails, recovery, stage: 'opened', to: account } as const
        await warnOwner(tx, { ...warning, context: request.eventContext })
      }
      return okAnswer(stateOf(living))
    })
  }

  async function finish(request: AuthRequest): Promise<Answer> {
    const body = codeShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const hash = codeDigest(body.data.code)
    const id = await recoveryQueries.recoveryAccountByCode(db, { column: 'ready', hash })
    if (id === undefined) return errorAnswer('code_wrong')
    return oneAtATime(throttle, id, async () => {
      const email = await move(request, id).catch(refusalOf)
      if (email === undefined) return errorAnswer('code_wrong')
      if (typeof email !== 'string') return email
      // The owner needs a password; the link goes to the new address.
      const sent = await request.callBetterAuth({ email }, '/request-password-reset')
      return isOk(sent) ? okAnswer({ state: 'done', ripeAt: null }) : sent
    })
  }

  /** The new address; undefined when the recovery was stopped meanwhile. */
  async function move(
    request: AuthRequest,
    id: accountQueries.AccountRow['id'],
  ): Promise<string | undefined> {
    const passwordHash = await passwords.hash(randomText(24))
    return db.transaction(async (tx) => {
      const account = await accountQueries.accountLock(tx, id)
      await recoveryQueries.passwordLock(tx, id)
      const recovery = await recoveryQueries.recoveryLockLiving(tx, id)
      const newEmail = recovery?.newEmail ?? null
      if (account === undefined || recovery === undefined || newEmail === null) return undefined
      await recoveryQueries.recoveryComplete(tx, recovery.id)
      const undo = randomText(24)
      const undoUntil = await queries.emailChangeInsert(tx, {
        ...{ account: id, oldEmail: account.email, newEmail, days: UNDO_DAYS },
        undoHash: codeDigest(undo),
      })
      const factor = await recoveryQueries.factorId(tx, id)
      const secondFactor = recovery.kind === 'both' ? null : factor
      await queries.accountMoveTo(tx, { account: id, email: newEmail, passwordHash, secondFactor })
      const { language, zone } = account
      const facts = { ...request.eventContext, oldEmail: account.email, newEmail }
      await emails.post(tx, { email: newEmail, language, zone }, { kind: 'email-changed', facts })
      await emails.post(tx, account, {
        kind: 'email-change-undo',
        facts: { ...facts, link: emails.link('undo-email', undo), untilMs: undoUntil.getTime() },
      })
      return newEmail
    })
  }

  return {
    'POST /recovery/confirm': { hasStrictLimit: true, run: confirm },
    'POST /recovery/finish': { hasStrictLimit: true, run: finish },
  }
}
