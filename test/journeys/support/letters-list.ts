// Every letter of the product in one language, for one owner and one order of theirs. Letters whose
// links are made by who posts them come from the outbox, after the deed that posts them; the others
// from their own function, with facts of every kind. A kind without facts does not compile, and one
// that is not written here is found by comparing with `kinds`.
import { compose as composeAccount } from '../../../src/accounts/letters/letters.ts'
import type * as account from '../../../src/accounts/letters/notice.ts'
import { english as accountWords } from '../../../src/accounts/letters/words-en.ts'
import { compose as composeGuard } from '../../../src/guards/letters.ts'
import type * as guard from '../../../src/guards/notice.ts'
import { english as guardWords } from '../../../src/guards/words-en.ts'
import { letterKinds, letterOf } from '../../../src/payments/order/letters.ts'
import {
  stopsTold,
  type TopUpFacts,
  type TopUpNotice,
  topUpKinds,
  topUpLetter,
} from '../../../src/payments/top-ups/letters.ts'
import type { OrderId } from '../../../src/platform/ids.ts'
import { credits } from '../../../src/units/credits.ts'
import { kopecks } from '../../../src/units/kopecks.ts'
import { PASSWORD } from '../../stages/accounts.ts'
import type { CabinetStage, Person } from '../../stages/cabinet.ts'
import { pack } from '../../stages/payments.ts'

export type Language = 'ru' | 'en'
export type Written = { readonly kind: string; readonly text: string; readonly html: string }

/** Where letters are composed or posted; a file that is not here writes letters nobody follows. */
export const writers = [
  'src/accounts/letters/letters.ts',
  'src/guards/guards.ts',
  'src/guards/letters.ts',
  'src/payments/order/letters.ts',
  'src/payments/purchase/apply.ts',
  'src/payments/purchase/review-opening.ts',
  'src/payments/refunds/apply.ts',
  'src/payments/refunds/disputes.ts',
  'src/payments/top-ups/endings.ts',
  'src/payments/top-ups/letters.ts',
  'src/payments/top-ups/top-ups.ts',
  'src/platform/mail/letter.ts',
]

/** All that the tables of sentences have. */
export const kinds: readonly string[] = [
  ...Object.keys(accountWords.letters),
  ...Object.keys(guardWords.letters),
  ...letterKinds,
  ...topUpKinds,
]

/** Their links carry codes, or are named where the letter is posted. */
type Posted = 'confirm-email' | 'already-registered' | 'reset-password' | 'confirm-new-email'
/** For people who are not signed in, or cannot. */
const forGuests: readonly string[] = [
  'confirm-email',
  'already-registered',
  'reset-password',
] satisfies Posted[]

export const isForGuests = ({ kind }: Written): boolean => forGuests.includes(kind)

const atMs = Date.UTC(2026, 10, 14, 9, 5)
const deed = { atMs, address: '203.0.113.7', device: 'Firefox, Windows' }
const address = { ...deed, oldEmail: 'old@example.org', newEmail: 'new@example.org' }
const named = { ...deed, name: 'Phone' }
const key = { ...deed, last4: 'wXyZ' }

const accountFacts: { [K in Exclude<account.Kind, Posted>]: account.Facts[K] } = {
  'password-guessed': { ...deed, minutes: 15 },
  'new-device': deed,
  'password-changed': deed,
  'email-change-asked': address,
  'email-changed': address,
  'second-factor-on': deed,
  'second-factor-off': deed,
  'recovery-code-used': deed,
  'passkey-added': named,
  'passkey-removed': named,
  'key-created': key,
  'key-reissued': key,
  'key-revoked': key,
  'account-closed': { atMs, unspent: 'refund', eraseAtMs: Date.UTC(2029, 10, 14) },
}

const velocity = { limit: credits(1_000_000), minutes: 10 }
const guardFacts: guard.Facts = {
  'low-balance': { balance: credits(1_234_567), daysLeft: 2 },
  'balance-empty': { balance: credits(0) },
  'day-limit-reached': { dayLimit: credits(5_000_000), nextDayMs: Date.UTC(2026, 10, 15) },
  'velocity-stopped': velocity,
  'limits-loosened': { dayLimit: null, velocity, atMs, address: '203.0.113.7' },
}

const { priceKopecks: price } = pack
const bought = { price, credits: pack.credits }
const ceiling = kopecks(3n * price)
const topUpFacts: Omit<TopUpFacts, 'top-up-stopped'> = {
  'top-up-on': { ...bought, threshold: credits(1_000_000), ceiling, title: '•••• 4444' },
  'top-up-credited': bought,
  'top-up-declined': { price },
  'top-up-unresolved': { price },
  'top-up-ceiling': { ceiling, spent: ceiling },
}

export async function lettersOf(
  stage: CabinetStage,
  p: { readonly language: Language; readonly owner: Person; readonly order: string },
): Promise<Written[]> {
  const { language } = p
  const to = { email: p.owner.email, locale: language }
  const order = { ...to, id: p.order as OrderId, packTitle: pack.title, ...bought }
  const notices = [
    ...Object.entries(topUpFacts).map(([kind, facts]) => ({ kind, facts }) as TopUpNotice),
    ...stopsTold.map((why) => ({ kind: 'top-up-stopped', facts: { why } }) as const),
  ]
  const composed = {
    account: Object.entries(accountFacts).map(([kind, facts]) => ({ kind, facts })),
    guard: Object.entries(guardFacts).map(([kind, facts]) => ({ kind, facts })),
  }
  return [
    ...(await postedTo(stage, p.owner, language)),
    ...composed.account.map((notice) => ({
      ...composeAccount(notice as account.Notice, language, stage.brand),
      kind: notice.kind,
    })),
    ...composed.guard.map((notice) => ({
      ...composeGuard(notice as guard.Notice, language, stage.brand),
      kind: notice.kind,
    })),
    ...letterKinds.map((kind) => letterOf(kind, order, stage.brand, 'once')),
    ...notices.map((notice) => topUpLetter(notice, to, stage.brand, 'once')),
  ]
}

/** Does what posts the letters with links of their own, and reads them from the outbox. */
async function postedTo(
  { db, documents, visitor }: CabinetStage,
  owner: Person,
  language: Language,
): Promise<Written[]> {
  const newEmail = `new-${owner.email}`
  const consents = documents.list().filter((one) => one.isRequired)
  const again = { email: owner.email, password: PASSWORD, language, consents }
  await visitor().must('POST /api/auth/register', again)
  await visitor().must('POST /api/auth/request-password-reset', { email: owner.email })
  await owner.must('POST /api/auth/email/change', { newEmail, password: PASSWORD })
  const wanted: readonly Posted[] = [
    ...(['confirm-email', 'already-registered', 'reset-password', 'confirm-new-email'] as const),
  ]
  const { rows } = await db.query(
    `select distinct on (kind) kind, body_text as text, body_html as html from letters
     where recipient = any($1) and kind = any($2) order by kind, posted_at desc`,
    [[owner.email, newEmail], wanted],
  )
  return rows as Written[]
}
