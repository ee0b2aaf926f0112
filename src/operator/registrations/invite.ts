// op accounts create: invites a customer, for company sales. There is an account only after the
// person has opened the link, chosen a password and accepted the documents.
import type { InvitationProblem } from '../../accounts/accounts.ts'
import type { Executor } from '../../platform/db/db.ts'
import { commandError, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'

const LANGUAGES = { ru: 'Russian', en: 'English' } as const
type Language = keyof typeof LANGUAGES

const WHY: Readonly<Record<InvitationProblem, (email: string) => string>> = {
  invalid: (email) => `${email} is no e-mail address`,
  has_account: (email) => `${email} has an account already: op find ${email}`,
  reserved: (email) =>
    `${email} belonged to an account until lately, whose owner can still take it back`,
}

export async function inviteCustomer(desk: Desk, text: string): Promise<number> {
  const { accounts, db } = desk.modules
  const language = desk.read('language', languageOf, 'ru or en') ?? 'ru'
  const email = await requireInvitable(desk, db, text)
  const waiting = (await accounts.registrations.list(5, email)).filter((one) => one.email === email)
  return desk.act({
    plan: [
      `an invitation to ${email}, in ${LANGUAGES[language]}`,
      ...(waiting.length > 0 ? ['  a registration of this address waits; its link works too'] : []),
      '  the person sets the password and accepts the documents by the link; it works for a week',
      '  there is no account, no key and no balance before that',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    async work(tx) {
      await requireInvitable(desk, tx, email)
      return accounts.registrations.invite(tx, { email, language }, desk.by)
    },
    report: ({ id }) => ({
      result: { registration: id, email, language },
      line: `${email} is invited: ${id}`,
    }),
  })
}

async function requireInvitable(desk: Desk, executor: Executor, text: string): Promise<string> {
  const { email, problem } = await desk.modules.accounts.registrations.check(executor, text)
  if (problem === undefined) return email
  if (problem === 'invalid') throw usageError(WHY.invalid(email))
  throw commandError(WHY[problem](email))
}

function languageOf(text: string): Language | undefined {
  return text === 'ru' || text === 'en' ? text : undefined
}
