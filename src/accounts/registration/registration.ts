// Registration: there is no account before the e-mail is confirmed, and confirming needs both the
// code from the e-mail and the password chosen with it, or the browser in which it was chosen. So
// an attacker who registers a stranger's address gains nothing even if the stranger opens the link,
// mail scanners that open links confirm nothing, and there are no unconfirmed accounts that a
// sign-in could reveal.
import { z } from 'zod'
import { randomText } from '../../platform/ids.ts'
import { normalizeAddress } from '../../platform/mail/normalize-address.ts'
import { siteOf } from '../../platform/networks.ts'
import { passwordProblem } from '../../platform/passwords/passwords.ts'
import { type Answer, errorAnswer, okAnswer } from '../answers.ts'
import type { AuthRequest, AuthRouteTable } from '../auth-route.ts'
import {
  CONFIRM_HOURS,
  codeDigest,
  INVITATION_HOURS,
  REGISTRATION_COOKIE,
  registrationIdOf,
} from '../codes.ts'
import type { Dependencies } from '../dependencies.ts'
import * as queries from '../queries.ts'
import { emailShape, type SignIn } from '../sign-in/sign-in.ts'
import { acceptedConsents, consentsShape } from './consents.ts'
import type { CreateAccount } from './create-account.ts'
import * as changeQueries from './queries.ts'

const CONFIRM_SECONDS = CONFIRM_HOURS * 3_600
/** Wrong passwords for one code: enough for typing errors, too few for who stole the e-mail. */
const WRONG_PER_CODE = 10
/**
 * How many networks may use up their e-mails to one mailbox in an hour. With five each, nobody gets
 * more than 20, and a stranger needs four rented networks to keep an owner out for the hour.
 */
const NETWORKS_PER_MAILBOX = 4

const registerShape = z.object({
  email: emailShape,
  password: z.string(),
  language: z.enum(['ru', 'en']).default('ru'),
  consents: consentsShape,
})
const confirmShape = z.object({
  code: z.string().min(20).max(64),
  /** Not needed in the browser that registered. */
  password: z.string().optional(),
})

export function createRegistration(
  dependencies: Dependencies,
  signIn: SignIn,
  createAccount: CreateAccount,
) {
  const { db, emails, throttle, passwords } = dependencies
  const { lettersPerHour } = dependencies.settings
  const networkAllowance = { max: lettersPerHour, seconds: 3_600 }
  const mailboxAllowance = { max: lettersPerHour * NETWORKS_PER_MAILBOX, seconds: 3_600 }

  /**
   * Counts an e-mail to this mailbox, which somebody at this address causes; false when there were
   * enough this hour. Each network has a share of its own: a stranger who registers an address
   * again and again would otherwise keep its owner from registering. All spellings share one
   * count: somebody could otherwise fill a mailbox with e-mails to anna+1, anna+2, ….
   */
  async function mayEmail(email: string, address: string): Promise<boolean> {
    const mailbox = normalizeAddress(email)
    const network = throttle.digestKey('letter-network', `${mailbox} ${siteOf(address)}`)
    // First: what is refused to one network must not count towards what all of them may cause.
    if (!(await throttle.countAttempt(network, networkAllowance)).isAllowed) return false
    const all = throttle.digestKey('letter', mailbox)
    return (await throttle.countAttempt(all, mailboxAllowance)).isAllowed
  }

  async function emailConfirmation(
    to: { email: string; language: queries.Language },
    code: string,
  ) {
    const facts = { link: emails.link('confirm', code), hours: CONFIRM_HOURS }
    await emails.post(db, to, { kind: 'confirm-email', facts })
  }

  /** The link of an invitation in place of the one before, which the code has replaced. */
  async function emailInvitation(to: { email: string; language: queries.Language }, code: string) {
    const facts = { link: emails.link('invitation', code), hours: INVITATION_HOURS }
    await emails.post(db, to, { kind: 'invitation', facts })
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
    const accepted = acceptedConsents(dependencies.documents(), consents)
    if (accepted === undefined) return errorAnswer('consent_missing')
    // Before the lookup: a known and an unknown address must cost the same work.
    const passwordHash = await passwords.hash(password)
    // Also when no registration is stored: the answer must not tell.
    const cookie = randomText(24)
    const days = CONFIRM_HOURS / 24
    const answer = okAnswer(undefined, [request.newCookie(REGISTRATION_COOKIE, cookie, days)])
    if (!(await mayEmail(email, request.address))) return answer
    if (await emailIfTaken(email, language)) return answer
    const code = randomText(24)
    await queries.registrationInsert(db, {
      id: registrationIdOf(cookie),
      ...{ email, passwordHash, language, address: request.address },
      consents: accepted,
      codeHash: codeDigest(code),
      seconds: CONFIRM_SECONDS,
    })
    await emailConfirmation({ email, language }, code)
    return answer
  }

  /** Sends another e-mail, with a new code for the newest registration of the address. */
  async function resendCode(request: AuthRequest): Promise<Answer> {
    const email = emailShape.safeParse(request.body.email)
    if (!email.success) return errorAnswer('email_wrong')
    if (!(await mayEmail(email.data, request.address))) return okAnswer()
    const code = randomText(24)
    const registration = await queries.registrationSetCode(db, {
      email: email.data,
      codeHash: codeDigest(code),
      hours: { registration: CONFIRM_HOURS, invitation: INVITATION_HOURS },
    })
    if (registration === undefined) return okAnswer()
    if (registration.invitedBy === null) await emailConfirmation(registration, code)
    else await emailInvitation(registration, code)
    return okAnswer()
  }

  async function confirm(request: AuthRequest): Promise<Answer> {
    const body = confirmShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const { code, password } = body.data
    const registration = await queries.registrationFind(db, codeDigest(code))
    if (registration === undefined || registration.invitedBy !== null) {
      return errorAnswer('code_wrong')
    }
    const refused =
      password === undefined
        ? refusalOfBrowser(request, registration)
        : await refusalOfPassword(registration, password)
    if (refused !== undefined) return refused
    if (!(await createAccount({ ...registration, confirmedFrom: request.address })))
      return errorAnswer('code_wrong')
    const { email, createdAt: passwordAt } = registration
    return password === undefined
      ? signIn.signInRegistered(request, { email, passwordAt })
      : signIn.signIn({ ...request, body: { email, password } })
  }

  /**
   * The password was chosen in the browser that has the cookie of this very registration. The
   * cookie of another does not count: somebody else may have registered the same address.
   */
  function refusalOfBrowser(
    request: AuthRequest,
    { id }: queries.RegistrationRow,
  ): Answer | undefined {
    const cookie = request.cookie(REGISTRATION_COOKIE)
    const isOwn = cookie !== undefined && registrationIdOf(cookie) === id
    return isOwn ? undefined : errorAnswer('password_needed')
  }

  async function refusalOfPassword(
    { id, passwordHash: hash }: queries.RegistrationRow,
    password: string,
  ): Promise<Answer | undefined> {
    const tries = { max: WRONG_PER_CODE, seconds: CONFIRM_SECONDS }
    const count = await throttle.countAttempt(`confirm ${id}`, tries)
    if (!count.isAllowed) return errorAnswer('attempts_exceeded', count)
    const isRight = await passwords.verify({ hash, password })
    return isRight ? undefined : errorAnswer('password_wrong')
  }

  const routes: AuthRouteTable = {
    'POST /register': { hasStrictLimit: true, hidesTiming: 'always', run: register },
    'POST /register/again': { hasStrictLimit: true, hidesTiming: 'always', run: resendCode },
    'POST /confirm': { hasStrictLimit: true, session: 'optional', run: confirm },
  }
  return { routes, mayEmail, emailIfTaken }
}

export type Registration = ReturnType<typeof createRegistration>

function isAbout(error: z.ZodError, field: string): boolean {
  return error.issues.every(({ path }) => path[0] === field)
}
