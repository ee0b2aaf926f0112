// The search index of the documentation in one language, as JSON: an entry for each section, and
// one for each row of a table of codes.
import MiniSearch from 'minisearch'
import type { DocsPage } from '../../pages/docs/pages.ts'
import { type Found, searchOptions } from '../../pages/docs/search/terms.ts'
import { type Block, type Inline, plainText } from '../../ui/markdown/blocks.ts'

/** As much of a text as a result shows. */
const EXCERPT_CHARACTERS = 160

export function searchIndexOf(pages: readonly DocsPage[]): string {
  const index = new MiniSearch<Found>({
    ...searchOptions,
    // The whole text is searched; only its beginning is stored.
    extractField: (entry, field) => entry[field as keyof Found],
  })
  const stored = new Map<string, Found>()
  for (const entry of pages.flatMap(entriesOf))
    if (!stored.has(entry.id)) stored.set(entry.id, entry)
  index.addAll([...stored.values()])
  const json = index.toJSON()
  for (const fields of Object.values(json.storedFields)) {
    fields.text = excerptOf(String(fields.text))
  }
  return JSON.stringify(json)
}

function excerptOf(text: string): string {
  if (text.length <= EXCERPT_CHARACTERS) return text
  const cut = text.slice(0, EXCERPT_CHARACTERS)
  return `${cut.slice(0, cut.lastIndexOf(' '))}…`
}

function entriesOf({ name, title, lead, blocks }: DocsPage): Found[] {
  const page = `/docs/${name}`
  const entries: { -readonly [Key in keyof Found]: Found[Key] }[] = [
    { id: page, page: name, title, place: '', text: lead },
  ]
  const above: { level: number; title: string }[] = []
  for (const block of blocks) {
    if (block.kind === 'heading') {
      while ((above.at(-1)?.level ?? 0) >= block.level) above.pop()
      const place = [title, ...above.map((one) => one.title)].join(' › ')
      const own = plainText(block.inside)
      above.push({ level: block.level, title: own })
      entries.push({ id: `${page}#${block.id}`, page: name, title: own, place, text: '' })
      continue
    }
    // The section's own entry stays the last one; those of its rows stand before it.
    const section = entries.at(-1)
    if (section !== undefined) section.text = [section.text, ...textsOf(block)].join(' ').trim()
    if (block.kind !== 'table') continue
    const place = [title, ...above.map((one) => one.title)].join(' › ')
    for (const { id, cells } of block.rows) {
      if (id === undefined) continue
      const text = cells.slice(1).map(plainText).join(' · ')
      // A setting has two names: its own and that of its variable.
      const own = plainText(cells[0] ?? [])
      entries.splice(-1, 0, { id: `${page}#${id}`, page: name, title: own, place, text })
    }
  }
  return entries
}

function textsOf(block: Block): string[] {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return [plainText(block.inside)]
    case 'code':
      return [block.text]
    case 'list':
      return block.items.flatMap((item) => item.flatMap(textsOf))
    case 'quote':
      return block.blocks.flatMap(textsOf)
    case 'table':
      // Rows with an address are entries of their own.
      return block.rows
        .filter(({ id }) => id === undefined)
        .map(({ cells }) => cells.map((cell: readonly Inline[]) => plainText(cell)).join(' '))
    case 'rule':
      return []
  }
}
