// Texts for customers name no file of this repository: customers do not have it. The texts are the
// words of the pages, the documentation that the cabinet shows, and the API's own description.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { feedWords } from '../../src/cabinet/api/status/feed-words.ts'
import { en } from '../../web/words/en/en.ts'
import { ru } from '../../web/words/ru/ru.ts'
import { customerPages, languages } from './customer-pages.ts'

const root = join(import.meta.dirname, '../..')
const FILE = /\b(?:src|docs|web|test|tools|migrations|deploy)\/\w|\b[\w-]+\.(?:ya?ml|tsx?|sql|md)\b/

/** The page of settings is for operators, who have the files. */
const pages = languages.flatMap(customerPages).filter(({ path }) => !path.endsWith('/settings.md'))

/** What a reader sees: no comments, and of a link only its label. */
function shownText(markdown: string): string {
  return markdown.replace(/<!--.*?-->/gs, '').replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
}

function sentences(words: object): string[] {
  return Object.values(words).flatMap((value: string | object) =>
    typeof value === 'string' ? [value] : sentences(value),
  )
}

function fileNames(text: string): string[] {
  return text.split('\n').filter((line) => FILE.test(line))
}

test('no page of the cabinet names a file of the repository', () => {
  for (const words of [en, ru]) assert.deepEqual(sentences(words).flatMap(fileNames), [])
})

test('the documentation in the cabinet names no file of the repository', () => {
  assert.ok(pages.length >= 28)
  for (const { path, prose } of pages) assert.deepEqual(fileNames(shownText(prose)), [], path)
})

test('the description of the API names no file of the repository', () => {
  const text = readFileSync(join(root, 'docs/openapi.json'), 'utf8')
  assert.deepEqual(fileNames(text), [])
})

test('the feed of the status page names the parts of the service as the page does', () => {
  assert.deepEqual(feedWords.ru.part, ru.status.part)
  assert.deepEqual(feedWords.en.part, en.status.part)
})
