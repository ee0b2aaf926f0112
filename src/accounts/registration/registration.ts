// Registration: there is no account before the e-mail is confirmed, and confirming needs both the
// code from the e-mail and the password chosen with it. So an attacker who registers a stranger's
// address gains nothing even if the stranger opens the link, mail scanners that open links confirm
// nothing, and there are no unconfirmed accounts that a sign-in could reveal.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { newAccountId, randomText } from '../../platform/ids.ts'
import { passwordProblem } from '../../platform/passwords/passwords.ts'
import { type Answer, errorAnswer, okAnswer } from '../answers.ts'
import type { AuthRequest, AuthRouteTable } from '../auth-route.ts'
import type { Dependencies } from '../dependencies.ts'
import * as queries from '../queries.ts'
import { emailShape, type SignIn } from '../sign-in/sign-in.ts'
import * as changeQueries from './queries.ts'

/** A day: e-mail is slow, and people confirm in the evening. */
const CONFIRM_HOURS = 24
const CONFIRM_SECONDS = CONFIRM_HOURS * 3_600
/** Wrong passwords for one code: enough for typing errors, too few for who stole the e-mail. */
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

export function createRegistration(dependencies: Dependencies, signIn: SignIn) {
  const { db, emails, throttle, passwords } = dependencies
  const emailAllowance = { max: dependencies.settings.lettersPerHour, seconds: 3_600 }

  /** Counts an e-mail to this address; false when it has had its share of the hour. */
  async function mayEmail(email: string): Promise<boolean> {
    const key = throttle.digestKey('letter', email)
    const count = await throttle.countAttempt(key, emailAllowance)
    return count.isAllowed
  }

  async function emailConfirmation(
    to: { email: string; language: queries.Language },
    code: string,
  ) {
    const facts = { link: emails.link('confirm', code), hours: CONFIRM_HOURS }
    await emails.post(db, to, { kind: 'confirm-email', facts })
  }

  /**
   * E-mails an address that an account has, or that is reserved for the account that had it until
   * lately. False when the address is free.
   */
  async function emailIfTaken(email: string, language: queries.Language): Promise<boolean> {
    const account = await queries.accountFindByEmail(db, email)
    const reservedUntil = await changeQueries.emailReservedUntil(db, email)
    if (account !== undefined) {
      const facts = { signInLink: emails.link('sign-in'), resetLink: emails.link('forgot') }
      await emails.post(db, account, { kind: 'already-registered', facts })
      return true
    }
    if (reservedUntil === undefined) return false
    const facts = { untilMs: reservedUntil.getTime() }
    await emails.post(db, { email, language }, { kind: 'email-reserved', facts })
    return true
  }

  async function register(request: AuthRequest): Promise<Answer> {
    const body = registerShape.safeParse(request.body)
    if (!body.success)
      return errorAnswer(isAbout(body.error, 'email') ? 'email_wrong' : 'body_wrong')
    const { email, password, language, consents } = body.data
    const problem = passwordProblem(password, email)
    if (problem !== undefined) return errorAnswer(problem)
    const isAccepted = (one: queries.Consent) =>
      consents.some((accepted) => isSameDocument(one, accepted))
    const documents = dependencies.documents()
    if (documents.some((one) => one.isRequired && !isAccepted(one)))
      return errorAnswer('consent_missing')
    // Before the lookup: a known and an unknown address must cost the same work.
    const passwordHash = await passwords.hash(password)
    if (!(await mayEmail(email))) return okAnswer()
    if (await emailIfTaken(email, language)) return okAnswer()
    const code = randomText(24)
    await queries.registrationInsert(db, {
      id: `reg_${randomText(12)}`,
      ...{ email, passwordHash, language, address: request.address },
      consents: documents
        .filter(isAccepted)
        .map(({ document, version }) => ({ document, version })),
      codeHash: digest(code),
      seconds: CONFIRM_SECONDS,
    })
    await emailConfirmation({ email, language }, code)
    return okAnswer()
  }

  /** Sends another e-mail, with a new code for the newest registration of the address. */
  async function resendCode(request: AuthRequest): Promise<Answer> {
    const email = emailShape.safeParse(request.body.email)
    if (!email.success) return errorAnswer('email_wrong')
    if (!(await mayEmail(email.data))) return okAnswer()
    const code = randomText(24)
    const registration = await queries.registrationSetCode(db, {
      email: email.data,
      codeHash: digest(code),
      seconds: CONFIRM_SECONDS,
    })
    if (registration !== undefined) await emailConfirmation(registration, code)
    return okAnswer()
  }

  async function confirm(request: AuthRequest): Promise<Answer> {
    const body = confirmShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const { code, password } = body.data
    const registration = await queries.registrationFind(db, digest(code))
    if (registration === undefined) return errorAnswer('code_wrong')
    const tries = { max: WRONG_PER_CODE, seconds: CONFIRM_SECONDS }
    const count = await throttle.countAttempt(`confirm ${registration.id}`, tries)
    if (!count.isAllowed) return errorAnswer('attempts_exceeded', count)
    if (!(await passwords.verify({ hash: registration.passwordHash, password }))) {
      return errorAnswer('password_wrong')
    }
    if (!(await createAccount(registration))) return errorAnswer('code_wrong')
    const { email } = registration
    return signIn.signIn({ ...request, body: { email, password } })
  }

  /**
   * Adds the account, its password, its consents and its book in one transaction. The book is
   * opened here and not at registration: books are never deleted, and most registrations are bots'.
   */
  async function createAccount(registration: queries.RegistrationRow): Promise<boolean> {
    const { email, passwordHash, language, consents, address, createdAt } = registration
    try {
      return await db.transaction(async (tx) => {
        if (!(await queries.registrationConsume(tx, registration))) return false
        const id = newAccountId()
        const book = await dependencies.openBook(tx)
        const credential = `cred_${randomText(12)}`
        await queries.accountInsert(tx, { id, credential, email, passwordHash, language, book })
        for (const consent of consents) {
          await queries.consentInsert(tx, { ...consent, account: id, address, at: createdAt })
        }
        return true
      })
    } catch (error) {
      // Another account has changed its e-mail to this address meanwhile, or from it.
      if (queries.isUniqueViolation(error)) return false
      throw error
    }
  }

  const routes: AuthRouteTable = {
    'POST /register': { hasStrictLimit: true, hidesTiming: 'always', run: register },
    'POST /register/again': { hasStrictLimit: true, hidesTiming: 'always', run: resendCode },
    'POST /confirm': { hasStrictLimit: true, session: 'optional', run: confirm },
  }
  return { routes, mayEmail, emailIfTaken }
}

export type Registration = ReturnType<typeof createRegistration>

function isSameDocument(one: queries.Consent, other: queries.Consent): boolean {
  return one.document === other.document && one.version === other.version
}

function isAbout(error: z.ZodError, field: string): boolean {
  return error.issues.every(({ path }) => path[0] === field)
}

function digest(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
