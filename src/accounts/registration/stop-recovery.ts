// Stops a recovery: by the code in any warning, without signing in, or by any signed-in browser.
// For a week after it was completed, the code takes back what it did: stops win also against one
// that was completed a moment before.
import { z } from 'zod'
import { type AccountId, randomText } from '../../platform/ids.ts'
import { type Answer, errorAnswer, isOk, okAnswer } from '../answers.ts'
import type { AuthRequest, AuthRouteTable } from '../auth-route.ts'
import { codeDigest } from '../codes.ts'
import type { Dependencies } from '../dependencies.ts'
import * as accountQueries from '../queries.ts'
import * as recoveryQueries from '../recovery/queries.ts'
import { reportStop } from '../recovery/warnings.ts'
import { oneAtATime } from '../sign-in/one-at-a-time.ts'
import type { PasswordChange } from '../sign-in/password-change.ts'
import * as queries from './queries.ts'

const codeShape = z.object({ code: z.string().min(10).max(64) })

export function createStopRecovery(
  dependencies: Dependencies,
  { forgetResets }: Pick<PasswordChange, 'forgetResets'>,
): AuthRouteTable {
  const { db, emails, passwords, throttle } = dependencies

  /** False when nothing lived: it was completed before, or stopped. */
  function stopLiving(
    request: AuthRequest,
    p: { readonly account: AccountId; readonly by: 'link' | 'session'; readonly id?: string },
  ): Promise<boolean> {
    return db.transaction(async (tx) => {
      const to = await accountQueries.accountLock(tx, p.account)
      const recovery = await recoveryQueries.recoveryStop(tx, p)
      if (to === undefined || recovery === undefined) return false
      await reportStop(tx, { emails, recovery, to, context: request.eventContext })
      return true
    })
  }

  async function stop(request: AuthRequest): Promise<Answer> {
    const body = codeShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const found = await recoveryQueries.recoveryByStop(db, codeDigest(body.data.code))
    if (found === undefined) return errorAnswer('code_wrong')
    const { account, id } = found
    if (await stopLiving(request, { account, by: 'link', id })) {
      return okAnswer({ status: 'stopped' })
    }
    return oneAtATime(throttle, account, () => takeBack(request, account, id))
  }

  /** Undoes a completed recovery: former address and second factor, and a password nobody knows. */
  async function takeBack(request: AuthRequest, account: AccountId, id: string): Promise<Answer> {
    const passwordHash = await passwords.hash(randomText(24))
    const email = await db.transaction(async (tx) => {
      const before = await accountQueries.accountLock(tx, account)
      await recoveryQueries.passwordLock(tx, account)
      const recovery = await recoveryQueries.recoveryTakeBack(tx, { account, id })
      if (before === undefined || recovery === undefined) return undefined
      // Also a change of address since: its undo would end the second factor that returns.
      const isElsewhere = before.email !== recovery.mailbox
      const change = isElsewhere ? await queries.emailChangeTake(tx, account) : undefined
      if (recovery.newEmail !== null && change === undefined) return undefined
      const secondFactor = change?.secondFactor ?? null
      const to = change?.oldEmail ?? before.email
      await queries.accountMoveTo(tx, { account, email: to, passwordHash, secondFactor })
      await recoveryQueries.factorRestore(tx, id)
      await reportStop(tx, { emails, recovery, to: before, context: request.eventContext })
      return to
    })
    if (email === undefined) return errorAnswer('code_wrong')
    await forgetResets(email)
    const sent = await request.callBetterAuth({ email }, '/request-password-reset')
    return isOk(sent) ? okAnswer({ status: 'taken_back' }) : sent
  }

  return {
    'POST /recovery/stop': { hasStrictLimit: true, run: stop },
    'POST /recovery/stop-here': {
      session: 'required',
      async run(request) {
        const { account } = request.session
        const isStopped = await stopLiving(request, { account, by: 'session' })
        return isStopped ? okAnswer({ status: 'stopped' }) : errorAnswer('code_wrong')
      },
    },
  }
}
