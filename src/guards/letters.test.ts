// Every letter of guards in both languages: what it must say, and what it must not let through.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credits } from '../units/credits.ts'
import { compose } from './letters.ts'
import type { Notice } from './notice.ts'
import { english } from './words-en.ts'

const brand = {
  name: 'Gate & Sons',
  supportEmail: 'help@example.org',
  cabinetUrl: 'https://cabinet.example.org',
}
const facts = {
  balance: credits(1_234_567),
  daysLeft: 2,
  dayLimit: credits(5_000_000),
  nextDayMs: Date.UTC(2026, 10, 15),
  limit: credits(1_000_000),
  minutes: 10,
  velocity: { limit: credits(1_000_000), minutes: 10 },
  atMs: Date.UTC(2026, 10, 14, 9, 5),
  address: '203.0.113.7',
}
// One set of facts is enough for all of them: each takes what it needs.
const notices = Object.keys(english.letters).map((kind) => ({ kind, facts }) as unknown as Notice)

test('every letter says its reason in both languages, and leads to our own pages', () => {
  assert.equal(notices.length, 5)
  for (const notice of notices) {
    const [ru, en] = [compose(notice, 'ru', brand), compose(notice, 'en', brand)]
    assert.match(ru.subject, /[а-я]{3}/i, notice.kind)
    assert.doesNotMatch(en.subject + en.text, /[а-я]/i, notice.kind)
    for (const { subject, text, html } of [ru, en]) {
      assert.ok(subject.length > 5 && subject.length <= 78, `${notice.kind}: ${subject}`)
      assert.match(text, /help@example\.org/, notice.kind)
      assert.doesNotMatch(text + html, /undefined|null|NaN|\[object/, notice.kind)
      const links = [...text.matchAll(/https?:\/\/[^\s]+/g)].map(([link]) => link)
      assert.ok(links.length > 0, notice.kind)
      for (const link of links) {
        assert.match(link, /^https:\/\/cabinet\.example\.org\/(?:limits|packs|key|security)$/)
      }
    }
  }
})

test('times are in the zone of the owner, or in UTC when it is none', () => {
  const notice: Notice = { kind: 'day-limit-reached', facts }
  const [here, nowhere] = ['Asia/Vladivostok', 'Mars/Olympus'].map(
    (zone) => compose(notice, 'ru', brand, zone).text,
  )
  assert.match(here ?? '', /15 ноября 2026.* 10:00 UTC\+10\. Ждать/)
  assert.match(nowhere ?? '', /15 ноября 2026.* 00:00 UTC, это 03:00 по Москве\. Ждать/)
  assert.match(compose(notice, 'en', brand, 'America/New_York').text, /14 November.*19:00 UTC-5/)
})

test('a stop names the speed and the page where one click lifts it', () => {
  const notice: Notice = { kind: 'velocity-stopped', facts }
  const { text } = compose(notice, 'ru', brand)
  assert.match(text.replaceAll('\u00a0', ' '), /1 000 000 кредитов за 10 мин/)
  assert.match(text, /cabinet\.example\.org\/limits/)
})

test('how long credits last has its right form', () => {
  const said = (daysLeft: number | null) =>
    compose({ kind: 'low-balance', facts: { ...facts, daysLeft } }, 'ru', brand).text
  assert.match(said(0), /меньше чем на день/)
  assert.match(said(1), /на 1 день/)
  assert.match(said(3), /на 3 дня/)
  assert.match(said(11), /на 11 дней/)
  assert.doesNotMatch(said(null), /хватит/)
})
