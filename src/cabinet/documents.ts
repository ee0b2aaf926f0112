// The operator's legal documents: their list, versions and texts, read from files at the first use.
// The cabinet reads them at its start and does not start when one is missing: consent to a text
// that nobody can read would be void.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { readYaml, schemaProblems } from '../platform/yaml.ts'
import type { DocumentLink, DocumentText, Language } from './contract/contract.ts'
import { CabinetRefusal } from './refusals.ts'

const line = z.string().min(1).max(200)
const both = z.strictObject({ ru: line, en: line })
const schema = z.strictObject({
  documents: z.array(
    z.strictObject({
      document: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'expected a-z, 0-9 and dashes'),
      version: z.coerce.string().min(1).max(40),
      isRequired: z.boolean(),
      title: both,
      /** Markdown files, beside this one. */
      text: both,
    }),
  ),
})

export type Documents = {
  list(): readonly DocumentLink[]
  /** Refuses: document_unknown. */
  read(document: string, language: Language): DocumentText
}

/** No documents for `none`. Both methods throw an error with all problems of a wrong file. */
export function readDocuments(file: string): Documents {
  const cache: { documents?: ReturnType<typeof parse> } = {}
  const load = () => {
    cache.documents ??= file === 'none' ? [] : parse(file)
    return cache.documents
  }
  return {
    list: () => load().map(({ texts: _texts, ...link }) => link),
    read(document, language) {
      const one = load().find((known) => known.document === document)
      if (one === undefined)
        throw new CabinetRefusal('document_unknown', 'There is no such document.')
      const { texts, ...link } = one
      return { ...link, language, markdown: texts[language] }
    },
  }
}

function parse(file: string): (DocumentLink & { texts: Record<Language, string> })[] {
  const yaml = readYaml(readFileSync(file, 'utf8'))
  const read = schema.safeParse(yaml.value)
  if (yaml.problems.length > 0 || !read.success) {
    const wrong = yaml.problems.map((one) => `${file}:${one.line}: ${one.sentence}`)
    const more = read.success || wrong.length > 0 ? [] : schemaProblems(read.error, schema)
    const lines = more.map((one) => `${file}:${yaml.lineAt(one.path)}: ${one.sentence}`)
    throw new Error([...wrong, ...lines].join('\n'))
  }
  const load = (name: string) => readFileSync(resolve(dirname(file), name), 'utf8')
  return read.data.documents.map(({ text, ...link }) => ({
    ...link,
    texts: { ru: load(text.ru), en: load(text.en) },
  }))
}
