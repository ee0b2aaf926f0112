// The owner's second factor and passkeys: switching on and off, adding and removing. Each change
// has a line in levels.ts, and is reported to the owner by e-mail.
import { z } from 'zod'
import { type Answer, errorAnswer, isOk, okAnswer } from '../answers.ts'
import type { AuthRouteTable, SignedInAuthRequest } from '../auth-route.ts'
import type { Dependencies } from '../dependencies.ts'
import * as queries from '../queries.ts'
import { oneAtATime } from './one-at-a-time.ts'
import type { PasswordChange } from './password-change.ts'
import * as stepUpQueries from './queries.ts'

/** A passkey's name, shown in lists and e-mails. */
const nameShape = z
  .string()
  .transform((name) => name.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim())
  .pipe(z.string().max(60))
const registrationShape = z.object({ response: z.looseObject({}), name: nameShape.default('') })
const renameShape = z.object({ id: z.string(), name: nameShape.pipe(z.string().min(1)) })

export function createFactors(
  dependencies: Dependencies,
  { withPasswordLimit }: PasswordChange,
): AuthRouteTable {
  const { db, emails, throttle } = dependencies
  const passwordOf = (request: SignedInAuthRequest) => ({
    password: String(request.body.password ?? ''),
  })

  async function enable(request: SignedInAuthRequest): Promise<Answer> {
    const answer = await withPasswordLimit(request, () =>
      request.callBetterAuth({ ...passwordOf(request), method: 'totp' }),
    )
    if (!isOk(answer)) return answer
    const { totpURI: uri, backupCodes: recoveryCodes } = answer.body
    return okAnswer({ uri, recoveryCodes }, answer.cookies)
  }

  async function disable(request: SignedInAuthRequest): Promise<Answer> {
    const answer = await withPasswordLimit(request, () =>
      oneAtATime(throttle, request.session.account, () =>
        request.callBetterAuth(passwordOf(request)),
      ),
    )
    if (!isOk(answer)) return answer
    await emails.post(db, request.session, {
      kind: 'second-factor-off',
      facts: request.eventContext,
    })
    return okAnswer({ status: true }, answer.cookies)
  }

  async function newRecoveryCodes(request: SignedInAuthRequest): Promise<Answer> {
    const answer = await withPasswordLimit(request, () =>
      request.callBetterAuth(passwordOf(request)),
    )
    return isOk(answer) ? okAnswer({ recoveryCodes: answer.body.backupCodes }) : answer
  }

  async function addPasskey(request: SignedInAuthRequest): Promise<Answer> {
    const body = registrationShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const { response, name } = body.data
    const answer = await request.callBetterAuth({ response, name })
    if (!isOk(answer)) return answer
    const facts = { ...request.eventContext, name }
    await emails.post(db, request.session, { kind: 'passkey-added', facts })
    return okAnswer({ id: answer.body.id }, answer.cookies)
  }

  /** better-auth answers another owner's passkey differently from one that does not exist. */
  async function ownPasskey({ session }: SignedInAuthRequest, id: unknown) {
    const own = await queries.passkeyList(db, session.account)
    return own.find((one) => one.id === id)
  }

  async function removePasskey(request: SignedInAuthRequest): Promise<Answer> {
    const { id } = request.body
    const passkey = await ownPasskey(request, id)
    if (passkey === undefined) return errorAnswer('passkey_unknown')
    const answer = await request.callBetterAuth({ id })
    if (!isOk(answer)) return answer
    const { account, id: keep } = request.session
    await stepUpQueries.passkeyProofsForget(db, { account, keep })
    const facts = { ...request.eventContext, name: passkey.name }
    await emails.post(db, request.session, { kind: 'passkey-removed', facts })
    return okAnswer()
  }

  async function renamePasskey(request: SignedInAuthRequest): Promise<Answer> {
    const body = renameShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const passkey = await ownPasskey(request, body.data.id)
    if (passkey === undefined) return errorAnswer('passkey_unknown')
    const answer = await request.callBetterAuth(body.data)
    return isOk(answer) ? okAnswer() : answer
  }

  return {
    'POST /two-factor/enable': {
      hasStrictLimit: true,
      session: 'required',
      action: 'factor.enable',
      hasPasswordInBody: true,
      run: enable,
    },
    'POST /two-factor/disable': {
      hasStrictLimit: true,
      session: 'required',
      action: 'factor.disable',
      hasPasswordInBody: true,
      run: disable,
    },
    'POST /two-factor/generate-backup-codes': {
      hasStrictLimit: true,
      session: 'required',
      action: 'factor.recovery-codes',
      hasPasswordInBody: true,
      run: newRecoveryCodes,
    },
    'GET /passkey/generate-register-options': {
      session: 'required',
      action: 'passkey.add',
      run: (request) => request.callBetterAuth({}),
    },
    'POST /passkey/verify-registration': {
      session: 'required',
      action: 'passkey.add',
      run: addPasskey,
    },
    'POST /passkey/delete-passkey': {
      session: 'required',
      action: 'passkey.remove',
      run: removePasskey,
    },
    'POST /passkey/update-passkey': {
      session: 'required',
      action: 'passkey.rename',
      run: renamePasskey,
    },
  }
}
