// A letter out of its sentences, as text and as HTML that says the same: a reason, perhaps a
// button, what else to do, a signature. No pictures, no foreign addresses, no counting of who opens
// what. Rooms have the sentences; mail.ts sends.
import { zoneOf } from '../zone.ts'

/** One letter in one language. */
export type Sentences = {
  readonly subject: string
  readonly lines: readonly string[]
  readonly button?: { readonly label: string; readonly link: string }
  /** After the button: what to do when it was not the owner. */
  readonly more?: readonly string[]
}

/**
 * Moments as a letter names them: in the owner's zone, with its distance from UTC, since a letter
 * is read anywhere. UTC for who has chosen none, or one that this Node has never heard of.
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

export function composeLetter(sentences: Sentences, signature: string, language: string) {
  return {
    subject: oneLine(sentences.subject),
    text: textOf(sentences, signature),
    html: htmlOf(sentences, signature, language),
  }
}

function textOf({ lines, button, more = [] }: Sentences, signature: string): string {
  const link = button === undefined ? [] : [`${button.label}:\n${button.link}`]
  return `${[...lines, ...link, ...more, `-- \n${signature}`].join('\n\n')}\n`
}

function htmlOf({ subject, lines, button, more = [] }: Sentences, signature: string, lang: string) {
  const paragraph = (line: string) => `<p style="margin:0 0 16px">${escaped(line)}</p>`
  const link =
    button === undefined
      ? []
      : [
          `<p style="margin:24px 0"><a href="${escaped(button.link)}" style="${BUTTON}">` +
            `${escaped(button.label)}</a></p>`,
          // Some mail programs show no links; this line can be copied.
          `<p style="${SMALL};word-break:break-all">${escaped(button.link)}</p>`,
        ]
  return [
    `<!doctype html><html lang="${lang}"><head><meta charset="utf-8">`,
    `<title>${escaped(subject)}</title></head><body style="${BODY}">`,
    ...lines.map(paragraph),
    ...link,
    ...more.map(paragraph),
    `<p style="${SMALL};margin-top:32px">${escaped(signature)}</p></body></html>`,
  ].join('\n')
}

const BODY =
  'margin:0 auto;padding:24px;max-width:36em;font:16px/1.5 system-ui,sans-serif;color:#1c1c1e'
const SMALL = 'font-size:13px;color:#5f6368'
const BUTTON =
  'display:inline-block;padding:12px 20px;border-radius:8px;background:#1a4fd6;color:#fff;' +
  'text-decoration:none'

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

/** A subject is a header: a line break in it would begin another one. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
