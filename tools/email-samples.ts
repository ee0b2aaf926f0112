// Samples of every e-mail of the product, in both languages, with facts of every kind: for the page
// of samples of the mailbox, and for tests. A kind without facts does not compile. The codes in
// their links are made up.

import type * as account from '../src/accounts/emails/email-kinds.ts'
import { composeAccountEmail } from '../src/accounts/emails/emails.ts'
import type * as guard from '../src/guards/email-kinds.ts'
import { composeGuardEmail } from '../src/guards/emails.ts'
import {
  brokenGlassEmail,
  composeOperatorEmail,
  type OperatorEmail,
  operatorsChangedEmail,
} from '../src/operator/desk/operator-emails.ts'
import {
  emailedEndReasons,
  type TopUpEmailFacts,
  type TopUpEmailInput,
  topUpEmail,
} from '../src/payments/mandates/emails.ts'
import { orderEmail, orderEmailKinds } from '../src/payments/order/emails.ts'
import { dateAt } from '../src/platform/clock.ts'
import type { OrderId } from '../src/platform/ids.ts'
import { composeEmail, type EmailBrand } from '../src/platform/mail/email.ts'
import { TEST_EMAIL } from '../src/platform/mail/mail.ts'
import { composeSummaryEmail, SUMMARY_KIND, type SummaryFacts } from '../src/summaries/email.ts'
import { credits } from '../src/units/credits.ts'
import { kopecks } from '../src/units/kopecks.ts'

export type Language = 'ru' | 'en'
export type SampleEmail = {
  readonly kind: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Their links carry codes, or are made where the e-mail is posted. */
export type Posted =
  | 'confirm-email'
  | 'invitation'
  | 'already-registered'
  | 'reset-password'
  | 'confirm-new-email'
  | 'email-change-undo'

/** Of an owner who has chosen one. */
const ZONE = 'Europe/Moscow'
const atMs = Date.UTC(2026, 10, 14, 9, 5)
const event = { atMs, address: '203.0.113.7', device: 'Firefox, Windows' }
/** As long as some are. */
const newEmail = 'anastasia.konstantinopolskaya+tollgate@mail.research-department.example.org'
const address = { ...event, oldEmail: 'old@example.org', newEmail }
const named = { ...event, name: 'Phone' }
const key = { ...event, last4: 'wXyZ' }

const accountFacts: {
  [K in Exclude<account.EmailKind, Posted | RecoveryWithLink>]: account.EmailFacts[K]
} = {
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
  'recovery-stopped': { ...event, lost: 'authenticator' },
  'passkey-added': named,
  'passkey-removed': named,
  'key-created': key,
  'key-reissued': key,
  'key-revoked': key,
  'account-closing': { atMs, unspent: 'refund', begunBy: 'owner' },
  'account-closing-stopped': {},
  'account-closed': { atMs, unspent: 'refund', eraseAtMs: Date.UTC(2029, 10, 14) },
}

/** Their links lead to pages that wait for a click, so a made-up code opens them as a right one. */
function recoveryEmails(cabinetUrl: string): account.AccountEmail[] {
  const link = (page: string) => `${cabinetUrl}/${page}#code=made-up-for-the-list`
  const lost = 'both'
  const warning = { ...event, lost, newEmail, untilMs: atMs } as const
  return [
    { kind: 'recovery-link', facts: { link: link('recover'), minutes: 60 } },
    {
      kind: 'recovery-confirm',
      facts: { link: link('confirm-recovery'), lost, hours: 24, waitHours: 72 },
    },
    { kind: 'recovery-opened', facts: { ...warning, link: link('stop-recovery') } },
    { kind: 'recovery-reminder', facts: { ...warning, link: link('stop-recovery') } },
    { kind: 'recovery-ready', facts: { link: link('finish-recovery'), lost, untilMs: atMs } },
    { kind: 'recovery-done', facts: { ...warning, link: link('stop-recovery') } },
  ]
}

type RecoveryWithLink = Exclude<
  Extract<account.EmailKind, `recovery-${string}`>,
  'recovery-code-used' | 'recovery-stopped'
>

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

const price = kopecks(130_000n)
const bought = { price, credits: credits(35_000_000) }
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
const pack = { credits: bought.credits, priceKopecks: price }

const summaryFacts: SummaryFacts = {
  month: '2026-10-01',
  requests: 12_345n,
  spent: credits(28_456_789),
  models: [
    { model: 'model-large', spent: credits(21_000_000) },
    { model: 'model-small', spent: credits(7_456_789) },
  ],
  purchases: [bought],
  receipts: [
    { kind: 'prepayment', amount: price, atMs: Date.UTC(2026, 9, 3, 9) },
    { kind: 'completion', amount: kopecks(105_696n), atMs: Date.UTC(2026, 9, 31, 20) },
  ],
  receiptsMore: 0,
  balance: credits(6_543_211),
  pack,
}

const operatorEmails: readonly OperatorEmail[] = [
  brokenGlassEmail({ osUser: 'root', command: 'close acc_0123456789abcdef' }),
  operatorsChangedEmail('boris was disabled', 'olga'),
]

/** Their links carry codes of their own. */
function postedFacts(cabinetUrl: string): {
  [K in Posted]: account.EmailFacts[K]
} {
  const link = (page: string) => `${cabinetUrl}/${page}#code=made-up-for-the-sample-1234567890`
  return {
    'confirm-email': { link: link('confirm'), hours: 24 },
    invitation: { link: link('invitation'), hours: 168 },
    'already-registered': {
      signInLink: `${cabinetUrl}/sign-in`,
      resetLink: `${cabinetUrl}/forgot`,
    },
    'reset-password': { link: link('reset'), minutes: 60 },
    'confirm-new-email': { link: link('email'), minutes: 60 },
    'email-change-undo': { ...address, link: link('undo-email'), untilMs: atMs },
  }
}

/** Every e-mail to owners in a language. */
export function sampleEmails(
  language: Language,
  p: { readonly brand: EmailBrand; readonly email: string; readonly order: string },
): SampleEmail[] {
  const { brand } = p
  const to = { email: p.email, locale: language }
  const order = { ...to, id: p.order as OrderId, ...bought }
  const contents = [
    ...Object.entries(topUpFacts).map(([kind, facts]) => ({ kind, facts }) as TopUpEmailInput),
    { kind: 'top-up-ceiling', facts: { ...topUpFacts['top-up-ceiling'], period: 'day' } } as const,
    ...emailedEndReasons.map((why) => ({ kind: 'top-up-stopped', facts: { why } }) as const),
  ]
  const accounts = [
    ...Object.entries(postedFacts(brand.cabinetUrl)).map(([kind, facts]) => ({ kind, facts })),
    ...Object.entries(accountFacts).map(([kind, facts]) => ({ kind, facts })),
    ...recoveryEmails(brand.cabinetUrl),
    { kind: 'account-closing', facts: { atMs, unspent: 'forfeit', begunBy: 'operator' } },
  ] as account.AccountEmail[]
  const guards = Object.entries(guardFacts).map(([kind, facts]) => ({ kind, facts }))
  return [
    ...accounts.map((one) => ({
      ...composeAccountEmail(one, language, brand, ZONE),
      kind: one.kind,
    })),
    ...guards.map((one) => ({
      ...composeGuardEmail(one as guard.GuardEmail, language, brand, { zone: ZONE, pack }),
      kind: one.kind,
    })),
    ...orderEmailKinds.map((kind) => orderEmail(kind, order, brand, 'once')),
    orderEmail('payment-refunded', order, brand, 'once', { debt: credits(1_200_000) }),
    ...contents.map((content) => topUpEmail(content, { ...to, zone: ZONE }, brand, 'once')),
    {
      ...composeSummaryEmail(summaryFacts, { language, zone: ZONE, brand, code: 'acc_made.up' }),
      kind: SUMMARY_KIND,
    },
  ]
}

/** Every e-mail to operators, which are in English. */
export function sampleOperatorEmails(brand: EmailBrand): SampleEmail[] {
  return [
    ...operatorEmails.map((email) => ({
      ...composeOperatorEmail(email, brand),
      kind: email.kind,
    })),
    { ...composeEmail(TEST_EMAIL, { brand, language: 'en', reason: 'address' }), kind: 'test' },
  ]
}
