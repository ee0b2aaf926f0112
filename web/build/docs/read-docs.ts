// Reads the pages of the documentation in one language as the cabinet shows them. Links lead to
// pages of the cabinet, and a section has the address of its English original in both languages, so
// that a link opens the same section whatever language its reader has.
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type DocsLanguage,
  type DocsName,
  type DocsPage,
  docsNames,
  fileOfDocs,
} from '../../pages/docs/pages.ts'
import { type Block, type Heading, plainText } from '../../ui/markdown/blocks.ts'
import { parseMarkdown } from '../../ui/markdown/parse.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Stands for the dashboard's address in the files, which have to be readable by themselves. */
const DASHBOARD = 'https://dashboard.example.org'

export function readDocs(language: DocsLanguage): readonly DocsPage[] {
  return docsNames.map((name) => readDocsPage(name, language))
}

export function readDocsPage(name: DocsName, language: DocsLanguage): DocsPage {
  const file = fileOfDocs(name, language)
  const blocks = parseMarkdown(textOf(name, language), (href) => resolve(href, file, language))
  const ids = anchorsOf(name, language)
  const [title, lead, ...rest] = blocks.map((block) =>
    block.kind === 'heading' ? { ...block, id: ids.get(block.id) ?? block.id } : block,
  )
  if (title?.kind !== 'heading' || lead?.kind !== 'paragraph') {
    throw new Error(`${file} does not begin with a title and a paragraph`)
  }
  return { name, title: plainText(title.inside), lead: plainText(lead.inside), blocks: rest }
}

function textOf(name: DocsName, language: DocsLanguage): string {
  return readFileSync(join(root, fileOfDocs(name, language)), 'utf8')
}

/** The English anchor for each anchor of a page. */
function anchorsOf(name: DocsName, language: DocsLanguage): ReadonlyMap<string, string> {
  const own = headingsOf(parseMarkdown(textOf(name, language)))
  const english = language === 'en' ? own : headingsOf(parseMarkdown(textOf(name, 'en')))
  if (own.length !== english.length) {
    throw new Error(`${fileOfDocs(name, language)} has other sections than ${name} in English`)
  }
  return new Map(own.map(({ id }, at) => [id, english[at]?.id ?? id]))
}

export function headingsOf(blocks: readonly Block[]): readonly Heading[] {
  return blocks.flatMap((block) => (block.kind === 'heading' ? block : []))
}

function resolve(href: string, file: string, language: DocsLanguage): string | undefined {
  if (href.startsWith(DASHBOARD)) return href.slice(DASHBOARD.length)
  if (/^[a-z]+:/.test(href)) return href
  const [target = '', anchor] = href.split('#')
  const path = target === '' ? file : posix.join(posix.dirname(file), target)
  const name = docsNames.find((one) =>
    [fileOfDocs(one, 'ru'), fileOfDocs(one, 'en')].includes(path),
  )
  if (name === undefined) return undefined
  // From a Russian page also to an English file, which has no translation in the repository.
  const isOwn = path === fileOfDocs(name, language)
  const id = anchor === undefined || !isOwn ? anchor : anchorsOf(name, language).get(anchor)
  const page = target === '' ? '' : `/docs/${name}`
  return `${page}${id === undefined ? '' : `#${id}`}`
}
