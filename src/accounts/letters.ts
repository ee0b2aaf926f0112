// Turns a notice into a letter, as text and as HTML, in the owner's language. No pictures, no
// foreign addresses, no counting of who opens what. Sending is the business of platform/mail.ts.
import type { Executor } from '../platform/db.ts'
import type { Mail } from '../platform/mail.ts'
import type { Notice, Sentences, Setting, Words } from './notice.ts'
import type { Language } from './queries.ts'
import { english } from './words-en.ts'
import { russian } from './words-ru.ts'

export type Brand = {
  readonly name: string
  readonly supportEmail: string
  /** The cabinet's address, without a slash at the end. */
  readonly cabinetUrl: string
}

const languages = { ru: russian, en: english } satisfies Record<Language, Words>

export function createLetters(options: {
  readonly mail: Pick<Mail, 'post'>
  readonly brand: Brand
}) {
  const { mail, brand } = options

  return {
    /** Puts a letter into the outbox, in the caller's transaction when there is one. */
    async post(
      executor: Executor,
      to: { readonly email: string; readonly language: Language },
      notice: Notice,
    ): Promise<void> {
      const { subject, text, html } = compose(notice, to.language, brand)
      await mail.post(executor, { to: to.email, kind: notice.kind, subject, text, html })
    },

    /**
     * A page of the cabinet. The code goes behind the hash, which browsers keep to themselves: it
     * reaches neither a log nor the next page's referrer.
     */
    link: (page: string, code?: string): string =>
      `${brand.cabinetUrl}/${page}${code === undefined ? '' : `#code=${encodeURIComponent(code)}`}`,
  }
}

export type Letters = ReturnType<typeof createLetters>

export function compose(notice: Notice, language: Language, brand: Brand) {
  const { frame, letters } = languages[language]
  const setting = settingOf(frame.locale, brand)
  // The kind chooses both the sentences and the type of the facts; the compiler cannot follow that.
  const write = letters[notice.kind] as (facts: Notice['facts'], setting: Setting) => Sentences
  const sentences = write(notice.facts, setting)
  const signature = frame.signature(brand.name, brand.supportEmail)
  return {
    subject: oneLine(sentences.subject),
    text: textOf(sentences, signature),
    html: htmlOf(sentences, signature, language),
  }
}

function settingOf(locale: string, brand: Brand): Setting {
  const zone = { timeZone: 'UTC' } as const
  const time = new Intl.DateTimeFormat(locale, { ...zone, dateStyle: 'long', timeStyle: 'short' })
  const day = new Intl.DateTimeFormat(locale, { ...zone, dateStyle: 'long' })
  return {
    brand: brand.name,
    securityLink: `${brand.cabinetUrl}/security`,
    time: (atMs) => `${time.format(atMs)} UTC`,
    day: (atMs) => day.format(atMs),
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
