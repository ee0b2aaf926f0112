// GET /status.xml: outages and incidents as an Atom feed (RFC 4287), in Russian or with
// ?lang=en in English. An entry is updated when its outage ends or somebody adds to its
// incident; readers recognise it by its id.
import { createHash } from 'node:crypto'
import { escapeHtml } from '../../../platform/html.ts'
import type { Plugin } from '../../../platform/server/plugin.ts'
import type { StatusPage } from '../../../status/status.ts'
import type { Incident, Outage, Status } from '../../contract/status.ts'
import { feedWords, type Language } from './feed-words.ts'
import { statusOf } from './status.ts'

export type FeedOptions = {
  readonly status: Pick<StatusPage, 'lastKnown'>
  readonly cabinetUrl: string
  readonly brand: { readonly name: string }
}

type Entry = {
  readonly id: string
  readonly title: string
  readonly publishedAt: string
  readonly updatedAt: string
  readonly lines: readonly string[]
}

/** Feed readers ask every few minutes; a new outage is in the feed within a minute. */
const FRESH_SECONDS = 60
/** Readers keep what they have seen. */
const ENTRIES_MAX = 50

export function statusFeedPlugin(options: FeedOptions): Plugin {
  return (app) => {
    app.get<{ Querystring: { lang?: string } }>('/status.xml', async (request, reply) => {
      const language = request.query.lang === 'en' ? 'en' : 'ru'
      const status = statusOf(await options.status.lastKnown())
      // An empty feed would tell readers that nothing ever happened.
      if (status.at === null) return reply.code(503).header('retry-after', '60').send()
      const text = feedText(status, language, options)
      const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
      reply.headers({ etag, 'cache-control': `public, max-age=${FRESH_SECONDS}` })
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      return reply.type('application/atom+xml; charset=utf-8').send(text)
    })
  }
}

/** The same text until something happens, so that readers are answered 304. */
export function feedText(
  status: Status,
  language: Language,
  { cabinetUrl, brand }: Omit<FeedOptions, 'status'>,
): string {
  const words = feedWords[language]
  const self = `${cabinetUrl}/status.xml${language === 'en' ? '?lang=en' : ''}`
  // With its language: two feeds, and two texts of one event, must not share an id.
  const page = `${cabinetUrl}/status?lang=${language}`
  const entries = [
    ...status.outages.map((one) => outageEntry(one, page, language)),
    ...status.incidents.map((one) => incidentEntry(one, page, language)),
  ]
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .slice(0, ENTRIES_MAX)
  const title = text(`${brand.name}: ${words.title}`)
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${language}">`,
    `  <id>${text(page)}</id>`,
    `  <title>${title}</title>`,
    `  <updated>${entries[0]?.updatedAt ?? beginOf(status)}</updated>`,
    `  <link rel="self" type="application/atom+xml" href="${text(self)}"/>`,
    `  <link rel="alternate" type="text/html" href="${text(page)}"/>`,
    `  <author><name>${text(brand.name)}</name></author>`,
    ...entries.map((entry) => entryText(entry, page)),
    '</feed>',
    '',
  ].join('\n')
}

/** A feed must say when it was updated: nothing has happened since the first day of probes. */
function beginOf({ at, parts }: Status): string {
  const days = parts.flatMap((part) => part.days.slice(0, 1)).map(({ day }) => day)
  return `${days.toSorted()[0] ?? at?.slice(0, 10)}T00:00:00.000Z`
}

function entryText({ id, title, publishedAt, updatedAt, lines }: Entry, page: string): string {
  const html = lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('')
  return [
    '  <entry>',
    `    <id>${text(id)}</id>`,
    `    <title>${text(title)}</title>`,
    `    <published>${publishedAt}</published>`,
    `    <updated>${updatedAt}</updated>`,
    `    <link rel="alternate" type="text/html" href="${text(page)}"/>`,
    `    <content type="html">${text(html)}</content>`,
    '  </entry>',
  ].join('\n')
}

function outageEntry({ id, part, from, to }: Outage, page: string, language: Language): Entry {
  const words = feedWords[language]
  const name = words.part[part]
  return {
    id: `${page}#outage-${id}`,
    title: to === null ? words.outage(name) : words.outageOver(name),
    publishedAt: from,
    updatedAt: to ?? from,
    lines: [
      words.began(moment(from)),
      ...(to === null ? [] : [words.ended(moment(to), secondsBetween(from, to))]),
    ],
  }
}

function incidentEntry(incident: Incident, page: string, language: Language): Entry {
  const { id, kind, parts, title, from, plannedTo, to, updates } = incident
  const words = feedWords[language]
  const oldest = updates.at(-1)?.at ?? from
  return {
    id: `${page}#incident-${id}`,
    title: `${words.kind[kind]}: ${title[language]}`,
    publishedAt: oldest,
    updatedAt: [updates[0]?.at ?? from, to ?? from, oldest].toSorted().at(-1) ?? from,
    lines: [
      parts.map((part) => words.part[part]).join(', '),
      ...(plannedTo === null ? [] : [words.planned(moment(from), moment(plannedTo))]),
      ...updates.map(
        (one) => `${moment(one.at)}, ${words.state[one.state]}: ${one.text[language]}`,
      ),
    ],
  }
}

/** `2026-11-18 12:01 UTC`: a feed does not know its reader's time zone. */
function moment(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`
}

function secondsBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / 1_000)
}

/**
 * For text and attributes. XML has no way to write most control characters, nor halves of
 * surrogate pairs, not even escaped: one of them makes the whole feed unreadable.
 */
function text(given: string): string {
  const writable = given
    .toWellFormed()
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd')
  return escapeHtml(writable)
}
