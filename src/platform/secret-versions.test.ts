// Secrets with a successor, as text: how lists are read, which are refused, and what `config check`
// and production say about them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeConfig, loadConfig } from './config.ts'
import { Masked } from './masked.ts'
import { oldestOf, secretVersionsOf, secretVersionsProblem } from './secret-versions.ts'

const read = (text: string) =>
  secretVersionsOf(new Masked(text)).map(({ id, secret }) => [id, secret.reveal()])

const LONG = 'x'.repeat(32)

test('a text without an id is the secret 1', () => {
  for (const text of ['plain', 'with, a comma: and a colon', 'a1:b,c2:d', '1234:five', '0:zero']) {
    assert.deepEqual(read(text), [[1, text]])
    assert.equal(secretVersionsProblem(text), undefined)
  }
})

test('a list has an id before each secret; the secrets may contain commas and colons', () => {
  assert.deepEqual(read('2:new,'), [[2, 'new']])
  assert.deepEqual(read('1:12:plain,\n'), [[1, '12:plain']])
  assert.deepEqual(read('2:new,1:old'), [
    [2, 'new'],
    [1, 'old'],
  ])
  assert.deepEqual(read('2:new, it is ,\n 1:old: it was\n'), [
    [2, 'new, it is'],
    [1, 'old: it was'],
  ])
  const versions = secretVersionsOf(new Masked('12:c,2:b,3:a'))
  assert.equal(oldestOf(versions).id, 2)
})

test('a list with an id or a secret twice, an empty secret, or too many is refused', () => {
  const problems = ['1:a,1:b', '1:a,2:a', '1:', '1:,', '1:a,2:', '1:a,2:,', '1:a,2:b,3:c,4:d,5:e']
  for (const text of problems) assert.notEqual(secretVersionsProblem(text), undefined, text)
  const loaded = loadConfig({ env: { KEYS_TAG_SECRET: '1:quiet,1:other' } })
  assert.ok('problems' in loaded)
  assert.deepEqual(loaded.problems, [
    'keys.tagSecret (KEYS_TAG_SECRET): has an id twice: a new secret needs a new id',
  ])
})

test('a text that begins like an id and stands alone is refused: it may be a secret', () => {
  for (const text of ['12:30 in the old garden', '2:new', '1:old\n']) {
    const loaded = loadConfig({ env: { KEYS_TAG_SECRET: text } })
    assert.ok('problems' in loaded)
    assert.deepEqual(loaded.problems, [
      'keys.tagSecret (KEYS_TAG_SECRET): begins with a number and a colon and stands alone: if ' +
        'the number is its id, add a comma at the end; if the whole text is the secret, add 1: ' +
        'before it and a comma at the end',
    ])
  }
})

test('config check names secrets in succession, and shows none', () => {
  const env = { ACCOUNTS_SECRET: `2:new${LONG},1:old${LONG}`, KEYS_TAG_SECRET: `2:${LONG},` }
  const loaded = loadConfig({ env, program: 'cabinet' })
  assert.ok(!('problems' in loaded))
  const text = describeConfig(loaded)
  assert.match(text, /^accounts\.secret is in succession: 2 makes, 1 is accepted too$/m)
  assert.equal(/keys\.\w+ is in succession/.test(text) || text.includes(LONG), false)
  // The gateway does not read it, and so knows nothing about it.
  const serve = loadConfig({ env, program: 'serve' })
  assert.ok(!('problems' in serve))
  assert.equal(describeConfig(serve).includes('in succession'), false)
})

test('production refuses a short secret and the development default in a list too', () => {
  const problemsOf = (text: string) => {
    const env = { TOLLGATE_MODE: 'production', KEYS_TAG_SECRET: text }
    const loaded = loadConfig({ env, program: 'serve' })
    return 'problems' in loaded
      ? loaded.problems.filter((one) => one.startsWith('keys.tagSecret'))
      : []
  }
  assert.deepEqual(problemsOf(`2:${LONG},1:${LONG.toUpperCase()}`), [])
  assert.match(problemsOf(`2:${LONG},1:short`).join(), /is shorter than 32 bytes/)
  const fallback = 'development tag secret: never use it in production'
  assert.match(problemsOf(`2:${LONG},1:${fallback}`).join(), /is the development default/)
})

test('a list in which one secret has no id is refused, and not taken for one long secret', () => {
  const texts = [
    'old,2:new',
    'old\n2:new',
    '2:new,old',
    '2:new;1:old',
    '2:new 1:old',
    ' 2:new,1:old',
  ]
  for (const text of texts) assert.match(secretVersionsProblem(text) ?? '', /needs its id/, text)
  for (const text of ['ol,d', '1:ol,d,', '1:ol,d,2:new', '2:new,', 'a:b,c:d'])
    assert.equal(secretVersionsProblem(text), undefined, text)
})
