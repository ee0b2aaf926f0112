// Recovery by an owner who has lost the authenticator app and the recovery codes: two identity
// steps, the password and the mailbox; a wait with warnings to every known mailbox; and both steps
// again to complete it. The database refuses to complete it early.
import { z } from 'zod'
import type { Tx } from '../../platform/db/db.ts'
import { type AccountId, randomText } from '../../platform/ids.ts'
import { type Answer, errorAnswer, okAnswer } from '../answers.ts'
import type { AuthRequest, AuthRouteTable } from '../auth-route.ts'
import { codeDigest } from '../codes.ts'
import type { Dependencies } from '../dependencies.ts'
import * as accountQueries from '../queries.ts'
import * as recoveryQueries from '../recovery/queries.ts'
import { warnOwner } from '../recovery/warnings.ts'
import { oneAtATime } from './one-at-a-time.ts'
import * as queries from './queries.ts'

/** As a link that resets a password. */
const LINK_MINUTES = 60

const codeShape = z.object({ code: z.string().min(10).max(64) })
const bothShape = codeShape.extend({ password: z.string().min(1).max(1_000) })

/** What a locked account and a password that was just right allow. */
type Proven = { readonly account: accountQueries.AccountRow; readonly identifier: string }

export function createLostAuthenticator(dependencies: Dependencies): AuthRouteTable {
  const { db, emails, passwords, throttle, settings } = dependencies

  /** After the password: e-mails a link. The answer is the same whether one was sent. */
  async function ask(request: AuthRequest): Promise<Answer> {
    const [name = ''] = (request.cookie('two_factor') ?? '').split('.')
    const id = await queries.codeAccount(db, name)
    if (id === undefined) return errorAnswer('sign_in_expired')
    const key = `recovery letter ${id}`
    const count = await throttle.countAttempt(key, { max: settings.lettersPerHour, seconds: 3_600 })
    const account = await accountQueries.accountFind(db, id)
    if (!count.isAllowed || account === undefined) return okAnswer()
    const code = randomText(24)
    await db.transaction(async (tx) => {
      await accountQueries.codeInsert(tx, {
        id: `code_${randomText(12)}`,
        identifier: identifierOf(code),
        // With this value a reset of the password ends the link too.
        value: id,
        seconds: LINK_MINUTES * 60,
      })
      const facts = { link: emails.link('recover', code), minutes: LINK_MINUTES }
      await emails.post(tx, account, { kind: 'recovery-link', facts })
    })
    return okAnswer()
  }

  /** What the page of the link shows: what can be done now. */
  async function look(request: AuthRequest): Promise<Answer> {
    const body = codeShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const id = await accountQueries.codeFind(db, identifierOf(body.data.code))
    const account = id === undefined ? undefined : await accountQueries.accountFind(db, id)
    if (account === undefined) return errorAnswer('code_wrong')
    const recovery = await recoveryQueries.recoveryLiving(db, account.id)
    const waitHours = settings.recoveryHours
    if (recovery !== undefined) return okAnswer({ ...stateOf(recovery), waitHours })
    const problem = problemOf(account)
    if (problem !== undefined) return errorAnswer(problem)
    return okAnswer({ state: 'new', ripeAt: null, waitHours })
  }

  function problemOf(account: accountQueries.AccountRow) {
    if (!account.hasSecondFactor) return 'second_factor_off' as const
    // The password came from the mailbox: together they are one step, not two.
    return account.unreviewedResetAt === null ? undefined : ('recovery_password_new' as const)
  }

  /** Begins the wait. */
  function open(request: AuthRequest): Promise<Answer> {
    return withBoth(request, async (tx, { account, identifier }) => {
      const living = await recoveryQueries.recoveryLockLiving(tx, account.id)
      if (living !== undefined && living.openedAt === null) return errorAnswer('recovery_underway')
      if (living !== undefined) return okAnswer(stateOf(living))
      const problem = problemOf(account)
      if (problem !== undefined) return errorAnswer(problem)
      if ((await accountQueries.codeConsume(tx, identifier)) === undefined) {
        return errorAnswer('code_wrong')
      }
      const recovery = await recoveryQueries.recoveryInsert(tx, {
        ...{ id: `rcv_${randomText(12)}`, account: account.id, kind: 'authenticator' },
        ...{ begunBy: 'owner', steps: ['password', 'mailbox'], newEmail: null },
        ...{ confirmHash: null, hours: settings.recoveryHours },
      })
      const warning = { emails, recovery, stage: 'opened', to: account } as const
      await warnOwner(tx, { ...warning, context: request.eventContext })
      return okAnswer(stateOf(recovery))
    })
  }

  /** Removes the second factor after the wait, and ends every session. */
  function complete(request: AuthRequest): Promise<Answer> {
    return withBoth(request, async (tx, { account, identifier }) => {
      const recovery = await recoveryQueries.recoveryLockLiving(tx, account.id)
      if (recovery === undefined || recovery.newEmail !== null) return errorAnswer('code_wrong')
      if (!recovery.isRipe) return errorAnswer('recovery_unripe')
      if ((await accountQueries.codeConsume(tx, identifier)) === undefined) {
        return errorAnswer('code_wrong')
      }
      await recoveryQueries.recoveryComplete(tx, recovery.id)
      await recoveryQueries.factorRemove(tx, account.id)
      const warning = { emails, recovery, stage: 'done', to: account } as const
      await warnOwner(tx, { ...warning, context: request.eventContext })
      return okAnswer({ state: 'done', ripeAt: null })
    })
  }

  /**
   * Runs `work` with the account and its password locked, if link and password are right: a reset
   * that comes first makes both wrong. Wrong passwords are counted per account.
   */
  async function withBoth(
    request: AuthRequest,
    work: (tx: Tx, proven: Proven) => Promise<Answer>,
  ): Promise<Answer> {
    const body = bothShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const identifier = identifierOf(body.data.code)
    const id = await accountQueries.codeFind(db, identifier)
    if (id === undefined) return errorAnswer('code_wrong')
    return oneAtATime(throttle, id, async () => {
      const checked = await checkPassword(id, body.data.password)
      if ('status' in checked) return checked
      return db
        .transaction(async (tx) => {
          const account = await accountQueries.accountLock(tx, id)
          const hash = await recoveryQueries.passwordLock(tx, id)
          if (account === undefined || hash !== checked.hash) return errorAnswer('code_wrong')
          return work(tx, { account, identifier })
        })
        .catch(refusalOf)
    })
  }

  async function checkPassword(id: AccountId, password: string) {
    const key = `recovery password ${id}`
    const allowance = { max: settings.wrongPerAccount, seconds: settings.wrongMinutes * 60 }
    const count = await throttle.countAttempt(key, allowance)
    if (!count.isAllowed) return errorAnswer('attempts_exceeded', count)
    const hash = await queries.passwordHashOf(db, id)
    const isRight = hash !== undefined && (await passwords.verify({ hash, password }))
    if (!isRight) return errorAnswer('password_wrong')
    await throttle.clear(key)
    return { hash }
  }

  return {
    'POST /recovery/ask': { hasStrictLimit: true, hidesTiming: 'always', run: ask },
    'POST /recovery/look': { hasStrictLimit: true, run: look },
    'POST /recovery/open': { hasStrictLimit: true, hidesTiming: 'when refused', run: open },
    'POST /recovery/complete': { hasStrictLimit: true, hidesTiming: 'when refused', run: complete },
  }
}

/** For the page: whether the wait is over, and when it will be. */
export function stateOf({ isRipe, ripeAt, openedAt }: recoveryQueries.Recovery) {
  const state = openedAt === null ? 'unconfirmed' : isRipe ? 'ripe' : 'waiting'
  return { state, ripeAt: ripeAt?.toISOString() ?? null }
}

/** The database decides about the time and the warnings; it refuses by these constraints. */
export function refusalOf(error: unknown): Answer {
  const { constraint } = Object(error) as { readonly constraint?: unknown }
  const isEarly = /^account_recoveries_(?:wait|warn)$/.test(String(constraint))
  if (isEarly) return errorAnswer('recovery_unripe')
  throw error
}

function identifierOf(code: string): string {
  return `recovery ${codeDigest(code).toString('base64url')}`
}
