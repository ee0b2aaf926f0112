// Open redirects after a sign-in, and unsafe links in documents.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeNext } from './paths.ts'
import { blocksOf, inlinesOf } from './ui/markdown/markdown.ts'

test('leads from a sign-in to our own pages and to no other site', () => {
  assert.equal(safeNext('/security?tab=1'), '/security?tab=1')
  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', 'x', 1, null]) {
    assert.equal(safeNext(next), '/')
  }
  for (const hidden of ['\t', '\n', '\r']) assert.equal(safeNext(`/${hidden}/evil.example`), '/')
})

test('reads a document into blocks', () => {
  const kinds = blocksOf(
    '# A\ntext **b**\n\n- one\n- two\n  more\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---',
  )
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['heading', 'paragraph', 'list', 'table', 'rule'],
  )
  assert.deepEqual(kinds[2], { kind: 'list', isOrdered: false, items: ['one', 'two more'] })
})

test('leaves a link that would run a script as text', () => {
  const linked = (text: string) => inlinesOf(text).filter(({ kind }) => kind === 'link').length
  assert.equal(
    linked('[a](https://example.org) [b](/documents/offer) [c](mailto:x@example.org)'),
    3,
  )
  assert.equal(linked('[a](javascript:alert(1)) [b](data:text/html,x) [c](//evil.example)'), 0)
})
