// Parsing of our own pages and the operator's documents.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anchorOf, parseMarkdown } from './parse.ts'

test('keeps blank lines and indentation of code, and reads what surrounds it as text', () => {
  const text = 'Before:\n\n```ts\nconst a = 1\n\n  const b = 2\n```\n\nAfter.\n'
  assert.deepEqual(parseMarkdown(text), [
    { kind: 'paragraph', inside: ['Before:'] },
    { kind: 'code', language: 'ts', text: 'const a = 1\n\n  const b = 2' },
    { kind: 'paragraph', inside: ['After.'] },
  ])
})

test('reads an indented block as code, but not the continued line of a list', () => {
  const text = 'Formula:\n\n    a = b\n\n    c = d\n\n- one\n    goes on\n'
  assert.deepEqual(parseMarkdown(text), [
    { kind: 'paragraph', inside: ['Formula:'] },
    { kind: 'code', language: '', text: 'a = b\n\nc = d' },
    { kind: 'list', items: [[{ kind: 'paragraph', inside: ['one goes on'] }]] },
  ])
})

test('reads lists within lists, marks within marks, and bars within cells', () => {
  const text = '1. **a *b* `c`**\n   - d\n\n| x |\n|---|\n| `p` \\| q |\n'
  assert.deepEqual(parseMarkdown(text), [
    {
      kind: 'list',
      start: 1,
      items: [
        [
          {
            kind: 'paragraph',
            inside: [
              {
                kind: 'bold',
                inside: ['a ', { kind: 'italic', inside: ['b'] }, ' ', { kind: 'code', text: 'c' }],
              },
            ],
          },
          { kind: 'list', items: [[{ kind: 'paragraph', inside: ['d'] }]] },
        ],
      ],
    },
    { kind: 'table', head: [['x']], rows: [{ cells: [[{ kind: 'code', text: 'p' }, ' | q']] }] },
  ])
})

test('makes an anchor of a heading in either language, and none twice', () => {
  assert.equal(anchorOf('Held first, charged afterwards'), 'held-first-charged-afterwards')
  assert.equal(anchorOf('Сначала откладываем'), 'сначала-откладываем')
  const ids = parseMarkdown('# A\n## `b` c\n## A\n').map((one) => one.kind === 'heading' && one.id)
  assert.deepEqual(ids, ['a', 'b-c', 'a-1'])
})

test('gives a row of an error code an address, and other rows none', () => {
  const [codes, others] = parseMarkdown(
    '| code | x |\n|---|---|\n| `key_missing` | y |\n\n| name |\n|---|\n| `z` |\n',
  )
  assert.ok(codes?.kind === 'table' && others?.kind === 'table')
  assert.equal(codes.rows[0]?.id, 'key_missing')
  assert.equal(others.rows[0]?.id, undefined)
})

test('makes no link of an address that would run a script, and no element of HTML', () => {
  const script = ['javas', 'cript:alert(1)'].join('')
  assert.deepEqual(parseMarkdown(`[a](${script}) [b](//c.example) <b onclick="x">d</b>\n`), [
    { kind: 'paragraph', inside: ['a b <b onclick="x">d</b>'] },
  ])
  assert.deepEqual(parseMarkdown('<script>alert(1)</script>\n\n<!-- not shown -->\n'), [
    { kind: 'paragraph', inside: ['<script>alert(1)</script>'] },
  ])
})

test('leads links where the page wants them, and keeps the words of others', () => {
  const resolve = (href: string) => (href === 'b.md' ? '/docs/b' : undefined)
  assert.deepEqual(parseMarkdown('[x](b.md) and [y](c.md)\n', resolve), [
    {
      kind: 'paragraph',
      inside: [{ kind: 'link', href: '/docs/b', inside: ['x'] }, ' and y'],
    },
  ])
})
