// Every letter of guards in both languages: what it must say, and what it must not let through.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credits, micro } from '../units/credits.ts'
import { kopecks } from '../units/kopecks.ts'
import type { GuardEmail } from './email-kinds.ts'
import { composeGuardEmail } from './emails.ts'
import { english } from './templates-en.ts'

const brand = {
  name: 'Gate & Sons',
  supportEmail: 'help@example.org',
  cabinetUrl: 'https://cabinet.example.org',
}
const facts = {
  balance: credits(1_234_567),
  daysLeft: 2,
  dayLimit: credits(5_000_000),
  needed: micro(1_291_000_001n),
  left: micro(868_999_999n),
  resetsAtMs: Date.UTC(2026, 10, 15),
  limit: credits(1_000_000),
  minutes: 10,
  velocity: { limit: credits(1_000_000), minutes: 10 },
  atMs: Date.UTC(2026, 10, 14, 9, 5),
  address: '203.0.113.7',
}
// One set of facts is enough for all of them: each takes what it needs.
const emails = Object.keys(english.templates).map(
  (kind) => ({ kind, facts }) as unknown as GuardEmail,
)

test('every letter says its reason in both languages, and leads to our own pages', () => {
  assert.equal(emails.length, 5)
  for (const email of emails) {
    const [ru, en] = [composeGuardEmail(email, 'ru', brand), composeGuardEmail(email, 'en', brand)]
    assert.match(ru.subject, /[а-я]{3}/i, email.kind)
    assert.doesNotMatch(en.subject + en.text, /[а-я]/i, email.kind)
    for (const { subject, text, html } of [ru, en]) {
      assert.ok(subject.length > 5 && subject.length <= 78, `${email.kind}: ${subject}`)
      assert.match(text, /help@example\.org/, email.kind)
      assert.doesNotMatch(text + html, /undefined|null|NaN|\[object/, email.kind)
      const links = [...text.matchAll(/https?:\/\/[^\s]+/g)].map(([link]) => link)
      assert.ok(links.length > 0, email.kind)
      for (const link of links) {
        assert.match(link, /^https:\/\/cabinet\.example\.org\/(?:limits|packs|key|security)$/)
      }
    }
  }
})

test('the letter about the daily limit says what the request could cost and what was left', () => {
  const email: GuardEmail = { kind: 'day-limit-reached', facts }
  const [ru, en] = [composeGuardEmail(email, 'ru', brand), composeGuardEmail(email, 'en', brand)]
  assert.match(en.text, /could cost 1,292 credits\. You had 868 credits left of your daily limit/)
  assert.match(ru.text, /мог стоить 1\s292\sкредита, а от дневного лимита оставалось 868\sкредитов/)
  const older = { ...facts, needed: null, left: null }
  for (const language of ['ru', 'en'] as const) {
    const { text } = composeGuardEmail({ ...email, facts: older }, language, brand)
    assert.doesNotMatch(text, /null|NaN/)
    assert.match(text, /5[\s,]000[\s,]000/)
  }
})

test('times are in the zone of the owner, or in UTC when it is none', () => {
  const email: GuardEmail = { kind: 'day-limit-reached', facts }
  const [here, nowhere] = ['Asia/Vladivostok', 'Mars/Olympus'].map(
    (zone) => composeGuardEmail(email, 'ru', brand, { zone }).text,
  )
  assert.match(here ?? '', /15 ноября 2026.* 10:00 UTC\+10\. Поднять его можно/)
  assert.match(nowhere ?? '', /15 ноября 2026.* 00:00 UTC, это 03:00 по Москве\. Поднять его можно/)
  assert.match(
    composeGuardEmail(email, 'en', brand, { zone: 'America/New_York' }).text,
    /14 November.*19:00 UTC-5/,
  )
})

test('no letter calls the day of a limit today: it is a UTC day, not that of the owner', () => {
  for (const language of ['ru', 'en'] as const) {
    for (const email of emails) {
      const { text } = composeGuardEmail(email, language, brand)
      assert.doesNotMatch(text, /today|сегодня/i, email.kind)
    }
  }
})

test('letters show credits in roubles at the price of the last pack, if there is one', () => {
  const pack = { credits: credits(35_000_000), priceKopecks: kopecks(130_000) }
  const text = (kind: string, language: 'ru' | 'en', price?: typeof pack) =>
    composeGuardEmail({ kind, facts } as unknown as GuardEmail, language, brand, {
      pack: price,
    }).text.replaceAll('\u00a0', ' ')
  assert.match(
    text('low-balance', 'en', pack),
    /You have 1,234,567 credits \(about RUB 45\.86\) left\./,
  )
  assert.match(text('low-balance', 'ru', pack), /осталось 1 234 567 кредитов \(около 45,86 ₽\)\./)
  assert.match(text('day-limit-reached', 'en', pack), /5,000,000 credits \(about RUB 185\.72\)/)
  assert.match(text('velocity-stopped', 'ru', pack), /1 000 000 кредитов \(около 37,15 ₽\) за 10/)
  assert.match(text('limits-loosened', 'ru', pack), /5 000 000 кредитов \(около 185,72 ₽\)/)
  assert.match(text('low-balance', 'en'), /You have 1,234,567 credits left\./)
})

test('a stop names the speed and the page where one click lifts it', () => {
  const email: GuardEmail = { kind: 'velocity-stopped', facts }
  const { text } = composeGuardEmail(email, 'ru', brand)
  assert.match(text.replaceAll('\u00a0', ' '), /1 000 000 кредитов за 10 мин/)
  assert.match(text, /cabinet\.example\.org\/limits/)
})

test('how long credits last has its right form', () => {
  const said = (daysLeft: number | null) =>
    composeGuardEmail({ kind: 'low-balance', facts: { ...facts, daysLeft } }, 'ru', brand).text
  assert.match(said(0), /меньше чем на день/)
  assert.match(said(1), /на 1 день/)
  assert.match(said(3), /на 3 дня/)
  assert.match(said(11), /на 11 дней/)
  assert.doesNotMatch(said(null), /хватит/)
})
