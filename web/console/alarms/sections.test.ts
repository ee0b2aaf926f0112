// Runbooks as sections of the documentation.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { plainText } from '../../ui/markdown/blocks.ts'
import { parseMarkdown } from '../../ui/markdown/parse.ts'
import { findSection, resolveLink, runbookHeadings } from './sections.ts'

const root = join(import.meta.dirname, '../../..')
const runbooks = parseMarkdown(readFileSync(join(root, 'docs/runbooks.md'), 'utf8'))

test('a section ends before the next one, and has those below it', () => {
  const blocks = parseMarkdown('# A\n## B\nb\n```\n## no heading\n```\n### C\nc\n## D\nd\n')
  const { title, blocks: inside = [] } = findSection(blocks, 'b') ?? {}
  assert.equal(title, 'B')
  assert.deepEqual(
    inside.map(({ kind }) => kind),
    ['paragraph', 'code', 'heading', 'paragraph'],
  )
  assert.deepEqual(findSection(blocks, 'c')?.blocks, [{ kind: 'paragraph', inside: ['c'] }])
  assert.equal(findSection(blocks, 'none'), undefined)
})

test('every runbook of the page is found', () => {
  const titles = runbookHeadings(runbooks).map(({ inside }) => plainText(inside))
  assert.ok(titles.includes('An upstream fails'))
  assert.ok(titles.length > 15)
  assert.ok(!titles.includes('Planned work'), 'a part of the page is none')
})

test('links lead to sections that the console shows, and others become text', () => {
  const from = '/repository/docs/operating.md'
  assert.equal(resolveLink('#a-b', from), '/runbooks/operating/a-b')
  assert.equal(resolveLink('payments.md#alarms', from), '/runbooks/payments/alarms')
  assert.equal(resolveLink('../deploy/README.md#y', from), '/runbooks/deploy/y')
  assert.equal(resolveLink('#y', '/repository/deploy/README.md'), '/runbooks/deploy/y')
  for (const unknown of ['request.md#y', 'words.md']) {
    assert.equal(resolveLink(unknown, from), undefined)
  }
  assert.equal(resolveLink('https://a.example', from), 'https://a.example')
})
