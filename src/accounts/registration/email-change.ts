// Another e-mail address: asked for in a fresh session, confirmed by a code sent to the new one,
// told to the old one. better-auth's own way would sign in whoever opens the link, second factor or
// not, and on a mere GET, which programs that read letters send too.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type AccountId, randomText } from '../../platform/ids.ts'
import { type Answer, no, yes } from '../answers.ts'
import type { Parts } from '../parts.ts'
import * as queries from '../queries.ts'
import type { Session } from '../sessions.ts'
import { emailShape } from '../sign-in/sign-in.ts'
import type { OwnVisit, Routes } from '../visit.ts'
import type { Registration } from './registration.ts'

const CONFIRM_MINUTES = 60

const askedShape = z.object({ account: z.string(), email: z.string() })

export function createEmailChange(parts: Parts, registration: Registration) {
  const { db, letters } = parts

  async function ask(visit: OwnVisit): Promise<Answer> {
    const email = emailShape.safeParse(visit.body.newEmail)
    const { session } = visit
    if (!email.success || email.data === session.email) return no('email_wrong')
    const newEmail = email.data
    if (!(await registration.mayPost(newEmail))) return yes()
    const owner = await queries.accountFindByEmail(db, newEmail)
    if (owner !== undefined) {
      await registration.postAlready(owner)
      return yes()
    }
    const code = randomText(24)
    const { account, language, zone } = session
    const facts = { ...visit.circumstances, oldEmail: session.email, newEmail }
    await db.transaction(async (tx) => {
      await queries.codeInsert(tx, {
        id: `code_${randomText(12)}`,
        identifier: identifierOf(code),
        value: JSON.stringify({ account, email: newEmail }),
        seconds: CONFIRM_MINUTES * 60,
      })
      await letters.post(
        tx,
        { email: newEmail, language, zone },
        {
          kind: 'confirm-new-email',
          facts: { link: letters.link('email', code), minutes: CONFIRM_MINUTES },
        },
      )
      await letters.post(tx, session, { kind: 'email-change-asked', facts })
    })
    return yes()
  }

  async function confirm(visit: OwnVisit): Promise<Answer> {
    const { code } = visit.body
    if (typeof code !== 'string') return no('body_wrong')
    const isMoved = await move(visit, visit.session, code).catch((error: unknown) => {
      // Somebody has registered with the address since.
      if (queries.isTaken(error)) return false
      throw error
    })
    return isMoved ? yes() : no('code_wrong')
  }

  function move(visit: OwnVisit, session: Session, code: string): Promise<boolean> {
    return db.transaction(async (tx) => {
      const value = await queries.codeTake(tx, identifierOf(code))
      if (value === undefined) return false
      const { account, email: newEmail } = askedShape.parse(JSON.parse(value))
      if (account !== session.account) return false
      const before = await queries.accountLock(tx, account as AccountId)
      if (before === undefined) return false
      await queries.accountSetEmail(tx, before.id, newEmail)
      // A link for a new password, sent to the old mailbox, must not work after this.
      await queries.codeDeleteOf(tx, before.id)
      const facts = { ...visit.circumstances, oldEmail: before.email, newEmail }
      for (const email of [before.email, newEmail]) {
        const to = { email, language: before.language, zone: before.zone }
        await letters.post(tx, to, { kind: 'email-changed', facts })
      }
      return true
    })
  }

  const routes: Routes = {
    'POST /email/change': { isStrict: true, isEven: 'always', session: 'fresh', run: ask },
    'POST /email/confirm': { isStrict: true, session: 'needed', run: confirm },
  }
  return { routes }
}

function identifierOf(code: string): string {
  return `email-change ${createHash('sha256').update(code).digest('base64url')}`
}
