// Every e-mail of the product in one language, for one owner and one order. E-mails whose links are
// made where they are posted come from the outbox, after the action that posts them; the others
// from their own function, with facts of every kind. A kind without facts does not compile, and the
// test compares the list with `kinds` to find a missing one.

import type * as account from '../../../src/accounts/emails/email-kinds.ts'
import { composeAccountEmail } from '../../../src/accounts/emails/emails.ts'
import { english as accountTemplates } from '../../../src/accounts/emails/templates-en.ts'
import type * as guard from '../../../src/guards/email-kinds.ts'
import { composeGuardEmail } from '../../../src/guards/emails.ts'
import { english as guardWords } from '../../../src/guards/templates-en.ts'
import {
  emailedEndReasons,
  type TopUpEmailFacts,
  type TopUpEmailInput,
  topUpEmail,
  topUpEmailKinds,
} from '../../../src/payments/mandates/emails.ts'
import { orderEmail, orderEmailKinds } from '../../../src/payments/order/emails.ts'
import { dateAt } from '../../../src/platform/clock.ts'
import type { OrderId } from '../../../src/platform/ids.ts'
import { credits } from '../../../src/units/credits.ts'
import { kopecks } from '../../../src/units/kopecks.ts'
import { PASSWORD } from '../../stages/accounts.ts'
import type { CabinetStage, Person } from '../../stages/cabinet.ts'
import { pack } from '../../stages/payments.ts'

export type Language = 'ru' | 'en'
export type WrittenEmail = { readonly kind: string; readonly text: string; readonly html: string }

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
  'src/payments/refunds/disputes.ts',
  'src/platform/mail/email.ts',
]

/** All kinds in the message tables. */
export const kinds: readonly string[] = [
  ...Object.keys(accountTemplates.templates),
  ...Object.keys(guardWords.templates),
  ...orderEmailKinds,
  ...topUpEmailKinds,
]

/** Their links carry codes, or are made where the e-mail is posted. */
type Posted =
  | 'confirm-email'
  | 'already-registered'
  | 'reset-password'
  | 'confirm-new-email'
  | 'email-change-undo'
/** For people who are not signed in, or cannot sign in. */
const forGuests: readonly string[] = [
  'confirm-email',
  'already-registered',
  'reset-password',
  'email-change-undo',
] satisfies Posted[]

export const isForGuests = ({ kind }: WrittenEmail): boolean => forGuests.includes(kind)

const atMs = Date.UTC(2026, 10, 14, 9, 5)
const event = { atMs, address: '203.0.113.7', device: 'Firefox, Windows' }
const address = { ...event, oldEmail: 'old@example.org', newEmail: 'new@example.org' }
const named = { ...event, name: 'Phone' }
const key = { ...event, last4: 'wXyZ' }

const accountFacts: { [K in Exclude<account.EmailKind, Posted>]: account.EmailFacts[K] } = {
  'password-guessed': { ...event, minutes: 15 },
  'new-device': event,
  'password-changed': event,
  'email-change-asked': address,
  'email-changed': address,
  'email-change-undone': address,
  'email-reserved': { untilMs: atMs },
  'second-factor-on': event,
  'second-factor-off': event,
  'recovery-code-used': event,
  'passkey-added': named,
  'passkey-removed': named,
  'key-created': key,
  'key-reissued': key,
  'key-revoked': key,
  'account-closed': { atMs, unspent: 'refund', eraseAtMs: Date.UTC(2029, 10, 14) },
}

const velocity = { limit: credits(1_000_000), minutes: 10 }
const guardFacts: guard.EmailFacts = {
  'low-balance': { balance: credits(1_234_567), daysLeft: 2 },
  'balance-empty': { balance: credits(0) },
  'day-limit-reached': {
    dayLimit: credits(5_000_000),
    needed: credits(1_292),
    left: credits(868),
    resetsAtMs: Date.UTC(2026, 10, 15),
  },
  'velocity-stopped': velocity,
  'limits-loosened': { dayLimit: null, velocity, atMs, address: '203.0.113.7' },
}

const { priceKopecks: price } = pack
const bought = { price, credits: pack.credits }
const ceiling = kopecks(3n * price)
const mandate = { ...bought, threshold: credits(1_000_000), title: '•••• 4444' }
const topUpFacts: Omit<TopUpEmailFacts, 'top-up-stopped'> = {
  'top-up-on': { ...mandate, dayCeiling: ceiling, monthCeiling: ceiling },
  'top-up-soon': { ...mandate, chargeAt: dateAt(Date.UTC(2026, 10, 17, 18, 30)) },
  'top-up-credited': { ...mandate, balance: credits(35_900_000) },
  'top-up-declined': { price },
  'top-up-unresolved': { price },
  'top-up-ceiling': {
    ...{ period: 'month', ceiling, spent: ceiling },
    resetsAt: dateAt(Date.UTC(2026, 11, 1)),
  },
}

export async function everyEmail(
  stage: CabinetStage,
  p: { readonly language: Language; readonly owner: Person; readonly order: string },
): Promise<WrittenEmail[]> {
  const { language } = p
  const to = { email: p.owner.email, locale: language }
  const order = { ...to, id: p.order as OrderId, packTitle: pack.title, ...bought }
  const contents = [
    ...Object.entries(topUpFacts).map(([kind, facts]) => ({ kind, facts }) as TopUpEmailInput),
    ...emailedEndReasons.map((why) => ({ kind: 'top-up-stopped', facts: { why } }) as const),
  ]
  const composed = {
    account: Object.entries(accountFacts).map(([kind, facts]) => ({ kind, facts })),
    guard: Object.entries(guardFacts).map(([kind, facts]) => ({ kind, facts })),
  }
  return [
    ...(await postedTo(stage, p.owner, language)),
    ...composed.account.map((notice) => ({
      ...composeAccountEmail(notice as account.AccountEmail, language, stage.brand),
      kind: notice.kind,
    })),
    ...composed.guard.map((notice) => ({
      ...composeGuardEmail(notice as guard.GuardEmail, language, stage.brand),
      kind: notice.kind,
    })),
    ...orderEmailKinds.map((kind) => orderEmail(kind, order, stage.brand, 'once')),
    ...contents.map((content) => topUpEmail(content, to, stage.brand, 'once')),
  ]
}

/** Triggers the e-mails with links of their own, and reads them from the outbox. */
async function postedTo(
  { db, documents, browser }: CabinetStage,
  owner: Person,
  language: Language,
): Promise<WrittenEmail[]> {
  const newEmail = `new-${owner.email}`
  const consents = documents.list().filter((one) => one.isRequired)
  const again = { email: owner.email, password: PASSWORD, language, consents }
  await browser().expectOk('POST /api/auth/register', again)
  await browser().expectOk('POST /api/auth/request-password-reset', { email: owner.email })
  await owner.expectOk('POST /api/auth/email/change', { newEmail })
  const { rows: sent } = await db.query(
    `select body_text as text from letters where recipient = $1 and kind = 'confirm-new-email'`,
    [newEmail],
  )
  const code = /#code=([\w-]+)/.exec((sent[0] as { text: string }).text)?.[1]
  await owner.expectOk('POST /api/auth/email/confirm', { code })
  const wanted: readonly Posted[] = [
    ...(['confirm-email', 'already-registered', 'reset-password'] as const),
    ...(['confirm-new-email', 'email-change-undo'] as const),
  ]
  const { rows } = await db.query(
    `select distinct on (kind) kind, body_text as text, body_html as html from letters
     where recipient = any($1) and kind = any($2) order by kind, posted_at desc`,
    [[owner.email, newEmail], wanted],
  )
  return rows as WrittenEmail[]
}
