// The operator's legal documents: a wrong list or a missing text is an error.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readDocuments } from './documents.ts'

const at = { directory: '' }
before(async () => {
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-documents-'))
  await writeFile(join(at.directory, 'text.md'), '# Text\n')
})
after(() => rm(at.directory, { recursive: true, force: true }))

async function readWritten(yaml: string) {
  const file = join(at.directory, 'documents.yaml')
  await writeFile(file, yaml)
  const documents = readDocuments(file)
  documents.list()
  return documents
}

const one = (more: string) => `documents:
  - document: offer
    version: 3
    isRequired: true
    title: { ru: Оферта, en: Offer }
${more}
`

test('a version may be written as a number, and no file means no documents', async () => {
  const documents = await readWritten(one('    text: { ru: text.md, en: text.md }'))
  assert.equal(documents.list()[0]?.version, '3')
  assert.equal(documents.read('offer', 'ru').markdown, '# Text\n')
  assert.deepEqual(readDocuments('none').list(), [])
})

test('a wrong file or a missing text is an error that names file and line', async () => {
  await assert.rejects(
    readWritten(one('    text: { ru: text.md }')),
    /documents\.yaml:6: is missing/,
  )
  await assert.rejects(readWritten(one('    texts: x')), /the nearest known one is text/)
  await assert.rejects(readWritten('documents: ['), /documents\.yaml:1/)
  await assert.rejects(readWritten(one('    text: { ru: text.md, en: gone.md }')), /gone\.md/)
})

test('the sample documents of the demo are complete, and each says that it is a sample', () => {
  const samples = readDocuments(join(import.meta.dirname, '../../documents.example/documents.yaml'))
  const names = samples.list().map(({ document }) => document)
  assert.deepEqual(names, ['offer', 'privacy', 'consent', 'refunds'])
  for (const name of names) {
    assert.match(samples.read(name, 'ru').markdown, /^\*\*Это образец для демонстрации\.\*\*/)
    assert.match(samples.read(name, 'en').markdown, /^\*\*This is a sample for demonstration/)
  }
})
