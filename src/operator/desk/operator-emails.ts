// E-mails to operators about other operators. They have no links: a person who gets an unexpected
// one should not follow a link, but look at the acts.
import type { Tx } from '../../platform/db/db.ts'
import { composeEmail } from '../../platform/mail/email.ts'
import type { OperatorModules } from './modules.ts'

export type OperatorEmail = {
  readonly kind: 'break-glass' | 'operators-changed'
  readonly subject: string
  readonly lines: readonly string[]
}

/** Posts an e-mail to every active operator, in the transaction of what it reports. */
export async function emailOperators(
  tx: Tx,
  { staff, mail }: Pick<OperatorModules, 'staff' | 'mail'>,
  { kind, subject, lines }: OperatorEmail,
): Promise<void> {
  const email = composeEmail({ subject, lines: [...lines] }, 'op', 'en')
  for (const { email: to, state } of await staff.people.list()) {
    if (state === 'active') await mail.post(tx, { ...email, to, kind })
  }
}
