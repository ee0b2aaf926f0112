// The legal pages: which there are, in which versions, and their texts. They are the operator's own
// files, read once, when first asked for. A cabinet asks at its start, and without all of them does
// not start: an agreement to a text that nobody can see would be worth nothing.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { complaintsOf, readYaml } from '../platform/yaml.ts'
import { OwnNo } from './answers.ts'
import type { DocumentLink, DocumentText, Language } from './contract/contract.ts'

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

/** No documents for `none`. Both verbs throw, with all complaints, for a file that is wrong. */
export function readDocuments(file: string): Documents {
  const read: { found?: ReturnType<typeof parse> } = {}
  const found = () => {
    read.found ??= file === 'none' ? [] : parse(file)
    return read.found
  }
  return {
    list: () => found().map(({ texts: _texts, ...link }) => link),
    read(document, language) {
      const one = found().find((known) => known.document === document)
      if (one === undefined) throw new OwnNo('document_unknown', 'There is no such document.')
      const { texts, ...link } = one
      return { ...link, language, markdown: texts[language] }
    },
  }
}

function parse(file: string): (DocumentLink & { texts: Record<Language, string> })[] {
  const yaml = readYaml(readFileSync(file, 'utf8'))
  const read = schema.safeParse(yaml.value)
  if (yaml.complaints.length > 0 || !read.success) {
    const wrong = yaml.complaints.map((one) => `${file}:${one.line}: ${one.sentence}`)
    const more = read.success || wrong.length > 0 ? [] : complaintsOf(read.error, schema)
    const lines = more.map((one) => `${file}:${yaml.lineAt(one.path)}: ${one.sentence}`)
    throw new Error([...wrong, ...lines].join('\n'))
  }
  const load = (name: string) => readFileSync(resolve(dirname(file), name), 'utf8')
  return read.data.documents.map(({ text, ...link }) => ({
    ...link,
    texts: { ru: load(text.ru), en: load(text.en) },
  }))
}
