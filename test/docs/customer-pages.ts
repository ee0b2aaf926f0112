// The pages of the documentation that customers read, in both languages, and their examples as a
// reader gets them: with an address, a key and a model filled in.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fillExample, type Values } from '../../web/pages/docs/examples/fill.ts'
import { type DocsLanguage, docsNames, fileOfDocs } from '../../web/pages/docs/pages.ts'
import { type Fence, type Page, readPage, root } from './pages.ts'

export const languages: readonly DocsLanguage[] = ['en', 'ru']

export function customerPages(language: DocsLanguage): readonly Page[] {
  return docsNames.map((name) => readPage(fileOfDocs(name, language)))
}

export type Example = Fence & { readonly path: string; readonly filled: (values: Values) => string }

/** Every example of every page in both languages. */
export function customerExamples(): readonly Example[] {
  return languages.flatMap(customerPages).flatMap(({ path, fences }) =>
    fences.map((fence) => ({
      ...fence,
      path,
      filled: (values: Values) => fillExample(fence.text, values),
    })),
  )
}

/** The one example of a page in this language, such as the file of settings of an agent. */
export function exampleOf(path: string, language: string, values: Values, at = 0): string {
  const fence = readPage(path).fences.filter((one) => one.language === language)[at]
  if (fence === undefined) throw new Error(`${path} has no example ${at} in ${language}`)
  return fillExample(fence.text, values)
}

/** For an operator's counsel; personal-data.test.ts compares its languages. */
const FOR_COUNSEL = 'docs/ru/personal-data.md'

/** The pages of the folders that are for customers. */
export function filesOfFolders(): readonly string[] {
  return ['docs/ru', 'docs/clients', 'docs/ru/clients'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`)
      .filter((path) => path !== FOR_COUNSEL),
  )
}
