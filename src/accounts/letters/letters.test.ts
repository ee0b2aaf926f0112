// Every letter in both languages: what it must say, and what it must not let through.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Brand, compose } from './letters.ts'
import type { Notice } from './notice.ts'
import { english } from './words-en.ts'

const brand: Brand = {
  name: 'Gate & Sons',
  supportEmail: 'help@example.org',
  cabinetUrl: 'https://cabinet.example.org',
}
const link = `${brand.cabinetUrl}/page#code=abc-123`
const facts = {
  atMs: Date.UTC(2026, 10, 14, 9, 5),
  address: '203.0.113.7',
  device: 'Firefox, Windows',
  hours: 24,
  minutes: 60,
  last4: 'wXyZ',
  name: 'Phone <b>',
  oldEmail: 'old@example.org',
  newEmail: 'new@example.org',
  unspent: 'refund',
  eraseAtMs: Date.UTC(2029, 10, 14),
  signInLink: `${brand.cabinetUrl}/sign-in`,
  resetLink: `${brand.cabinetUrl}/forgot`,
  link,
}
// One set of facts is enough for all of them: each takes what it needs.
const notices = Object.keys(english.letters).map((kind) => ({ kind, facts }) as unknown as Notice)

test('every notice has a subject, a text and a page in both languages', () => {
  assert.equal(notices.length, 18)
  for (const notice of notices) {
    const [ru, en] = [compose(notice, 'ru', brand), compose(notice, 'en', brand)]
    assert.match(ru.subject, /[а-я]{3}/i, notice.kind)
    assert.doesNotMatch(en.subject + en.text, /[а-я]/i, notice.kind)
    for (const { subject, text, html } of [ru, en]) {
      assert.ok(subject.length > 5 && subject.length <= 78, `${notice.kind}: ${subject}`)
      assert.match(subject, /Gate & Sons/, notice.kind)
      assert.match(text, /help@example\.org/, notice.kind)
      assert.doesNotMatch(text + html, /undefined|null|NaN|\[object/, notice.kind)
      assert.match(html, /^<!doctype html><html lang="(?:ru|en)">/)
    }
  }
})

test('the page says what the text says, and loads nothing', () => {
  for (const notice of notices) {
    for (const language of ['ru', 'en'] as const) {
      const { text, html } = compose(notice, language, brand)
      const shown = html
        .replace(/<title>.*?<\/title>/s, '')
        .replace(/<[^>]*>/g, ' ')
        .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
      for (const line of text.split('\n\n').map((one) => one.replace(/^-- \n/, '').trim())) {
        for (const piece of line.split(':\n')) assert.ok(shown.includes(piece), piece)
      }
      assert.doesNotMatch(html, /<(?:img|script|link|iframe)|url\(/i)
    }
  }
})

test('what people write cannot become a tag, nor another header', () => {
  const notice: Notice = { kind: 'passkey-added', facts }
  assert.ok(!compose(notice, 'en', brand).html.includes('<b>'))
  const broken = { ...brand, name: 'Gate\r\nBcc: all@example.org' }
  assert.doesNotMatch(compose(notice, 'en', broken).subject, /[\r\n]/)
})

test('a letter about a deed says when, from where, and what to do if it was not the owner', () => {
  const { text } = compose({ kind: 'new-device', facts }, 'ru', brand)
  assert.match(text, /14 ноября 2026/)
  assert.match(text, /09:05 UTC/)
  assert.match(text, /Firefox, Windows, 203\.0\.113\.7/)
  assert.match(text, /https:\/\/cabinet\.example\.org\/security/)
})
