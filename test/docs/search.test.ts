// The search of the documentation finds every error code and every setting, by its own name and by
// that of its variable, and words in other forms than the text has them; in both languages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listSettings } from '../../src/platform/settings.ts'
import { readDocs } from '../../web/build/docs/read-docs.ts'
import { searchIndexOf } from '../../web/build/docs/search-index.ts'
import { createFind } from '../../web/pages/docs/search/find.ts'
import { customerPages, languages } from './customer-pages.ts'

/** The index of a language, compressed, must stay small: readers load it for their first search. */
const INDEX_BYTES_MAX = 1_000_000

/** The codes of docs/errors.md, which docs.test.ts compares with the modules. */
const codes = customerPages('en')
  .filter(({ path }) => path === 'docs/errors.md')
  .flatMap(({ text }) => [...text.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code = '']) => code))

for (const language of languages) {
  const index = searchIndexOf(readDocs(language))
  const find = createFind(index)

  test(`${language}: finds every error code first`, () => {
    assert.ok(codes.length > 90, `${codes.length} codes`)
    for (const code of codes) {
      assert.equal(find(code)[0]?.id, `/docs/errors#${code}`, code)
    }
  })

  test(`${language}: finds every setting first, by both of its names`, () => {
    const settings = listSettings()
    assert.ok(settings.length > 150, `${settings.length} settings`)
    for (const { name, env } of settings) {
      for (const question of [name, env]) {
        assert.equal(find(question)[0]?.id, `/docs/settings#${name}`, question)
      }
    }
  })

  test(`${language}: the index is small`, () => {
    assert.ok(index.length < INDEX_BYTES_MAX, `${index.length} characters`)
  })
}

test('finds a Russian word in another form, and a word that is not typed to its end', () => {
  const find = createFind(searchIndexOf(readDocs('ru')))
  const pagesOf = (question: string) => find(question).map(({ page }) => page)
  assert.ok(pagesOf('резервированием').includes('charging'))
  assert.ok(pagesOf('возвратами').includes('charging'))
  assert.ok(pagesOf('идемпот').includes('api'))
  assert.ok(pagesOf('LangChian').includes('langchain'), 'with a slip')
})
