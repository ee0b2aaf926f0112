// How our own pages and the operator's documents are read, where a wrong reading would show.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anchorOf, blocksOf, inlinesOf } from './markdown.ts'

test('code keeps its blank lines and its indentation, and what surrounds it is text', () => {
  const text = 'Before:\n\n```ts\nconst a = 1\n\n  const b = 2\n```\n\nAfter.\n'
  assert.deepEqual(blocksOf(text), [
    { kind: 'paragraph', text: 'Before:' },
    { kind: 'code', text: 'const a = 1\n\n  const b = 2' },
    { kind: 'paragraph', text: 'After.' },
  ])
})

test('an indented block is code, and a line of a list that goes on is not', () => {
  const text = 'Formula:\n\n    a = b\n\n    c = d\n\n- one\n    goes on\n'
  assert.deepEqual(blocksOf(text), [
    { kind: 'paragraph', text: 'Formula:' },
    { kind: 'code', text: 'a = b\n\nc = d' },
    { kind: 'list', isOrdered: false, items: ['one goes on'] },
  ])
})

test('a heading can be linked to in either language', () => {
  assert.equal(anchorOf('Held first, charged afterwards'), 'held-first-charged-afterwards')
  assert.equal(anchorOf('Сначала откладываем'), 'сначала-откладываем')
})

test('an address that would run is no link', () => {
  assert.deepEqual(inlinesOf('[a](javascript:alert)'), [
    { kind: 'text', text: '[a](javascript:alert)' },
  ])
})
