// Sections of a document: one by its anchor, the titles of runbooks, links between documents.
import { type Block, type Heading, plainText } from '../../ui/markdown/blocks.ts'

/** A section with those below it; undefined when the document has no such anchor. */
export function findSection(
  blocks: readonly Block[],
  anchor: string,
): { readonly title: string; readonly blocks: readonly Block[] } | undefined {
  const at = blocks.findIndex((block) => block.kind === 'heading' && block.id === anchor)
  const first = blocks[at]
  if (first?.kind !== 'heading') return undefined
  const after = blocks.slice(at + 1)
  const end = after.findIndex((block) => block.kind === 'heading' && block.level <= first.level)
  return { title: plainText(first.inside), blocks: end === -1 ? after : after.slice(0, end) }
}

/** Below the page's title and its two parts. */
const RUNBOOK_LEVEL = 3

/** The headings of single runbooks. */
export function runbookHeadings(blocks: readonly Block[]): readonly Heading[] {
  return blocks.flatMap((block) =>
    block.kind === 'heading' && block.level === RUNBOOK_LEVEL ? block : [],
  )
}

const DOCUMENT = /(?:^|\/)(runbooks|operating|operator-commands|metrics|payments)\.md$/

/** Links to sections that the console shows lead there; others stay text. */
export function resolveLink(href: string, file: string): string | undefined {
  if (/^https?:/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const target = path === '' ? file : path
  const name = /deploy\/README\.md$/.test(target) ? 'deploy' : DOCUMENT.exec(target)?.[1]
  return name === undefined || anchor === undefined ? undefined : `/runbooks/${name}/${anchor}`
}
