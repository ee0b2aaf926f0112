// Registration: nobody is an account before the e-mail is confirmed, and confirming needs both the
// code out of the letter and the password chosen with it. So whoever registers a stranger's address
// gains nothing even if the stranger opens the link, programs that open links in letters confirm
// nothing, and there are no unconfirmed accounts that a sign-in could betray.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { newAccountId, randomText } from '../../platform/ids.ts'
import { type Answer, no, yes } from '../answers.ts'
import type { Parts } from '../parts.ts'
import { problemOf } from '../passwords/passwords.ts'
import * as queries from '../queries.ts'
import { emailShape, type SignIn } from '../sign-in/sign-in.ts'
import type { Routes, Visit } from '../visit.ts'

/** A day: letters are slow, and people confirm in the evening. */
const CONFIRM_HOURS = 24
const CONFIRM_SECONDS = CONFIRM_HOURS * 3_600
/** Wrong passwords for one code: its owner may mistype, a thief of the letter may not try. */
const WRONG_PER_CODE = 10

const registerShape = z.object({
  email: emailShape,
  password: z.string(),
  language: z.enum(['ru', 'en']).default('ru'),
  consents: z
    .array(z.object({ document: z.string().max(40), version: z.string().max(40) }))
    .max(20)
    .default([]),
})
const confirmShape = z.object({ code: z.string().min(20).max(64), password: z.string() })

export function createRegistration(parts: Parts, signIn: SignIn) {
  const { db, letters, throttle, passwords } = parts
  const lettersAllowed = { max: parts.settings.lettersPerHour, seconds: 3_600 }

  /** The same for everybody: that a letter went, if one may go. */
  async function mayPost(email: string): Promise<boolean> {
    const count = await throttle.take(`letter ${throttle.blind(email)}`, lettersAllowed)
    return count.isAllowed
  }

  async function postConfirm(to: { email: string; language: queries.Language }, code: string) {
    const facts = { link: letters.link('confirm', code), hours: CONFIRM_HOURS }
    await letters.post(db, to, { kind: 'confirm-email', facts })
  }

  async function postAlready(account: queries.AccountRow): Promise<void> {
    const facts = { signInLink: letters.link('sign-in'), resetLink: letters.link('forgot') }
    await letters.post(db, account, { kind: 'already-registered', facts })
  }

  async function register(visit: Visit): Promise<Answer> {
    const body = registerShape.safeParse(visit.body)
    if (!body.success) return no(isAbout(body.error, 'email') ? 'email_wrong' : 'body_wrong')
    const { email, password, language, consents } = body.data
    const problem = problemOf(password, email)
    if (problem !== undefined) return no(problem)
    const isGiven = (one: queries.Consent) => consents.some((given) => isSame(one, given))
    const documents = parts.documents()
    if (documents.some((one) => one.isRequired && !isGiven(one))) return no('consent_missing')
    // Before we look: whoever asks gets the same work done, whether or not the address is known.
    const passwordHash = await passwords.hash(password)
    const account = await queries.accountFindByEmail(db, email)
    if (!(await mayPost(email))) return yes()
    if (account !== undefined) {
      await postAlready(account)
      return yes()
    }
    const code = randomText(24)
    await queries.registrationInsert(db, {
      id: `reg_${randomText(12)}`,
      ...{ email, passwordHash, language, address: visit.address },
      consents: documents.filter(isGiven).map(({ document, version }) => ({ document, version })),
      codeHash: digest(code),
      seconds: CONFIRM_SECONDS,
    })
    await postConfirm({ email, language }, code)
    return yes()
  }

  /** The letter did not come: another one, with a new code for the newest registration. */
  async function again(visit: Visit): Promise<Answer> {
    const email = emailShape.safeParse(visit.body.email)
    if (!email.success) return no('email_wrong')
    if (!(await mayPost(email.data))) return yes()
    const code = randomText(24)
    const registration = await queries.registrationRecode(db, {
      email: email.data,
      codeHash: digest(code),
      seconds: CONFIRM_SECONDS,
    })
    if (registration !== undefined) await postConfirm(registration, code)
    return yes()
  }

  async function confirm(visit: Visit): Promise<Answer> {
    const body = confirmShape.safeParse(visit.body)
    if (!body.success) return no('body_wrong')
    const { code, password } = body.data
    const registration = await queries.registrationFind(db, digest(code))
    if (registration === undefined) return no('code_wrong')
    const tries = { max: WRONG_PER_CODE, seconds: CONFIRM_SECONDS }
    const count = await throttle.take(`confirm ${registration.id}`, tries)
    if (!count.isAllowed) return no('attempts_exceeded', count)
    if (!(await passwords.verify({ hash: registration.passwordHash, password }))) {
      return no('password_wrong')
    }
    if (!(await open(registration))) return no('code_wrong')
    const { email } = registration
    return signIn.signIn({ ...visit, body: { email, password } })
  }

  /**
   * The account, its password, its consents and its book, or nothing. The book is opened here and
   * not at registration, because books are for ever and registrations are mostly robots'.
   */
  async function open(registration: queries.RegistrationRow): Promise<boolean> {
    const { email, passwordHash, language, consents, address, createdAt } = registration
    try {
      return await db.transaction(async (tx) => {
        if (!(await queries.registrationTake(tx, registration))) return false
        const id = newAccountId()
        const book = await parts.openBook(tx)
        const credential = `cred_${randomText(12)}`
        await queries.accountInsert(tx, { id, credential, email, passwordHash, language, book })
        for (const consent of consents) {
          await queries.consentInsert(tx, { ...consent, account: id, address, at: createdAt })
        }
        return true
      })
    } catch (error) {
      // An account moved to this address in between.
      if (queries.isTaken(error)) return false
      throw error
    }
  }

  const routes: Routes = {
    'POST /register': { isStrict: true, isEven: 'always', run: register },
    'POST /register/again': { isStrict: true, isEven: 'always', run: again },
    'POST /confirm': { isStrict: true, session: 'maybe', run: confirm },
  }
  return { routes, mayPost, postAlready }
}

export type Registration = ReturnType<typeof createRegistration>

function isSame(one: queries.Consent, other: queries.Consent): boolean {
  return one.document === other.document && one.version === other.version
}

function isAbout(error: z.ZodError, field: string): boolean {
  return error.issues.every(({ path }) => path[0] === field)
}

function digest(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
