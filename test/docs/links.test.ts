// Every link and path of a page exists: files, headings, paths in code marks. docs/api.md is what
// tools/api-docs.ts generates from openapi.json.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { apiPage } from '../../tools/api-page.ts'
import { anchorsOf, codeOf, linksOf, type Page, readPages, root } from './pages.ts'

const pages = readPages()
const byPath = new Map(pages.map((page) => [page.path, page]))

test('every link of every page leads to a file, and to a heading of it', () => {
  assert.ok(pages.length > 30, 'the pages are found')
  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter(({ value }) => !/^(?:https?|mailto):/.test(value))
      .filter(({ value }) => !isThere(page, value))
      .map(({ value, line }) => `${page.path}:${line} ${value}`),
  )
  assert.deepEqual(broken, [])
})

function isThere(page: Page, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const path = file === '' ? page.path : normalize(join(dirname(page.path), file))
  if (!existsSync(join(root, path))) return false
  const target = byPath.get(path)
  return anchor === undefined || target === undefined || anchorsOf(target).has(anchor)
}

/** What the repository itself has at its top; other paths belong to other projects. */
const TOP = /^(?:src|web|test|docs|tools|bench|migrations|stand-ins|\.ci)\/[\w./*-]+$/
/** Created by a build or a run. */
const MADE = /^(?:web\/dist|\.tollgate|\.screens)\b/

test('every path that a page names in code marks exists', () => {
  const named = pages
    // Decision records are not edited when a file moves.
    .filter(({ path }) => !path.startsWith('docs/decisions/'))
    .flatMap((page) =>
      codeOf(page)
        .flatMap(({ value, line }) => value.split(/[\s,;()]+/).map((word) => ({ word, line })))
        .filter(({ word }) => TOP.test(word) && !MADE.test(word))
        .map(({ word, line }) => ({ word, place: `${page.path}:${line} ${word}` })),
    )
  assert.ok(named.length > 20, `pages name paths (${named.length})`)
  const missing = named.filter(({ word }) => globSync(word, { cwd: root }).length === 0)
  assert.deepEqual(
    missing.map(({ place }) => place),
    [],
  )
})

test('a page in another language has the sections and the examples of its original', () => {
  const translated = pages.filter(({ path }) => path.startsWith('docs/ru/'))
  assert.ok(translated.length > 1, 'there are such pages')
  for (const page of translated) {
    const original = byPath.get(page.path.replace('docs/ru/', 'docs/'))
    assert.ok(original, page.path)
    const examples = ({ fences }: Page) => fences.map(({ text }) => text)
    assert.deepEqual(examples(page), examples(original), page.path)
    assert.equal(anchorsOf(page).size, anchorsOf(original).size, page.path)
  }
})

test('every page of the documentation that the cabinet offers is written', () => {
  const source = readFileSync(join(root, 'web/pages/Docs.tsx'), 'utf8')
  const list = /const names = \[([^\]]+)\]/.exec(source)?.[1] ?? ''
  const names = [...list.matchAll(/'([\w-]+)'/g)].map(([, name]) => `docs/${name}.md`)
  assert.ok(names.length > 3, 'the cabinet offers pages')
  for (const name of names) assert.ok(byPath.has(name), name)
})

test('llms.txt names paths of the contract, and pages of the cabinet', () => {
  const text = readFileSync(join(root, 'web/public/llms.txt'), 'utf8')
  const { paths } = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'))
  const named = [...text.matchAll(/`(GET|POST) (\/[\w/.]+)`/g)]
  assert.ok(named.length > 3, 'it names paths')
  for (const [, method = '', path = ''] of named) {
    assert.ok(paths[path]?.[method.toLowerCase()], `${method} ${path}`)
  }
  for (const [, page = ''] of text.matchAll(/\]\(\/docs\/([\w-]+)\)/g)) {
    assert.ok(byPath.has(`docs/${page}.md`), page)
  }
})

test('docs/api.md is generated from the current openapi.json', () => {
  const written = readFileSync(join(root, 'docs/api.md'), 'utf8')
  assert.ok(written === apiPage(), 'docs/api.md is behind: node tools/node.mjs tools/api-docs.ts')
})
