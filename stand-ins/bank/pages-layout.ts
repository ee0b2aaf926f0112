// The frame around every page of the bank: header, notice, language switch, the order beside the
// content. It also sets the headers of a page: it loads nothing from another origin, runs only our
// one script and one stylesheet, and its forms post only to us.
import { hash } from 'node:crypto'
import type { Payment } from './objects.ts'
import { html, type Markup, raw } from './pages-markup.ts'
import { script } from './pages-script.ts'
import { style } from './style.ts'
import { clockText, type Language, languages, sumText, type Words, wordsOf } from './words.ts'

/** The data of a page. */
export type View = {
  readonly payment: Payment
  readonly shopName: string
  readonly remainingMs: number
  readonly language: Language
  readonly words: Words
  /** A path under this payment, in the language that the payer chose. */
  readonly at: (place: string, parameters?: Readonly<Record<string, string | number>>) => string
}

export type Page = {
  readonly title: string
  readonly body: Markup
  readonly language: Language
  /** The same page in the other language. */
  readonly switchTo: string
  readonly isApp?: boolean
  readonly isNarrow?: boolean
  /** Redirects at once. */
  readonly leaveTo?: string | undefined
  /** Reloads that path every few seconds when scripts are off. */
  readonly watch?: string
}

const sourceOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`

export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${sourceOf(script)}`,
    `style-src ${sourceOf(style)}`,
    'img-src data:',
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

// Without a script: often enough to follow the payment, seldom enough to have the page read aloud.
const watchSeconds = 5

const columns = 'M6 12l8-5 8 5M8.5 13v6M14 13v6M19.5 13v6M6.5 21h15'

const mark = html`<svg width="28" height="28" viewBox="0 0 28 28" aria-hidden="true">
  <rect width="28" height="28" rx="8" fill="currentColor"/>
  <path d="${columns}" fill="none" stroke="var(--surface)" stroke-width="2"
    stroke-linecap="round" stroke-linejoin="round"/></svg>`

const icon =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 28 28'>" +
  "<rect width='28' height='28' rx='8' fill='%230b6b53'/>" +
  `<path d='${columns}' fill='none' stroke='white' stroke-width='2'/></svg>`

export function renderPage(page: Page): string {
  const words = wordsOf(page.language)
  const other = languages.find((one) => one !== page.language) ?? page.language
  const name = page.isApp ? words.appName : words.bankName
  return html`<!doctype html>
    <html lang="${page.language}">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>${page.title} – ${name}</title>
    <link rel="icon" href="${icon}">
    ${page.leaveTo && refresh(0, page.leaveTo)}
    ${page.watch && html`<noscript>${refresh(watchSeconds, page.watch)}</noscript>`}
    <style>${raw(style)}</style>
    </head>
    <body${page.isApp && html` class="app"`}>
    <a class="skip" href="#content">${words.skip}</a>
    <header>
    <p class="notice">${words.notice}</p>
    <div class="top">
    <span class="brand">${mark}${name}</span>
    <nav aria-label="${words.languageSwitch}"><a class="language" lang="${other}"
      hreflang="${other}" href="${page.switchTo}">${wordsOf(other).languageName}</a></nav>
    </div>
    </header>
    <main id="content" class="${page.isNarrow ? 'sheet narrow' : 'sheet split'}">
    ${page.body}
    </main>
    <script>${raw(script)}</script>
    </body>
    </html>
    `.markup
}

function refresh(seconds: number, to: string): Markup {
  return html`<meta http-equiv="refresh" content="${seconds}; url=${to}">`
}

/** The order and the content beside it; a problem on the page is announced in its title first. */
export function payPage(
  view: View,
  { title, pane, isWrong = false }: { title: string; pane: Markup; isWrong?: boolean },
): Pick<Page, 'title' | 'body'> {
  return {
    title: isWrong ? `${view.words.errorPrefix}: ${title}` : title,
    body: html`${orderOf(view)}<section class="pane">${pane}</section>`,
  }
}

function orderOf(view: View): Markup {
  return html`<section class="order" aria-label="${view.words.order}"><dl>
    ${factsOf(view)}${timeOf(view, view.at(''))}</dl></section>`
}

/** Who is paid, how much and for what: the inside of a description list. */
export function factsOf({ words, payment, shopName, language }: View): Markup {
  const { amount, description } = payment
  return html`<div><dt>${words.shop}</dt><dd>${shopName}</dd></div>
    <div><dt>${words.sum}</dt><dd class="sum">${sumText(language, amount)}</dd></div>
    ${description && html`<div><dt>${words.description}</dt><dd>${description}</dd></div>`}`
}

/** The countdown; at its end the script opens `next`. */
export function timeOf({ words, remainingMs }: View, next: string): Markup {
  return html`<div class="time"><dt>${words.timeLeft}</dt><dd><span role="timer"
      aria-label="${words.timeLeft}" data-remaining-ms="${remainingMs}"
      data-next="${next}">${clockText(remainingMs)}</span></dd></div>`
}

const badges = {
  good: 'M5 13l5 5L20 7',
  bad: 'M6 6l12 12M18 6L6 18',
  late: 'M12 2a10 10 0 1 0 0 20a10 10 0 0 0 0-20M12 7v5l3.5 2',
}

export function badge(kind: keyof typeof badges): Markup {
  return html`<div class="badge${kind === 'bad' && ' bad'}"><svg width="26" height="26"
      viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.5"
      stroke-linecap="round" stroke-linejoin="round"><path d="${badges[kind]}"/></svg></div>`
}

/** A link that looks like a button. */
export function linkButton(text: string, href: string, look: 'primary' | 'plain'): Markup {
  return html`<a class="button ${look}" href="${href}">${text}</a>`
}
