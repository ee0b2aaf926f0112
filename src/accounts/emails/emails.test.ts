// Every e-mail in both languages: what it must contain, and what must not get into it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccountEmail, EmailFacts, EmailKind, RecoveryKind } from './email-kinds.ts'
import { type Brand, composeAccountEmail } from './emails.ts'
import { english } from './templates-en.ts'

type Closing = EmailFacts['account-closing']

const brand: Brand = {
  name: 'Gate & Sons',
  supportEmail: 'help@example.org',
  cabinetUrl: 'https://cabinet.example.org',
}
const link = `${brand.cabinetUrl}/page#code=abc-123`
const atMs = Date.UTC(2026, 10, 14, 9, 5)
const untilMs = Date.UTC(2026, 10, 21, 9, 5)
const eraseAtMs = Date.UTC(2029, 10, 14)
const event = { atMs, address: '203.0.113.7', device: 'Firefox, Windows' }
const ofJob = { atMs, address: '', device: '' }
const change = { ...event, oldEmail: 'old@example.org', newEmail: 'new@example.org' }
const key = { ...event, last4: 'wXyZ' }
const named = { ...event, name: 'Phone <b>' }
const passkeys = [named, { ...event, name: '' }]

/** The members of a union of texts; it does not compile without all of them. */
const each = <Member extends string>(members: Readonly<Record<Member, true>>) =>
  Object.keys(members) as Member[]
const losses = each<RecoveryKind>({ authenticator: true, mailbox: true, both: true })
const unspents = each<Closing['unspent']>({ refund: true, forfeit: true })
const beginners = each<Closing['begunBy']>({ owner: true, operator: true })

const recoveries = losses.flatMap((lost) =>
  [event, ofJob].map((when) => ({
    ...{ ...when, lost, link, untilMs },
    newEmail: lost === 'authenticator' ? null : change.newEmail,
  })),
)

/** What templates choose their texts by, in every combination. */
const variants: { readonly [K in EmailKind]: readonly EmailFacts[K][] } = {
  'confirm-email': [{ link, hours: 24 }],
  invitation: [{ link, hours: 168 }],
  'already-registered': [
    { signInLink: `${brand.cabinetUrl}/sign-in`, resetLink: `${brand.cabinetUrl}/forgot` },
  ],
  'reset-password': [{ link, minutes: 60 }],
  'password-guessed': [event, ofJob].map((when) => ({ ...when, minutes: 15 })),
  'new-device': [event, ofJob],
  'password-changed': [event],
  'email-change-asked': [change],
  'confirm-new-email': [{ link, minutes: 60 }],
  'email-changed': [change],
  'email-change-undo': [change, { ...change, ...ofJob }].map((one) => ({ ...one, link, untilMs })),
  'email-change-undone': [change, { ...change, ...ofJob }],
  'email-reserved': [{ untilMs }],
  'second-factor-on': [event],
  'second-factor-off': [event],
  'recovery-code-used': [event],
  'recovery-link': [{ link, minutes: 60 }],
  'recovery-confirm': losses.map((lost) => ({ link, lost, hours: 24, waitHours: 72 })),
  'recovery-opened': recoveries,
  'recovery-reminder': recoveries,
  'recovery-ready': losses.map((lost) => ({ link, lost, untilMs })),
  'recovery-done': recoveries,
  'recovery-stopped': losses.map((lost) => ({ ...event, lost })),
  'passkey-added': passkeys,
  'passkey-removed': passkeys,
  'key-created': [key],
  'key-reissued': [key],
  'key-revoked': [key],
  'account-closing': unspents.flatMap((unspent) =>
    beginners.map((begunBy) => ({ atMs, unspent, begunBy })),
  ),
  'account-closing-stopped': [{}],
  'account-closed': unspents.map((unspent) => ({ atMs, unspent, eraseAtMs })),
}
const emails = Object.entries(variants).flatMap(([kind, list]) =>
  list.map((facts) => ({ kind, facts }) as AccountEmail),
)

test('every variant of an e-mail has a subject, a text and HTML in both languages', () => {
  assert.deepEqual(Object.keys(variants).sort(), Object.keys(english.templates).sort())
  for (const email of emails) {
    const [ru, en] = [
      composeAccountEmail(email, 'ru', brand),
      composeAccountEmail(email, 'en', brand),
    ]
    const which = `${email.kind} ${JSON.stringify(email.facts)}`
    assert.match(ru.subject, /[а-я]{3}/i, which)
    assert.doesNotMatch(en.subject + en.text, /[а-я]/i, which)
    for (const { subject, text, html } of [ru, en]) {
      assert.ok(subject.length > 5 && subject.length <= 78, `${which}: ${subject}`)
      assert.match(subject, /Gate & Sons/, which)
      assert.match(text, /help@example\.org/, which)
      assert.doesNotMatch(text + html, /undefined|null|NaN|\[object/, which)
      assert.match(html, /^<!doctype html><html lang="(?:ru|en)">/)
    }
  }
})

test('no two kinds of e-mails have one subject: mail programs would show them as one', () => {
  for (const language of ['ru', 'en'] as const) {
    const kinds = new Map<string, string>()
    for (const email of emails) {
      const { subject } = composeAccountEmail(email, language, brand)
      assert.equal(kinds.get(subject) ?? email.kind, email.kind, subject)
      kinds.set(subject, email.kind)
    }
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
  const email: AccountEmail = { kind: 'passkey-added', facts: named }
  assert.ok(!composeAccountEmail(email, 'en', brand).html.includes('<b>'))
  const broken = { ...brand, name: 'Gate\r\nBcc: all@example.org' }
  assert.doesNotMatch(composeAccountEmail(email, 'en', broken).subject, /[\r\n]/)
})

test('an event e-mail says when, from where, and what to do if it was not the owner', () => {
  const { text } = composeAccountEmail({ kind: 'new-device', facts: event }, 'ru', brand)
  assert.match(text, /14 ноября 2026/)
  assert.match(text, /09:05 UTC/)
  assert.match(text, /Браузер: Firefox, Windows\nIP-адрес: 203\.0\.113\.7/)
  assert.match(text, /https:\/\/cabinet\.example\.org\/security/)
})
