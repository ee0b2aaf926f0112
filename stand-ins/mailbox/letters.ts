// The e-mails that were received, newest first: parsed, searched, awaited. Kept in memory.
import PostalMime from 'postal-mime'

export type Envelope = { readonly from: string; readonly to: readonly string[] }

/** An e-mail as the API shows it. */
export type Letter = {
  /** Grows with every e-mail, also after a deletion, so `after` never misses one. */
  readonly id: number
  /** When it arrived, as 2026-11-15T10:20:30.000Z. */
  readonly at: string
  /** From the envelope, which decides the recipients, whatever the headers say. */
  readonly from: string
  readonly to: readonly string[]
  readonly sender: string
  readonly subject: string
  /** The header X-Letter-Kind; null without one. */
  readonly kind: string | null
  readonly messageId: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly html: string | null
  /** URLs in the text and in the links of the HTML, each once. */
  readonly links: readonly string[]
  readonly bytes: number
}

export type Search = {
  readonly to?: string
  readonly kind?: string
  /** Only e-mails with a greater id. */
  readonly after?: number
}

type Kept = { readonly letter: Letter; readonly raw: Buffer }

export type Letters = ReturnType<typeof createLetters>

export function createLetters(lettersMax: number) {
  const kept: Kept[] = []
  const watchers = new Set<() => void>()
  const state = { lastId: 0 }

  const list = (search: Search = {}): Letter[] =>
    kept.map(({ letter }) => letter).filter((letter) => fits(letter, search))

  function changed(): void {
    for (const watcher of watchers) watcher()
  }

  return {
    list,
    lastId: () => state.lastId,
    one: (id: number): Kept | undefined => kept.find(({ letter }) => letter.id === id),

    async add(raw: Buffer, envelope: Envelope): Promise<void> {
      const parsed = await parse(raw)
      state.lastId += 1
      const at = new Date().toISOString()
      kept.unshift({
        letter: { id: state.lastId, at, ...envelope, ...parsed, bytes: raw.length },
        raw,
      })
      if (kept.length > lettersMax) kept.pop()
      changed()
    },

    /** The e-mails that match, as soon as there is one; none when the time is over. */
    async wait(search: Search, waitMs: number, signal?: AbortSignal): Promise<Letter[]> {
      const found = Promise.withResolvers<void>()
      const look = () => {
        if (list(search).length > 0) found.resolve()
      }
      watchers.add(look)
      signal?.addEventListener('abort', () => found.resolve(), { once: true })
      const timer = setTimeout(() => found.resolve(), waitMs)
      look()
      await found.promise
      clearTimeout(timer)
      watchers.delete(look)
      return list(search)
    },

    clear(): void {
      kept.length = 0
    },
  }
}

function fits(letter: Letter, { to, kind, after }: Search): boolean {
  const wanted = to?.toLowerCase()
  return (
    (wanted === undefined || letter.to.some((one) => one.toLowerCase() === wanted)) &&
    (kind === undefined || letter.kind === kind) &&
    (after === undefined || letter.id > after)
  )
}

async function parse(raw: Buffer) {
  const mail = await PostalMime.parse(raw)
  const headers = Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]))
  const text = mail.text ?? ''
  const html = mail.html ?? null
  const { name = '', address = '' } = mail.from ?? {}
  return {
    sender: name === '' ? (address ?? '') : `${name} <${address}>`,
    subject: mail.subject ?? '',
    kind: headers['x-letter-kind'] ?? null,
    messageId: mail.messageId ?? null,
    headers,
    text,
    html,
    links: linksIn(text, html ?? ''),
  }
}

/** A URL in a plain text, without the punctuation that ends its sentence. */
export const LINK = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]]/g

function linksIn(text: string, html: string): string[] {
  const hrefs = [...html.matchAll(/\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)]
    .map((match) => (match[1] ?? match[2] ?? '').replaceAll('&amp;', '&'))
    .filter((href) => /^https?:/i.test(href))
  return [...new Set([...(text.match(LINK) ?? []), ...hrefs])]
}
