// A Vite plugin that makes modules of the documentation: `virtual:docs` with a loader for each page
// and for the search index of each language. The parser and the writer of the index stay here; the
// browser gets their results, each page and index in a script of its own.
import type { Plugin } from 'vite'
import { type DocsLanguage, docsNames, fileOfDocs, isDocsName } from '../../pages/docs/pages.ts'
import { readDocs, readDocsPage } from './read-docs.ts'
import { searchIndexOf } from './search-index.ts'

const LIST = 'virtual:docs'
const PAGE = /^virtual:docs\/page\/(ru|en)\/([\w-]+)$/
const SEARCH = /^virtual:docs\/search\/(ru|en)$/
const languages: readonly DocsLanguage[] = ['ru', 'en']

export function docs(root: string): Plugin {
  return {
    name: 'docs',
    resolveId: (id) => (id === LIST || PAGE.test(id) || SEARCH.test(id) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${LIST}`)) return undefined
      const own = id.slice(1)
      for (const language of languages) {
        for (const name of docsNames) this.addWatchFile(`${root}/${fileOfDocs(name, language)}`)
      }
      return { code: codeOf(own), moduleType: 'js' }
    },
  }
}

function codeOf(id: string): string {
  const [, language, name = ''] = PAGE.exec(id) ?? SEARCH.exec(id) ?? []
  if (language === undefined) return listCode()
  if (isDocsName(name)) {
    return `export const page = ${JSON.stringify(readDocsPage(name, language as DocsLanguage))}`
  }
  const index = searchIndexOf(readDocs(language as DocsLanguage))
  return `export const index = ${JSON.stringify(index)}`
}

function listCode(): string {
  const each = (line: (language: DocsLanguage) => string) => languages.map(line).join(',\n')
  const loader = (key: string, id: string) => `'${key}': () => import('${LIST}/${id}')`
  const pages = each((language) =>
    docsNames.map((name) => loader(`${language}/${name}`, `page/${language}/${name}`)).join(',\n'),
  )
  const indexes = each((language) => loader(language, `search/${language}`))
  return `export const pages = {\n${pages}\n}\nexport const indexes = {\n${indexes}\n}`
}
