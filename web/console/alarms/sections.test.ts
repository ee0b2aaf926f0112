// Runbooks as sections of the documentation.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { adaptLinks, findSection, runbookTitles } from './sections.ts'

const root = join(import.meta.dirname, '../../..')
const runbooks = readFileSync(join(root, 'docs/runbooks.md'), 'utf8')

test('a section ends before the next one, and has those below it', () => {
  const text = '# A\n## B\nb\n```\n## no heading\n```\n### C\nc\n## D\nd\n'
  assert.deepEqual(findSection(text, 'b'), {
    ...{ title: 'B', text: 'b\n```\n## no heading\n```\n### C\nc' },
  })
  assert.equal(findSection(text, 'c')?.text, 'c')
  assert.equal(findSection(text, 'none'), undefined)
})

test('every runbook of the page is found', () => {
  const titles = runbookTitles(runbooks)
  assert.ok(titles.includes('An upstream fails'))
  assert.ok(titles.length > 15)
  assert.ok(!titles.includes('Planned work'), 'a part of the page is none')
})

test('links lead to sections that the console shows, and others become text', () => {
  assert.equal(adaptLinks('[x](#a-b)', 'operating'), '[x](/runbooks/operating/a-b)')
  assert.equal(adaptLinks('[x](payments.md#alarms)', 'operating'), '[x](/runbooks/payments/alarms)')
  assert.equal(adaptLinks('[x](../deploy/README.md#y)', 'operating'), '[x](/runbooks/deploy/y)')
  assert.equal(adaptLinks('[x](request.md#y) [z](words.md)', 'operating'), 'x z')
  assert.equal(adaptLinks('[x](https://a.example)', 'operating'), '[x](https://a.example)')
})
