// Invitations, and what operators do about registrations that wait: list them, send the e-mail
// again, delete one. An operator can invite an address but not make an account: the person opens
// the link in the mailbox, chooses the password and accepts the documents. So nobody else ever
// knows the password, and no account exists whose address is not confirmed.
import { z } from 'zod'
import type { Executor, Tx } from '../../platform/db/db.ts'
import { randomText } from '../../platform/ids.ts'
import { passwordProblem } from '../../platform/passwords/passwords.ts'
import { type Answer, errorAnswer } from '../answers.ts'
import type { AuthRequest, AuthRouteTable } from '../auth-route.ts'
import { CONFIRM_HOURS, codeDigest, INVITATION_HOURS } from '../codes.ts'
import type { Dependencies } from '../dependencies.ts'
import * as queries from '../queries.ts'
import { emailShape, type SignIn } from '../sign-in/sign-in.ts'
import { acceptedConsents, consentsShape } from './consents.ts'
import type { CreateAccount } from './create-account.ts'
import * as changeQueries from './queries.ts'
import * as waitingQueries from './waiting-queries.ts'

const INVITATION_SECONDS = INVITATION_HOURS * 3_600

const acceptShape = z.object({
  code: z.string().min(20).max(64),
  password: z.string(),
  consents: consentsShape,
})

/** An open account has the address, or had it until lately and may get it back. */
export type InvitationProblem = 'invalid' | 'has_account' | 'reserved'

type Invited = { readonly email: string; readonly language: queries.Language }

/** For operators. */
export function createInvitations(dependencies: Dependencies) {
  const { db, emails, passwords } = dependencies

  return {
    /**
     * The address as it would be stored, and why it cannot be invited: undefined when it can. For
     * operators only: this tells whether an address has an account.
     */
    async check(
      executor: Executor,
      text: string,
    ): Promise<{ readonly email: string; readonly problem: InvitationProblem | undefined }> {
      const read = emailShape.safeParse(text)
      if (!read.success) return { email: text, problem: 'invalid' }
      const email = read.data
      const account = await queries.accountFindByEmail(executor, email)
      if (account !== undefined) return { email, problem: 'has_account' }
      const reserved = await changeQueries.emailReservedUntil(executor, email)
      return { email, problem: reserved === undefined ? undefined : 'reserved' }
    },

    /** Adds a registration without a known password, and e-mails the link. `to` was checked. */
    async invite(tx: Tx, to: Invited, by: string): Promise<{ readonly id: string }> {
      const code = randomText(24)
      const id = `reg_${randomText(12)}`
      const passwordHash = await passwords.hash(randomText(24))
      await waitingQueries.invitationInsert(tx, {
        ...{ id, ...to, passwordHash, invitedBy: by },
        ...{ codeHash: codeDigest(code), seconds: INVITATION_SECONDS },
      })
      await emails.post(tx, to, {
        kind: 'invitation',
        facts: { link: emails.link('invitation', code), hours: INVITATION_HOURS },
      })
      return { id }
    },

    /** Newest first; `text`: only those of this id or with this part of an address. */
    list: (limit: number, text: string | null = null) =>
      waitingQueries.waitingList(db, { text, limit }),

    /** E-mails a new link, whose code replaces the one before. False when there is none. */
    async sendAgain(tx: Tx, id: string): Promise<boolean> {
      const [found] = await waitingQueries.waitingList(tx, { text: id, limit: 1 })
      if (found?.id !== id) return false
      const isInvited = found.invitedBy !== null
      const code = randomText(24)
      const seconds = isInvited ? INVITATION_SECONDS : CONFIRM_HOURS * 3_600
      const set = await waitingQueries.waitingSetCode(tx, {
        id,
        codeHash: codeDigest(code),
        seconds,
      })
      if (set === undefined) return false
      const { email, language } = set
      const link = emails.link(isInvited ? 'invitation' : 'confirm', code)
      await emails.post(
        tx,
        { email, language },
        isInvited
          ? { kind: 'invitation', facts: { link, hours: INVITATION_HOURS } }
          : { kind: 'confirm-email', facts: { link, hours: CONFIRM_HOURS } },
      )
      return true
    },

    /** Its link stops at once. False when there is none any more. */
    remove: (tx: Tx, id: string): Promise<boolean> => waitingQueries.waitingDelete(tx, id),
  }
}

/** The route by which the invited person makes the account. */
export function createAcceptance(
  dependencies: Dependencies,
  signIn: SignIn,
  createAccount: CreateAccount,
): AuthRouteTable {
  const { db, passwords } = dependencies

  async function accept(request: AuthRequest): Promise<Answer> {
    const body = acceptShape.safeParse(request.body)
    if (!body.success) return errorAnswer('body_wrong')
    const { code, password, consents } = body.data
    const invitation = await queries.registrationFind(db, codeDigest(code))
    if (invitation === undefined || invitation.invitedBy === null) return errorAnswer('code_wrong')
    const { email } = invitation
    const problem = passwordProblem(password, email)
    if (problem !== undefined) return errorAnswer(problem)
    const accepted = acceptedConsents(dependencies.documents(), consents)
    if (accepted === undefined) return errorAnswer('consent_missing')
    const passwordHash = await passwords.hash(password)
    const { address } = request
    const createdAt = null
    const person = {
      ...invitation,
      passwordHash,
      consents: accepted,
      address,
      createdAt,
      confirmedFrom: address,
    }
    if (!(await createAccount(person))) return errorAnswer('code_wrong')
    return signIn.signIn({ ...request, body: { email, password } })
  }

  return { 'POST /invitation': { hasStrictLimit: true, session: 'optional', run: accept } }
}
