// Every link and path of a page exists: files, headings, paths in code marks. docs/api.md is what
// tools/docs-pages.ts generates from openapi.json.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { listSettings } from '../../src/platform/settings.ts'
import { apiPage, apiTexts } from '../../tools/api-page.ts'
import { settingsPage, settingsTexts } from '../../tools/settings-page.ts'
import { readTranslations } from '../../tools/translations.ts'
import { headingsOf, readDocs, readDocsPage } from '../../web/build/docs/read-docs.ts'
import { docsNames, isDocsName } from '../../web/pages/docs/pages.ts'
import { paths } from '../../web/paths.ts'
import { parseMarkdown } from '../../web/ui/markdown/parse.ts'
import { customerPages, filesOfFolders, languages } from './customer-pages.ts'
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

test('the pages for customers are the same in both languages', () => {
  const [english = [], russian = []] = languages.map(customerPages)
  assert.equal(english.length, docsNames.length)
  for (const [i, original] of english.entries()) {
    const page = russian[i]
    assert.ok(page && /\p{Script=Cyrillic}{4}/u.test(page.text), original.path)
    const examples = ({ fences }: Page) => fences.map(({ text }) => text)
    assert.deepEqual(examples(page), examples(original), page.path)
    assert.deepEqual(shapeOf(page), shapeOf(original), page.path)
  }
  const listed = new Set([...english, ...russian].map(({ path }) => path))
  assert.deepEqual(
    filesOfFolders().filter((path) => !listed.has(path)),
    [],
    'no page of these folders is left out',
  )
})

/** What both languages must have: levels of headings, rows of tables with their codes, lists. */
function shapeOf({ text }: Page): unknown[] {
  return parseMarkdown(text).flatMap((block): unknown[] => {
    if (block.kind === 'heading') return [`heading ${block.level}`]
    if (block.kind === 'list') return [`list of ${block.items.length}`]
    if (block.kind !== 'table') return []
    return [block.head.length, ...block.rows.map(({ id, cells }) => `${id} ${cells.length}`)]
  })
}

test('a section has one address in both languages', () => {
  for (const name of docsNames) {
    const [english = [], russian = []] = languages.map((language) =>
      headingsOf(readDocsPage(name, language).blocks).map(({ id }) => id),
    )
    assert.deepEqual(russian, english, name)
    assert.equal(new Set(english).size, english.length, `${name} has no address twice`)
  }
})

test('a link of a page for customers leads to a page and a section of the cabinet', () => {
  for (const language of languages) {
    const targets = new Set<string>()
    const links: string[] = []
    for (const { name, blocks } of readDocs(language)) {
      targets.add(`/docs/${name}`)
      for (const { id } of headingsOf(blocks)) targets.add(`/docs/${name}#${id}`)
      const all = [...JSON.stringify(blocks).matchAll(/"href":"([^"]+)"/g)].map(([, to = '']) => to)
      links.push(...all.map((to) => (to.startsWith('#') ? `/docs/${name}${to}` : to)))
    }
    const own = links.filter((link) => link.startsWith('/docs/'))
    assert.ok(own.length > 40, `${own.length} links`)
    assert.deepEqual(
      own.filter((link) => !targets.has(link)),
      [],
    )
    const elsewhere = links.filter((link) => link.startsWith('/') && !link.startsWith('/docs/'))
    const known = new Set<string>(Object.values(paths))
    assert.deepEqual(
      elsewhere.filter((link) => !known.has(link)),
      [],
    )
  }
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
    assert.ok(isDocsName(page), page)
  }
})

test('generated pages are those of the current openapi.json and tollgate.example.yaml', () => {
  for (const [name, page] of Object.entries({ api: apiPage, settings: settingsPage })) {
    for (const [language, folder] of [
      ['en', 'docs'],
      ['ru', 'docs/ru'],
    ] as const) {
      const written = readFileSync(join(root, folder, `${name}.md`), 'utf8')
      const isCurrent = written === page(language)
      assert.ok(
        isCurrent,
        `${folder}/${name}.md is behind: node tools/node.mjs tools/docs-pages.ts`,
      )
    }
  }
})

test('no translation is kept whose English text is gone', () => {
  for (const [name, texts] of [
    ['api', apiTexts()],
    ['settings', settingsTexts()],
  ] as const) {
    assert.deepEqual(new Set(readTranslations(name).keys()), new Set(texts), name)
  }
})

test('the page of settings has every setting with its variable', () => {
  const text = readFileSync(join(root, 'docs/settings.md'), 'utf8')
  for (const { name, env } of listSettings())
    assert.ok(text.includes(`| \`${name}\` \`${env}\` |`), name)
})
