// The pages of the documentation in their order. A page's name is its address, /docs/<name>, and
// never changes; its text is a file of docs/, in Russian under docs/ru/. Settings are
// among them for those who run a server of their own; other files of docs/ are for operators and
// developers, and are not part of the site.

import type { Block } from '../../ui/markdown/blocks.ts'

export type DocsLanguage = 'ru' | 'en'

/** A page in one language, as the build writes it. */
export type DocsPage = {
  readonly name: DocsName
  readonly title: string
  /** The first paragraph: who the page is for. */
  readonly lead: string
  readonly blocks: readonly Block[]
}

export const docsSections = [
  { id: 'start', pages: ['quick-start', 'usage', 'charging'] },
  {
    id: 'clients',
    pages: [
      ...(['curl', 'typescript', 'python', 'ai-sdk', 'langchain'] as const),
      ...(['claude-code', 'opencode', 'coding-agents', 'other-clients'] as const),
    ],
  },
  { id: 'reference', pages: ['api', 'errors', 'settings', 'versioning'] },
] as const

export type DocsName = (typeof docsSections)[number]['pages'][number]

/** Every page, in the order of reading. */
export const docsNames: readonly DocsName[] = docsSections.flatMap(({ pages }) => [...pages])

export const firstDocsPage: DocsName = 'quick-start'

export function isDocsName(name: string): name is DocsName {
  return (docsNames as readonly string[]).includes(name)
}

/** The file of a page, from the root of the repository. */
export function fileOfDocs(name: DocsName, language: DocsLanguage): string {
  const isClient = (docsSections[1].pages as readonly string[]).includes(name)
  return `docs/${language === 'ru' ? 'ru/' : ''}${isClient ? 'clients/' : ''}${name}.md`
}
