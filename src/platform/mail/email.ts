// The one layout of all e-mails: composes one from its sentences, as text and as HTML with the same
// content: the brand, what happened, possibly facts and a button, further advice, a footer. No
// pictures, no links to other hosts, no tracking. The modules have the sentences; mail.ts sends.
import { escapeHtml } from '../html.ts'
import { zoneOf } from '../zone.ts'
import { emailStyle, outlookStyle, style } from './email-style.ts'

/** One e-mail in one language. */
export type EmailContent = {
  readonly subject: string
  readonly lines: readonly string[]
  /** Names and values, such as the number of an order, as a small table; without empty values. */
  readonly facts?: readonly (readonly [name: string, value: string])[]
  readonly button?: { readonly label: string; readonly link: string }
  /** After the button: what to do when it was not the owner. */
  readonly more?: readonly string[]
}

/** Who sends an e-mail, and why it comes. */
type EmailFrame = {
  readonly brand: EmailBrand
  readonly language: 'ru' | 'en'
  /** Why it comes; without it, because the recipient has an account. */
  readonly reason?: EmailReason
  /** The link that switches such e-mails off. */
  readonly unsubscribe?: string
}

/**
 * account: a duty to an owner. address: to a mailbox that may have no account. choice: an alert
 * that its owner can turn off. monthly: what an owner can unsubscribe from. operator: to the people
 * who run the service.
 */
type EmailReason = 'account' | 'address' | 'choice' | 'monthly' | 'operator'

export type EmailBrand = {
  readonly name: string
  readonly supportEmail: string
  /** The cabinet's address, without a slash at the end. */
  readonly cabinetUrl: string
}

/**
 * Formats times for e-mails: in the owner's zone, with its offset from UTC, because an e-mail may
 * be read anywhere. UTC when the owner has chosen no zone, or one that this version of Node does
 * not know.
 */
export function momentsIn(locale: string, zone: string | null | undefined) {
  const timeZone = zoneOf(zone ?? undefined)
  const time = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'long', timeStyle: 'short' })
  const day = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'long' })
  const offset = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' })
  function distance(atMs: number): string {
    const part = offset.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')
    return part?.value.replace(/^GMT(?:\+0$)?/, 'UTC') ?? 'UTC'
  }
  return {
    time: (atMs: number) => `${time.format(atMs)} ${distance(atMs)}`,
    day: (atMs: number) => day.format(atMs),
  }
}

export function composeEmail(given: EmailContent, frame: EmailFrame) {
  const facts = (given.facts ?? []).filter(([, value]) => value !== '')
  const content = { ...given, facts }
  return {
    subject: oneLine(content.subject),
    text: textOf(content, frame),
    html: htmlOf(content, frame),
  }
}

const reasons: Readonly<Record<EmailFrame['language'], Record<EmailReason, string>>> = {
  ru: {
    account: 'Это служебное письмо о вашем аккаунте, отписаться от него нельзя.',
    address: 'Это разовое письмо об этом адресе. Вы не подписаны на рассылку.',
    choice: 'Это предупреждение включено в настройках вашего аккаунта, там его можно выключить.',
    monthly: 'Такое письмо приходит раз в месяц.',
    operator: 'Это служебное письмо всем операторам сервиса.',
  },
  en: {
    account: 'This is a service e-mail about your account, so you cannot unsubscribe from it.',
    address: 'This is a one-time e-mail about this address. You are not on a mailing list.',
    choice: 'This alert is turned on in the settings of your account, where you can turn it off.',
    monthly: 'This e-mail comes once a month.',
    operator: 'This is a service e-mail to every operator of the service.',
  },
}

const footerWords = {
  ru: { unsubscribe: 'Отписаться', help: 'Вопросы' },
  en: { unsubscribe: 'Unsubscribe', help: 'Questions' },
} as const

/**
 * The sender and the reason; then how to unsubscribe, where that is possible, and the address of
 * support, which operators do not need.
 */
function footerOf({ brand, language, reason = 'account', unsubscribe }: EmailFrame) {
  const { unsubscribe: label, help } = footerWords[language]
  return {
    why: `${brand.name}. ${reasons[language][reason]}`,
    off: unsubscribe === undefined ? null : { label, link: unsubscribe },
    help: reason === 'operator' ? null : { label: help, address: brand.supportEmail },
  }
}

function textOf(content: EmailContent, frame: EmailFrame): string {
  const { lines, facts = [], button, more = [] } = content
  const table = facts.length === 0 ? [] : [facts.map((fact) => fact.join(': ')).join('\n')]
  const link = button === undefined ? [] : [`${button.label}:\n${button.link}`]
  const { why, off, help } = footerOf(frame)
  const footer = [
    why,
    ...(off === null ? [] : [`${off.label}: ${off.link}`]),
    ...(help === null ? [] : [`${help.label}: ${help.address}`]),
  ].join('\n')
  return `${[...lines, ...table, ...link, ...more, `-- \n${footer}`].join('\n\n')}\n`
}

/**
 * Tables instead of blocks, and each colour at its element: Outlook lays nothing else out, and
 * Gmail drops the style sheet of some accounts. The style sheet only adds the dark theme.
 */
function htmlOf(content: EmailContent, frame: EmailFrame): string {
  const { subject, lines, facts = [], button, more = [] } = content
  const paragraph = (line: string) => `<p class="ink" style="${style.paragraph}">${shown(line)}</p>`
  const advice = (line: string) => `<p class="soft" style="${style.advice}">${shown(line)}</p>`
  return [
    `<!doctype html><html lang="${frame.language}"><head><meta charset="utf-8">`,
    // Without it, some phones lay the e-mail out 980 px wide and shrink its letters.
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    // Otherwise some programs invert the colours in their own way.
    '<meta name="color-scheme" content="light dark">',
    '<meta name="supported-color-schemes" content="light dark">',
    // Phones turn amounts and IDs into links that dial.
    '<meta name="format-detection" content="telephone=no,date=no,address=no,email=no">',
    `<title>${escapeHtml(subject)}</title><style>${emailStyle}</style>`,
    `${forOutlook(`<style>${outlookStyle}</style>`)}</head>`,
    `<body class="paper" style="${style.body}">`,
    // Lists of e-mails show it after the subject; otherwise they would repeat the subject.
    `<div style="${style.preheader}">${shown(lines[0] ?? '')}${AFTER_PREHEADER}</div>`,
    // Screen readers jump to the main region.
    '<div role="main">',
    `<table ${TABLE} class="paper" width="100%" style="${style.page}"><tr>`,
    `<td align="center" style="${style.edge}">`,
    forOutlook(`<table ${TABLE} width="600"><tr><td>`),
    `<table ${TABLE} width="100%" style="${style.column}">`,
    ...brandRow(frame),
    `<tr><td class="sheet" style="${style.sheet}">`,
    `<h1 class="ink" style="${style.title}">${shown(subject)}</h1>`,
    ...lines.map(paragraph),
    ...(facts.length === 0 ? [] : [factTable(facts)]),
    ...(button === undefined ? [] : [buttonOf(button)]),
    ...more.map(advice),
    '</td></tr>',
    footerRow(frame),
    `</table>${forOutlook('</td></tr></table>')}</td></tr></table></div></body></html>`,
  ].join('\n')
}

/** Outlook knows no defaults from style sheets for these, and no roles. */
const TABLE = 'role="presentation" cellpadding="0" cellspacing="0" border="0"'
/** Fills the preview, so that the text of the e-mail does not follow the preheader in it. */
const AFTER_PREHEADER = '&#847;&zwnj;&nbsp;'.repeat(60)

/** Only Outlook for Windows reads it: it knows no max-width and no lists of fonts. */
function forOutlook(html: string): string {
  return `<!--[if mso]>${html}<![endif]-->`
}

/** Text with its addresses as links, and without line breaks where they would be wrong. */
function shown(text: string): string {
  const parts = text.split(/(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)])/)
  return parts.map((part, i) => (i % 2 === 0 ? escapeHtml(bound(part)) : linkTo(part))).join('')
}

/** A link in the colours of the text around it: those that programs make are blue on black. */
function linkTo(address: string, label = address): string {
  const escaped = escapeHtml(address)
  return `<a class="link" href="${escaped}" style="${style.anchor}">${escapeHtml(label)}</a>`
}

/**
 * Binds a number to its word, a card's last digits to the dots before them, a dash to the word
 * before it, and a short Russian word to the next.
 */
function bound(text: string): string {
  return text
    .replace(/ (?=[—–])/g, '\u00a0')
    .replace(/(?<=\d) (?=\p{L})|(?<=•) (?=\d)/gu, '\u00a0')
    .replace(/(?<=(?:^|[\s«(])[а-яё]{1,2}) /giu, '\u00a0')
}

/** The name with a square in the brand's colour: programs that show no pictures show it, too. */
function brandRow({ brand }: EmailFrame): string[] {
  return [
    `<tr><td style="${style.brand}"><span class="mark" style="${style.mark}">&nbsp;</span>` +
      `<span class="ink" style="${style.name}">${escapeHtml(brand.name)}</span></td></tr>`,
  ]
}

function footerRow(frame: EmailFrame): string {
  const { why, off, help } = footerOf(frame)
  const links = [
    ...(off === null ? [] : [linkTo(off.link, off.label)]),
    ...(help === null ? [] : [`${help.label}: ${linkTo(`mailto:${help.address}`, help.address)}`]),
  ]
  const footer = [escapeHtml(bound(why)), ...links].join('<br>')
  return `<tr><td class="soft" style="${style.footer}">${footer}</td></tr>`
}

function factTable(facts: NonNullable<EmailContent['facts']>): string {
  const rows = facts.map(
    ([name, value]) =>
      `<tr><td class="soft line" style="${style.factName}${nameWrap(name)}">` +
      `${escapeHtml(name)}</td>` +
      `<td class="ink line" style="${style.factValue}${valueWrap(value)}">` +
      `${shown(value)}</td></tr>`,
  )
  return `<table ${TABLE} width="100%" style="${style.facts}">${rows.join('')}</table>`
}

/**
 * An order's ID is nearly as wide as a phone and must break; in a column beside a long name, an
 * amount that may break would stand letter by letter.
 */
function valueWrap(value: string): string {
  return /\S{25}/.test(value) ? ';overflow-wrap:anywhere' : ';overflow-wrap:normal'
}

/** A short name stays whole beside an ID, which breaks; a long one breaks between its words. */
function nameWrap(name: string): string {
  return name.length > 20 ? ';overflow-wrap:normal' : ';white-space:nowrap'
}

/** A cell, because Outlook gives a link neither a background nor room. */
function buttonOf({ label, link }: NonNullable<EmailContent['button']>): string {
  return [
    `<table ${TABLE} style="${style.buttonRow}"><tr>`,
    `<td class="button" bgcolor="#0f5c4a" style="${style.buttonCell}">`,
    `<a class="button" href="${escapeHtml(link)}" style="${style.button}">${escapeHtml(label)}</a>`,
    '</td></tr></table>',
    // Some mail programs do not show the button; this line can be copied.
    `<p class="soft" style="${style.link}">${linkTo(link)}</p>`,
  ].join('')
}

/** The subject is a header: a line break in it would start another header. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
