// Parsing of our own pages and the operator's documents.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anchorOf, blocksOf, inlinesOf } from './markdown.ts'

test('keeps blank lines and indentation of code, and reads what surrounds it as text', () => {
  const text = 'Before:\n\n```ts\nconst a = 1\n\n  const b = 2\n```\n\nAfter.\n'
  assert.deepEqual(blocksOf(text), [
    { kind: 'paragraph', text: 'Before:' },
    { kind: 'code', text: 'const a = 1\n\n  const b = 2' },
    { kind: 'paragraph', text: 'After.' },
  ])
})

test('reads an indented block as code, but not the continued line of a list', () => {
  const text = 'Formula:\n\n    a = b\n\n    c = d\n\n- one\n    goes on\n'
  assert.deepEqual(blocksOf(text), [
    { kind: 'paragraph', text: 'Formula:' },
    { kind: 'code', text: 'a = b\n\nc = d' },
    { kind: 'list', isOrdered: false, items: ['one goes on'] },
  ])
})

test('makes an anchor of a heading in either language', () => {
  assert.equal(anchorOf('Held first, charged afterwards'), 'held-first-charged-afterwards')
  assert.equal(anchorOf('Сначала откладываем'), 'сначала-откладываем')
})

test('makes no link of an address that would run a script', () => {
  assert.deepEqual(inlinesOf('[a](javascript:alert)'), [
    { kind: 'text', text: '[a](javascript:alert)' },
  ])
})
