// Composes an e-mail from its sentences, as text and as HTML with the same content: the reason,
// possibly a button, further advice, a signature. No pictures, no links to other hosts, no
// tracking. The modules have the sentences; mail.ts sends.
import { escapeHtml } from '../html.ts'
import { zoneOf } from '../zone.ts'

/** One e-mail in one language. */
export type EmailContent = {
  readonly subject: string
  readonly lines: readonly string[]
  readonly button?: { readonly label: string; readonly link: string }
  /** After the button: what to do when it was not the owner. */
  readonly more?: readonly string[]
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

export function composeEmail(sentences: EmailContent, signature: string, language: string) {
  return {
    subject: oneLine(sentences.subject),
    text: textOf(sentences, signature),
    html: htmlOf(sentences, signature, language),
  }
}

function textOf({ lines, button, more = [] }: EmailContent, signature: string): string {
  const link = button === undefined ? [] : [`${button.label}:\n${button.link}`]
  return `${[...lines, ...link, ...more, `-- \n${signature}`].join('\n\n')}\n`
}

function htmlOf(
  { subject, lines, button, more = [] }: EmailContent,
  signature: string,
  lang: string,
) {
  const paragraph = (line: string) => `<p style="margin:0 0 16px">${escapeHtml(line)}</p>`
  const link =
    button === undefined
      ? []
      : [
          `<p style="margin:24px 0"><a href="${escapeHtml(button.link)}" style="${BUTTON}">` +
            `${escapeHtml(button.label)}</a></p>`,
          // Some mail programs do not show links; this line can be copied.
          `<p style="${SMALL};word-break:break-all">${escapeHtml(button.link)}</p>`,
        ]
  return [
    `<!doctype html><html lang="${lang}"><head><meta charset="utf-8">`,
    // Without it, some phones lay the e-mail out 980 px wide and shrink its letters.
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${escapeHtml(subject)}</title></head><body style="${BODY}">`,
    ...lines.map(paragraph),
    ...link,
    ...more.map(paragraph),
    `<p style="${SMALL};margin-top:32px">${escapeHtml(signature)}</p></body></html>`,
  ].join('\n')
}

const BODY =
  'margin:0 auto;padding:24px;max-width:36em;font:16px/1.5 system-ui,sans-serif;color:#1c1c1e;' +
  // An order's ID is nearly as wide as a phone.
  'overflow-wrap:break-word'
const SMALL = 'font-size:13px;color:#5f6368'
const BUTTON =
  'display:inline-block;padding:12px 20px;border-radius:8px;background:#1a4fd6;color:#fff;' +
  'text-decoration:none'

/** The subject is a header: a line break in it would start another header. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
