// What a newcomer meets first: `npm run help` lists every script, the editor's settings are those
// of the formatter, the workflow on the code host runs what a merge must pass and only that, and
// the index of decisions is complete.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { groups, helpText } from '../../tools/scripts.ts'
import { readPages, root } from './pages.ts'

const LINE_COLUMNS_MAX = 80
const listed = groups.flatMap(({ scripts }) => Object.entries(scripts))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('npm run help has one line for every script of package.json, and no other line', () => {
  const { scripts } = JSON.parse(read('package.json'))
  assert.deepEqual(listed.map(([name]) => name).toSorted(), Object.keys(scripts).toSorted())
})

test('every line of npm run help says something and fits a terminal', () => {
  for (const [name, line] of listed) assert.match(line, /\w+ \w+/, name)
  for (const line of helpText().split('\n')) {
    assert.ok(line.length <= LINE_COLUMNS_MAX, `${line.length} columns: ${line}`)
  }
})

test('.editorconfig has the settings of the formatter', () => {
  const { formatter } = JSON.parse(read('biome.json'))
  const all = read('.editorconfig').split(/^\[/m)[1] ?? ''
  const settings = Object.fromEntries(
    [...all.matchAll(/^(\w+) = (.*)$/gm)].map(([, name, value]) => [name, value]),
  )
  assert.equal(settings.indent_style, formatter.indentStyle)
  assert.equal(settings.indent_size, String(formatter.indentWidth))
  assert.equal(settings.max_line_length, String(formatter.lineWidth))
})

test('the workflow checks the repository out, runs .ci/run, and does nothing else', () => {
  const { jobs } = parse(read('.github/workflows/ci.yml'))
  const steps: { uses?: string; run?: string }[] = Object.values<{ steps: [] }>(jobs).flatMap(
    (job) => job.steps,
  )
  const done = steps.map(({ uses, run }) => run ?? uses?.split('@')[0])
  assert.deepEqual(done, ['actions/checkout', 'bash .ci/run'])
})

test('the index of decisions lists every record once', () => {
  const records = readdirSync(join(root, 'docs/decisions')).filter((name) => /^\d/.test(name))
  const links = read('docs/decisions/README.md').matchAll(/^\| \[(\d{4})\]\((\1-[\w-]+\.md)\) \|/gm)
  assert.deepEqual(
    [...links].map(([, , name]) => name),
    records.toSorted(),
  )
})

test('the first words of every page say who it is for', () => {
  const pages = readPages()
    .filter(({ path }) => !/^(?:README\.md$|\.github\/|docs\/decisions\/0)/.test(path))
    // A seller's sample documents speak to the seller's customers.
    .filter(({ path }) => !path.startsWith('documents.example/'))
    .map(({ path, prose }) => ({
      path,
      opening: prose.replace(/<!--.*?-->/gs, '').split(/\n\s*\n/)[1],
    }))
  assert.ok(pages.length > 20, 'the pages are found')
  const silent = pages.filter(({ opening = '' }) => !/^\s*(?:For|Для) \S/.test(opening))
  assert.deepEqual(
    silent.map(({ path }) => path),
    [],
  )
})
