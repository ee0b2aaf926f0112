// The page for people: e-mails at the left, the opened one at the right; on a phone one below the
// other. An e-mail's HTML is not trusted: a frame without scripts, forms or network access shows
// it, and its links open in a new tab.
import { randomBytes } from 'node:crypto'
import { type Letter, LINK } from './letters.ts'
import type { Sample } from './samples.ts'
import { style } from './style.ts'

/** A content security policy under which only our own script runs. */
export function pagePolicy(): { readonly nonce: string; readonly policy: string } {
  const nonce = randomBytes(12).toString('base64')
  const parts = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ]
  return { nonce, policy: parts.join('; ') }
}

/** An e-mail's HTML for the frame, and its content security policy. */
export function framedHtml(html: string): { readonly html: string; readonly policy: string } {
  const sandbox = 'sandbox allow-popups allow-popups-to-escape-sandbox'
  const policy = `${sandbox}; default-src 'none'; style-src 'unsafe-inline'; img-src data:`
  // Behind the doctype: without one, browsers lay tables out as they did long ago.
  const [doctype = ''] = /^\s*<!doctype[^>]*>/i.exec(html) ?? []
  return { html: `${doctype}<base target="_blank">${html.slice(doctype.length)}`, policy }
}

export function mailboxPage(p: {
  readonly letters: readonly Letter[]
  readonly opened?: Letter
  readonly lastId: number
  readonly nonce: string
  /** How many sample e-mails there are to look at. */
  readonly samples: number
}): string {
  // A wide screen shows the newest e-mail when none was chosen; a phone shows the list.
  const shown = p.opened ?? p.letters[0]
  const title = p.opened === undefined ? `Mailbox (${p.letters.length})` : p.opened.subject
  const samples = p.samples === 0 ? '' : '<a class="samples" href="/samples">Samples</a>'
  return page({
    title,
    name: p.opened === undefined ? 'at-list' : 'at-letter',
    header: `<span class="count">${counted(p.letters.length)}</span>
  <a class="news" href="/" hidden>A new e-mail arrived</a>
  ${samples}
  <button type="button" id="clear"${p.letters.length === 0 ? ' disabled' : ''}>Delete all</button>`,
    list: listOf(p.letters, shown),
    article: shown === undefined ? '' : letterOf(shown),
    script: `<script nonce="${p.nonce}">${script(p.lastId, p.opened === undefined)}</script>`,
  })
}

/** Every sample at the left, and the chosen one as mail programs in both themes show it. */
export function samplesPage(samples: readonly Sample[], index: number, isList: boolean): string {
  const shown = samples[index]
  const items = samples.map(
    ({ subject, kind, language }, i) =>
      `<li><a href="/samples/${i}"${i === index ? ' aria-current="page"' : ''}>
      <span class="row"><b lang="${escaped(language)}">${escaped(subject)}</b></span>
      <span class="row"><span class="kind">${escaped(kind)}</span>
        <span class="to">${escaped(language)}</span></span>
    </a></li>`,
  )
  return page({
    title: shown === undefined || isList ? `Samples (${samples.length})` : shown.subject,
    name: isList ? 'at-list' : 'at-letter',
    header: `<span class="count">${samples.length} samples</span>
  <a class="samples" href="/">Received e-mails</a>`,
    list: `<ul>${items.join('\n')}</ul>`,
    article: shown === undefined ? '' : sampleOf(shown, index),
    script: '',
  })
}

function sampleOf({ subject, kind, language, text, html }: Sample, index: number): string {
  const frame = (theme: string) => `<figure><figcaption>${theme}</figcaption>
    <iframe class="${theme.toLowerCase()}" title="The e-mail in a ${theme.toLowerCase()} theme"
      src="/samples/${index}/${theme.toLowerCase()}"
      sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe></figure>`
  return `<a class="back" href="/samples">All samples</a>
    <h1 lang="${escaped(language)}">${escaped(subject)}</h1>
    <p class="source"><span class="kind">${escaped(kind)}</span>
      ${Buffer.byteLength(html)} bytes of HTML</p>
    <div class="themes">${frame('Light')}${frame('Dark')}</div>
    <h2>Text</h2><pre lang="${escaped(language)}">${linked(text)}</pre>`
}

function page(p: {
  readonly title: string
  readonly name: 'at-list' | 'at-letter'
  readonly header: string
  readonly list: string
  readonly article: string
  readonly script: string
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(p.title)}</title>
<style>${style}</style>
</head>
<body class="${p.name}">
<header>
  <a class="name" href="/">Mailbox</a>
  ${p.header}
</header>
<main>
  <nav aria-label="E-mails">${p.list}</nav>
  <article>${p.article}</article>
</main>${p.script}
</body>
</html>
`
}

function counted(count: number): string {
  return count === 1 ? '1 e-mail' : `${count} e-mails`
}

function listOf(letters: readonly Letter[], shown: Letter | undefined): string {
  if (letters.length === 0) {
    return '<p class="empty">No e-mails yet. They appear here when they arrive.</p>'
  }
  const items = letters.map((letter) => {
    const current = letter === shown ? ' aria-current="page"' : ''
    const to = `<span class="to">${escaped(letter.to.join(', '))}</span>`
    return `<li><a href="/letters/${letter.id}"${current}>
      <span class="row"><b>${escaped(letter.subject || 'No subject')}</b>${timeOf(letter)}</span>
      <span class="row">${to}${kindOf(letter)}</span>
    </a></li>`
  })
  return `<ul>${items.join('\n')}</ul>`
}

function letterOf(letter: Letter): string {
  const links = letter.links.map((link) => `<li>${anchor(link)}</li>`).join('')
  const html = `<h2>HTML</h2>
    <iframe title="The e-mail's HTML" src="/letters/${letter.id}/html"
      sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`
  const parts = [
    '<a class="back" href="/">All e-mails</a>',
    `<h1>${escaped(letter.subject || 'No subject')}</h1>`,
    `<dl>
      <dt>From</dt><dd>${escaped(letter.sender)}</dd>
      <dt>To</dt><dd>${escaped(letter.to.join(', '))}</dd>
      <dt>Received</dt><dd>${timeOf(letter)} ${kindOf(letter)}</dd>
      <dt>Id</dt><dd class="id">${escaped(letter.messageId ?? 'none')}</dd>
    </dl>`,
    links === '' ? '' : `<h2>Links</h2><ul class="links">${links}</ul>`,
    letter.html === null ? '' : html,
    `<h2>Text</h2><pre>${linked(letter.text)}</pre>`,
    `<p class="source"><a href="/letters/${letter.id}/raw">Source, ${letter.bytes} bytes</a></p>`,
  ]
  return parts.join('\n')
}

function kindOf({ kind }: Letter): string {
  return kind === null ? '' : `<span class="kind">${escaped(kind)}</span>`
}

function timeOf({ at }: Letter): string {
  const moment = new Date(at)
  const isToday = moment.toDateString() === new Date().toDateString()
  const time = moment.toLocaleTimeString('en-GB')
  const day = moment.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
  return `<time datetime="${at}">${isToday ? time : `${day} ${time}`}</time>`
}

/** Text with its URLs as links. */
function linked(text: string): string {
  const parts = text.split(LINK)
  const links = text.match(LINK) ?? []
  return parts
    .map((part, i) => escaped(part) + (links[i] === undefined ? '' : anchor(links[i])))
    .join('')
}

function anchor(link: string): string {
  return `<a href="${escaped(link)}" target="_blank" rel="noreferrer">${escaped(link)}</a>`
}

function escaped(text: string): string {
  const names: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }
  return text.replace(/[&<>"]/g, (character) => `&${names[character]};`)
}

// Reloads the list when an e-mail arrives. A person who reads one sees a hint instead of a reload.
function script(lastId: number, isAtList: boolean): string {
  return `
const news = document.querySelector('.news')
async function watch() {
  for (;;) {
    const answer = await fetch('/api/letters?after=${lastId}&waitMs=25000')
    if ((await answer.json()).letters.length > 0) break
  }
  if (${isAtList}) location.reload()
  else news.hidden = false
}
watch().catch(() => setTimeout(() => location.reload(), 2000))
document.querySelector('#clear').addEventListener('click', async () => {
  await fetch('/api/letters', { method: 'DELETE' })
  location.href = '/'
})
`
}
