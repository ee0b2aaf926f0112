// Every e-mail in both languages: what it must contain, and what must not get into it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccountEmail } from './email-kinds.ts'
import { type Brand, composeAccountEmail } from './emails.ts'
import { english } from './templates-en.ts'

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
  waitHours: 72,
  lost: 'mailbox',
  minutes: 60,
  last4: 'wXyZ',
  name: 'Phone <b>',
  oldEmail: 'old@example.org',
  newEmail: 'new@example.org',
  unspent: 'refund',
  eraseAtMs: Date.UTC(2029, 10, 14),
  untilMs: Date.UTC(2026, 10, 21, 9, 5),
  signInLink: `${brand.cabinetUrl}/sign-in`,
  resetLink: `${brand.cabinetUrl}/forgot`,
  link,
}
// One set of facts serves all kinds: each template takes what it needs.
const emails = Object.keys(english.templates).map(
  (kind) => ({ kind, facts }) as unknown as AccountEmail,
)

test('every e-mail has a subject, a text and an HTML part in both languages', () => {
  assert.equal(emails.length, 31)
  for (const email of emails) {
    const [ru, en] = [
      composeAccountEmail(email, 'ru', brand),
      composeAccountEmail(email, 'en', brand),
    ]
    assert.match(ru.subject, /[а-я]{3}/i, email.kind)
    assert.doesNotMatch(en.subject + en.text, /[а-я]/i, email.kind)
    for (const { subject, text, html } of [ru, en]) {
      assert.ok(subject.length > 5 && subject.length <= 78, `${email.kind}: ${subject}`)
      assert.match(subject, /Gate & Sons/, email.kind)
      assert.match(text, /help@example\.org/, email.kind)
      assert.doesNotMatch(text + html, /undefined|null|NaN|\[object/, email.kind)
      assert.match(html, /^<!doctype html><html lang="(?:ru|en)">/)
    }
  }
})

test('no two kinds of e-mails have one subject: mail programs would show them as one', () => {
  for (const language of ['ru', 'en'] as const) {
    const subjects = emails.map((email) => composeAccountEmail(email, language, brand).subject)
    assert.equal(new Set(subjects).size, subjects.length, subjects.sort().join('\n'))
  }
})

test('the HTML part contains the whole text and loads no remote content', () => {
  for (const email of emails) {
    for (const language of ['ru', 'en'] as const) {
      const { text, html } = composeAccountEmail(email, language, brand)
      const shown = html
        .replace(/<title>.*?<\/title>|<style>.*?<\/style>|<!--.*?-->/gs, '')
        .replace(/<[^>]*>/g, ' ')
        .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
        .replaceAll('\u00a0', ' ')
      for (const piece of text.replace('-- \n', '').split(/:?\n+|: |(?=https:)/)) {
        assert.ok(shown.includes(piece.trim().replaceAll('\u00a0', ' ')), piece)
      }
      assert.doesNotMatch(html, /<(?:img|script|link|iframe)|url\(/i)
    }
  }
})

test('names that people choose cannot inject HTML or a header', () => {
  const email: AccountEmail = { kind: 'passkey-added', facts }
  assert.ok(!composeAccountEmail(email, 'en', brand).html.includes('<b>'))
  const broken = { ...brand, name: 'Gate\r\nBcc: all@example.org' }
  assert.doesNotMatch(composeAccountEmail(email, 'en', broken).subject, /[\r\n]/)
})

test('an event e-mail says when, from where, and what to do if it was not the owner', () => {
  const { text } = composeAccountEmail({ kind: 'new-device', facts }, 'ru', brand)
  assert.match(text, /14 ноября 2026/)
  assert.match(text, /09:05 UTC/)
  assert.match(text, /Браузер: Firefox, Windows\nIP-адрес: 203\.0\.113\.7/)
  assert.match(text, /https:\/\/cabinet\.example\.org\/security/)
})
