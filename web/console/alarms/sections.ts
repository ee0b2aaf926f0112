// Sections of a Markdown page: one by its anchor, the titles of runbooks, links between them.
import { anchorOf } from '../../ui/markdown/markdown.ts'

type Section = { readonly level: number; readonly title: string; readonly text: string }

/** The sections of a page; headings inside code are none. */
function sectionsOf(markdown: string): Section[] {
  const found: { level: number; title: string; lines: string[] }[] = []
  let isCode = false
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const heading = isCode ? null : /^(#{1,6}) +(.+?) *#*$/.exec(line)
    if (heading === null) found.at(-1)?.lines.push(line)
    else found.push({ level: heading[1]?.length ?? 1, title: heading[2] ?? '', lines: [] })
  }
  return found.map(({ level, title, lines }) => ({ level, title, text: lines.join('\n') }))
}

/** A section with those below it; undefined when the page has no such anchor. */
export function findSection(
  markdown: string,
  anchor: string,
): { readonly title: string; readonly text: string } | undefined {
  const all = sectionsOf(markdown)
  const at = all.findIndex(({ title }) => anchorOf(title) === anchor)
  const first = all[at]
  if (first === undefined) return undefined
  const next = all.findIndex(({ level }, i) => i > at && level <= first.level)
  const below = all.slice(at + 1, next === -1 ? undefined : next)
  const parts = below.map(({ level, title, text }) => `${'#'.repeat(level)} ${title}\n${text}`)
  return { title: first.title, text: [first.text, ...parts].join('\n') }
}

/** Below the page's title and its two parts. */
const RUNBOOK_LEVEL = 3

/** The titles of single runbooks. */
export function runbookTitles(markdown: string): string[] {
  return sectionsOf(markdown).flatMap(({ level, title }) => (level === RUNBOOK_LEVEL ? title : []))
}

const DOCUMENT = /(?:^|\/)(runbooks|operating|operator-commands|metrics|payments)\.md$/

/** Links to sections that the console shows lead there; others stay text. */
export function adaptLinks(text: string, document: string): string {
  return text.replace(/\[([^\]]+)\]\(([^)\s]*)\)/g, (whole, label: string, target: string) => {
    if (/^https?:/.test(target)) return whole
    const [file = '', anchor] = target.split('#')
    const name = file === '' ? document : DOCUMENT.exec(file)?.[1]
    const known = /deploy\/README\.md$/.test(file) ? 'deploy' : name
    return known === undefined || anchor === undefined
      ? label
      : `[${label}](/runbooks/${known}/${anchor})`
  })
}
