// The owner's second factor and passkeys: switching on and off, adding and removing. Each asks for
// the password or a fresh session, and each is told to the owner by letter.
import { z } from 'zod'
import { type Answer, isYes, no, yes } from '../answers.ts'
import type { Parts } from '../parts.ts'
import * as queries from '../queries.ts'
import type { OwnVisit, Routes } from '../visit.ts'
import type { PasswordChange } from './password-change.ts'

/** Shown in lists and letters. */
const nameShape = z
  .string()
  .transform((name) => name.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim())
  .pipe(z.string().max(60))
const registrationShape = z.object({ response: z.looseObject({}), name: nameShape.default('') })
const renameShape = z.object({ id: z.string(), name: nameShape.pipe(z.string().min(1)) })

export function createFactors(parts: Parts, { withPassword }: PasswordChange): Routes {
  const { db, letters } = parts
  const passwordOf = (visit: OwnVisit) => ({ password: String(visit.body.password ?? '') })

  async function enable(visit: OwnVisit): Promise<Answer> {
    const answer = await withPassword(visit, () =>
      visit.ask({ ...passwordOf(visit), method: 'totp' }),
    )
    if (!isYes(answer)) return answer
    const { totpURI: uri, backupCodes: recoveryCodes } = answer.body
    return yes({ uri, recoveryCodes }, answer.cookies)
  }

  async function disable(visit: OwnVisit): Promise<Answer> {
    const answer = await withPassword(visit, () => visit.ask(passwordOf(visit)))
    if (!isYes(answer)) return answer
    await letters.post(db, visit.session, { kind: 'second-factor-off', facts: visit.circumstances })
    return yes({ status: true }, answer.cookies)
  }

  async function newRecoveryCodes(visit: OwnVisit): Promise<Answer> {
    const answer = await withPassword(visit, () => visit.ask(passwordOf(visit)))
    return isYes(answer) ? yes({ recoveryCodes: answer.body.backupCodes }) : answer
  }

  async function addPasskey(visit: OwnVisit): Promise<Answer> {
    const body = registrationShape.safeParse(visit.body)
    if (!body.success) return no('body_wrong')
    const { response, name } = body.data
    const answer = await visit.ask({ response, name })
    if (!isYes(answer)) return answer
    const facts = { ...visit.circumstances, name }
    await letters.post(db, visit.session, { kind: 'passkey-added', facts })
    return yes({ id: answer.body.id }, answer.cookies)
  }

  async function removePasskey(visit: OwnVisit): Promise<Answer> {
    const { id } = visit.body
    const own = await queries.passkeyList(db, visit.session.account)
    const passkey = own.find((one) => one.id === id)
    if (passkey === undefined) return no('passkey_unknown')
    const answer = await visit.ask({ id })
    if (!isYes(answer)) return answer
    const facts = { ...visit.circumstances, name: passkey.name }
    await letters.post(db, visit.session, { kind: 'passkey-removed', facts })
    return yes()
  }

  async function renamePasskey(visit: OwnVisit): Promise<Answer> {
    const body = renameShape.safeParse(visit.body)
    if (!body.success) return no('body_wrong')
    const answer = await visit.ask(body.data)
    return isYes(answer) ? yes() : answer
  }

  return {
    'POST /two-factor/enable': { isStrict: true, session: 'needed', run: enable },
    'POST /two-factor/disable': { isStrict: true, session: 'fresh', run: disable },
    'POST /two-factor/generate-backup-codes': {
      isStrict: true,
      session: 'fresh',
      run: newRecoveryCodes,
    },
    'GET /passkey/generate-register-options': {
      session: 'fresh',
      run: (visit) => visit.ask({}),
    },
    'POST /passkey/verify-registration': { session: 'fresh', run: addPasskey },
    'POST /passkey/delete-passkey': { session: 'fresh', run: removePasskey },
    'POST /passkey/update-passkey': { session: 'needed', run: renamePasskey },
  }
}
