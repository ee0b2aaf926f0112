// E-mails to operators about other operators. They have no links: a person who gets an unexpected
// one should not follow a link, but look at the acts.
import type { Tx } from '../../platform/db/db.ts'
import { composeEmail, type EmailBrand } from '../../platform/mail/email.ts'
import type { OperatorModules } from './modules.ts'

export type OperatorEmail = {
  readonly kind: 'break-glass' | 'operators-changed'
  readonly subject: string
  readonly lines: readonly string[]
}

export function composeOperatorEmail(
  { subject, lines }: Omit<OperatorEmail, 'kind'>,
  brand: EmailBrand,
) {
  return composeEmail({ subject, lines }, { brand, language: 'en', reason: 'operator' })
}

export function brokenGlassEmail(p: {
  readonly osUser: string
  readonly command: string
}): OperatorEmail {
  return {
    kind: 'break-glass',
    subject: 'A command of op ran without signing in',
    lines: [
      `${p.osUser} ran: op ${p.command}`,
      'If nobody told you about it, treat the machine as taken over: the runbook is in ' +
        'docs/runbooks.md, "A command ran without signing in".',
    ],
  }
}

export function operatorsChangedEmail(what: string, by: string): OperatorEmail {
  return {
    kind: 'operators-changed',
    subject: 'A change of operators',
    lines: [
      `${what}, by ${by}.`,
      'If nobody told you about it, see op acts and disable who did it: op operators disable.',
    ],
  }
}

/** Posts an e-mail to every active operator, in the transaction of what it reports. */
export async function emailOperators(
  tx: Tx,
  { staff, mail, config }: Pick<OperatorModules, 'staff' | 'mail' | 'config'>,
  email: OperatorEmail,
): Promise<void> {
  const composed = composeOperatorEmail(email, config.brand)
  for (const { email: to, state } of await staff.people.list()) {
    if (state === 'active') await mail.post(tx, { ...composed, to, kind: email.kind })
  }
}
