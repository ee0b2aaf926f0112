// Every e-mail of the product in one language, for one owner and one order. E-mails whose links are
// made where they are posted come from the outbox, after the action that posts them; the others
// are the samples. The test compares the list with `kinds` to find a missing one.

import { english as accountTemplates } from '../../../src/accounts/emails/templates-en.ts'
import { english as guardWords } from '../../../src/guards/templates-en.ts'
import { topUpEmailKinds } from '../../../src/payments/mandates/emails.ts'
import { orderEmailKinds } from '../../../src/payments/order/emails.ts'
import { SUMMARY_KIND } from '../../../src/summaries/email.ts'
import {
  type Language,
  type Posted,
  type SampleEmail,
  sampleEmails,
  sampleOperatorEmails,
} from '../../../tools/email-samples.ts'
import { PASSWORD } from '../../stages/accounts.ts'
import type { CabinetStage, Person } from '../../stages/cabinet.ts'

export type WrittenEmail = Omit<SampleEmail, 'subject'>

/** Files that compose or post e-mails; the links of a file that is not listed are not checked. */
export const writers = [
  'src/accounts/emails/emails.ts',
  'src/guards/emails.ts',
  'src/guards/guards.ts',
  // To operators, in English and without links.
  'src/operator/desk/operator-emails.ts',
  'src/payments/mandates/emails.ts',
  'src/payments/mandates/endings.ts',
  'src/payments/mandates/mandates.ts',
  'src/payments/mandates/top-ups.ts',
  'src/payments/order/emails.ts',
  'src/payments/purchase/apply.ts',
  'src/payments/purchase/review-opening.ts',
  'src/payments/refunds/apply.ts',
  'src/payments/refunds/closing.ts',
  'src/payments/refunds/disputes.ts',
  'src/platform/mail/email.ts',
  // A test of the mail server, in English and without links.
  'src/platform/mail/mail.ts',
  'src/summaries/email.ts',
  'src/summaries/summaries.ts',
]

/** All kinds in the message tables. */
export const kinds: readonly string[] = [
  ...Object.keys(accountTemplates.templates),
  ...Object.keys(guardWords.templates),
  ...orderEmailKinds,
  ...topUpEmailKinds,
  SUMMARY_KIND,
]

/** For people who are not signed in, or cannot sign in. */
const forGuests: readonly string[] = [
  'confirm-email',
  'invitation',
  'already-registered',
  'reset-password',
  'email-change-undo',
  'recovery-link',
  'recovery-confirm',
  'recovery-opened',
  'recovery-reminder',
  'recovery-ready',
  'recovery-done',
]

export const isForGuests = ({ kind }: WrittenEmail): boolean => forGuests.includes(kind)

/** Their links carry codes, or are made where the e-mail is posted. */
const posted: readonly string[] = [
  ...(['confirm-email', 'invitation', 'already-registered', 'reset-password'] as const),
  ...(['confirm-new-email', 'email-change-undo'] as const),
] satisfies Posted[]

export async function everyEmail(
  stage: CabinetStage,
  p: { readonly language: Language; readonly owner: Person; readonly order: string },
): Promise<WrittenEmail[]> {
  const { language, owner } = p
  const { brand } = stage
  const samples = sampleEmails(language, { brand, email: owner.email, order: p.order })
  return [
    ...(await postedTo(stage, owner, language)),
    ...samples.filter(({ kind }) => !posted.includes(kind)),
    ...(language === 'en' ? sampleOperatorEmails(brand) : []),
  ]
}

/** Triggers the e-mails with links of their own, and reads them from the outbox. */
async function postedTo(
  { db, documents, browser, accounts }: CabinetStage,
  owner: Person,
  language: Language,
): Promise<WrittenEmail[]> {
  const newEmail = `new-${owner.email}`
  const consents = documents.list().filter((one) => one.isRequired)
  const again = { email: owner.email, password: PASSWORD, language, consents }
  await browser().expectOk('POST /api/auth/register', again)
  await browser().expectOk('POST /api/auth/request-password-reset', { email: owner.email })
  await owner.expectOk('POST /api/auth/email/change', { newEmail })
  const invited = `invited-${owner.email}`
  await db.transaction((tx) =>
    accounts.registrations.invite(tx, { email: invited, language }, 'olga'),
  )
  const { rows: sent } = await db.query(
    `select body_text as text from letters where recipient = $1 and kind = 'confirm-new-email'`,
    [newEmail],
  )
  const code = /#code=([\w-]+)/.exec((sent[0] as { text: string }).text)?.[1]
  await owner.expectOk('POST /api/auth/email/confirm', { code })
  const { rows } = await db.query(
    `select distinct on (kind) kind, body_text as text, body_html as html from letters
     where recipient = any($1) and kind = any($2) order by kind, posted_at desc`,
    [[owner.email, newEmail, invited], posted],
  )
  return rows as WrittenEmail[]
}
