// What a rendered page consists of: the language that its reader wants, the places of index.html,
// and tags that no text can break out of. test/journeys/front.browser.ts reads the pages in a
// browser.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { quiet } from '../../../test/support/harness.ts'
import { paths } from '../../../web/paths.ts'
import { systemClock } from '../../platform/clock.ts'
import { robotsText } from './crawlers.ts'
import { headOf } from './head.ts'
import { acceptedLanguage, languageIn } from './language.ts'
import { openSite } from './site.ts'
import { openTemplate } from './template.ts'

test('the language is the first of ours that the browser prefers, else Russian', () => {
  for (const [header, language] of [
    [undefined, 'ru'],
    ['de-DE,de;q=0.9', 'ru'],
    ['en-GB,en;q=0.9,ru;q=0.8', 'en'],
    ['ru;q=0.5, en', 'en'],
    ['en;q=0, ru;q=0.1', 'ru'],
    ['de, en;q=0.3, ru;q=0.2', 'en'],
    [';;;,q=,=', 'ru'],
  ] as const) {
    assert.equal(acceptedLanguage(header), language, `${header}`)
  }
  assert.equal(languageIn('a=b; language=en; c=d', 'cookie'), 'en')
  assert.equal(languageIn('mylanguage=en', 'cookie'), undefined)
  assert.equal(languageIn('fr'), undefined)
})

test('a text with markup stays text in the tags and in the data of a page', () => {
  const evil = `"><script>alert(1)</script>$&`
  const head = headOf({
    ...{ origin: 'https://example.org', path: '/', language: 'ru', isExplicit: false },
    ...{ siteName: evil, title: evil, description: evil },
  })
  assert.doesNotMatch(head, /<script|content=""/)
  const html = openTemplate(INDEX).fill({
    ...{ language: 'en', head, isListed: true },
    body: { html: '<p>$& text</p>', state: JSON.stringify(['</script><script>alert(1)']) },
  })
  assert.equal(html.match(/<script/g)?.length, 1)
  assert.ok(html.includes('<p>$& text</p>'))
  const [, state = ''] = /id="server-state">([^<]*)<\/script>/.exec(html) ?? []
  assert.deepEqual(JSON.parse(state), ['</script><script>alert(1)'])
  assert.match(html, /<html lang="en" data-rendered>/)
  assert.doesNotMatch(html, /noindex|noscript|…/)
})

test('a path of no page is said to be missing, and never leads to another site', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-site-'))
  try {
    await mkdir(join(directory, 'server'))
    await writeFile(join(directory, 'server/render.js'), RENDERER)
    const pageFor = await openSite(
      {
        ...{ clock: systemClock, log: quiet, cabinetUrl: 'https://example.org', name: 'A' },
        ...{ documents: { list: () => [] } as never, read: async () => ({}) },
      },
      directory,
      INDEX,
    )
    const made = (url: string) => pageFor({ url, headers: {} } as FastifyRequest)
    for (const url of [
      '//',
      '///',
      '//[',
      '//a:b/',
      '//:80/?x',
      '*',
      '',
      '?',
      '//evil.example/prices',
      '//evil.example/',
      '/nothing-here',
      '/orders',
      '/orders/1/2',
      '/prices/deeper',
      '/prices//',
    ]) {
      assert.deepEqual(await made(url), { isMissing: true }, url)
    }
    for (const url of ['/packs', '/packs?pack=small', '/Packs', '/orders/1']) {
      assert.equal(await made(url), undefined, url)
    }
    assert.deepEqual(await made('/prices/'), { movedTo: '/prices' })
    assert.deepEqual(await made('/orders/1/?a=b'), { movedTo: '/orders/1' })
    for (const url of [
      '/prices',
      '/prices?',
      '/prices?a=b?c',
      '/prices?lang=en&%',
      '/robots.txt?x',
    ]) {
      const answer = await made(url)
      assert.ok(answer !== undefined && 'page' in answer, url)
      assert.equal(answer.page.bytes.includes('evil'), false, url)
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

const RENDERER = `export const createRenderer = () => ({
  paths: ['/prices'], unlisted: [], withQuery: ['/prices'], moved: {},
  byBrowsers: ['/packs', '/orders/$id'],
  render: async () => ({ title: 'A', description: '', html: '', state: '{}' }),
})`

test('no data of a page ends its block, begins another one or breaks its JSON', () => {
  for (const evil of [
    '</script><script>ran=1</script>',
    '</SCRIPT ><img src=x onerror=ran=1>',
    '<!--<script>',
    ']]><svg onload=ran=1>',
    'two\u2028lines\u2029and "quotes" \\ $& $1',
  ]) {
    const html = pageWith(JSON.stringify([evil]))
    assert.deepEqual(blocksOf(html), [[evil]], evil)
  }
  // The search itself finds a block that was broken out of.
  const planted = pageWith('STATE').replace('STATE', '["</script><script>ran=1</script>"]')
  assert.throws(() => blocksOf(planted), /JSON|block/)
})

/** A page with this data. */
function pageWith(state: string): string {
  const body = { html: '<p>text</p>', state }
  return openTemplate(INDEX).fill({ language: 'en', head: '', isListed: true, body })
}

/** The data blocks of a page as an HTML parser finds them; throws when other scripts are there. */
function blocksOf(html: string): unknown[] {
  return [...html.matchAll(/<script([^>]*)>([\s\S]*?)<\/script/gi)].map(
    ([, tag = '', data = '']) => {
      assert.equal(tag, ' type="application/json" id="server-state"', 'only the data block')
      assert.doesNotMatch(data, /</)
      return JSON.parse(data)
    },
  )
}

test('a page without a body keeps the place of the application, and is not listed', () => {
  const html = openTemplate(INDEX).fill({
    language: 'ru',
    head: '<title>A</title>',
    isListed: false,
  })
  assert.equal(
    html,
    INDEX.replace('<meta name="description" content="" />', '<title>A</title>').replace(
      '<title>…</title>',
      '',
    ),
  )
})

test('search engines are kept from every page that needs the code of an e-mail', async () => {
  const hidden = robotsText('https://example.org')
    .split('\n')
    .flatMap((line) => /^Disallow: (.+)$/.exec(line)?.[1] ?? [])
  const links = await pagesWithCode()
  // One that reads the code itself, and one whose form does.
  for (const known of [paths.unsubscribe, paths.stopRecovery]) assert.ok(links.includes(known))
  for (const link of links) {
    assert.ok(
      hidden.some((path) => link.startsWith(path)),
      link,
    )
  }
  assert.ok(!hidden.some((path) => '/docs/errors'.startsWith(path)))
})

/** Addresses of pages that read a code from their link, or have a part beside them that does. */
async function pagesWithCode(): Promise<string[]> {
  const web = join(import.meta.dirname, '../../../web')
  const routes = (await readFile(join(web, 'routes.tsx'), 'utf8')).split('createRoute({').slice(1)
  const pages = routes.flatMap((route) => {
    const name = /\bpath: paths\.(\w+)/.exec(route)?.[1] as keyof typeof paths | undefined
    const file = /\bimport\('(\.\/pages\/[^']+)'\)/.exec(route)?.[1]
    return name === undefined || file === undefined ? [] : [{ name, file: join(web, file) }]
  })
  const needed = await Promise.all(pages.map(async ({ file }) => needsCode(file)))
  return pages.filter((_, i) => needed[i]).map(({ name }) => paths[name])
}

async function needsCode(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8')
  if (text.includes('codeInHash')) return true
  const beside = [...text.matchAll(/ from '(\.\/[^']+)'/g)].map(([, path = '']) => path)
  const found = await Promise.all(beside.map((path) => needsCode(join(dirname(file), path))))
  return found.includes(true)
}

test('the cabinet does not start with an index.html that lacks a place', () => {
  assert.throws(() => openTemplate(INDEX.replace('noindex', 'index')), /noindex/)
})

const INDEX = `<!doctype html>
<html lang="ru">
  <head>
    <meta name="description" content="" />
    <meta name="robots" content="noindex" />
    <title>…</title>
  </head>
  <body>
    <div id="app"></div>
    <noscript>Turn on JavaScript.</noscript>
  </body>
</html>
`
