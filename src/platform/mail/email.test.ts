// The layout of e-mails: what mail programs need besides the sentences.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { composeEmail } from './email.ts'

const brand = {
  name: 'Gate & Sons',
  supportEmail: 'help@example.org',
  cabinetUrl: 'https://cabinet.example.org',
}
const link = `${brand.cabinetUrl}/packs`
const content = {
  subject: 'Оплата — получена',
  lines: ['Мы зачислили 35 кредитов в 09:05 UTC — это не ошибка.', 'Вторая строка.'],
  facts: [
    ['Номер', 'order_1'],
    ['Браузер', ''],
  ],
  button: { label: 'Открыть', link },
  more: [`Если вы забыли пароль, задайте новый: ${link}/new?a=1&b=2.`],
} as const
const composed = composeEmail(content, { brand, language: 'ru' })

test('lists of e-mails preview the first sentence, not the subject again', () => {
  const preview = /<body[^>]*>\s*<div style="display:none[^"]*">([^&]*)/.exec(composed.html)?.[1]
  assert.equal(preview?.replaceAll('\u00a0', ' '), content.lines[0])
})

test('every address in the HTML is a link, in the colour of its text', () => {
  const links = [...composed.html.matchAll(/<a [^>]*href="([^"]*)" style="([^"]*)"/g)]
  assert.deepEqual(
    links.map(([, href]) => href),
    [link, link, `${link}/new?a=1&#38;b=2`, `mailto:${brand.supportEmail}`],
  )
  for (const [, , style = ''] of links.slice(1)) assert.match(style, /color:inherit/)
  assert.ok(composed.text.includes(`${link}/new?a=1&b=2.`))
})

test('no line breaks between a number and its word, before a dash or after a short word', () => {
  for (const bound of ['35\u00a0кредитов', '09:05\u00a0UTC\u00a0—', 'в\u00a0', 'не\u00a0ошибка']) {
    assert.ok(composed.html.includes(bound), bound)
  }
  assert.doesNotMatch(composed.subject + composed.text, /\u00a0/)
})

test('lines are as high in webmail that drops the doctype', () => {
  for (const part of ['<td class="sheet"', '<table [^>]*width="100%" style="[^"]*margin:4px']) {
    assert.match(composed.html, new RegExp(`${part}[^>]*line-height:1.55`))
  }
})

test('a fact without a value is left out', () => {
  assert.doesNotMatch(composed.text + composed.html, /Браузер/)
})

test('Outlook gets a width and a button that it can draw; nothing runs or is loaded', () => {
  const { html } = composed
  assert.match(html, /<!--\[if mso\]><table [^>]*width="600">/)
  assert.match(html, /<td class="button" bgcolor="#[0-9a-f]{6}"/)
  assert.match(html, /<meta name="color-scheme" content="light dark">/)
  assert.doesNotMatch(html, /<(?:script|img|link|iframe)|url\(/)
  // Gmail cuts an e-mail off at 102 KB.
  assert.ok(Buffer.byteLength(html) < 20_000)
})

test('the footer says who sends it and why it comes, once for each reason', () => {
  const footers = (['account', 'address', 'choice', 'operator'] as const).map((reason) => {
    const { text } = composeEmail(content, { brand, language: 'en', reason })
    return text.slice(text.indexOf('-- \n') + 4)
  })
  assert.equal(new Set(footers).size, 4)
  for (const footer of footers) assert.match(footer, /^Gate & Sons\. /)
  assert.match(footers[0] ?? '', /cannot unsubscribe/)
  assert.match(footers[2] ?? '', /you can turn it off/)
  assert.doesNotMatch(footers[3] ?? '', /help@example\.org/)
})
