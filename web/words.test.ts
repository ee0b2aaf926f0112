// What a reader may rely on in either language: nothing is missing, nothing is left untranslated,
// and nothing is said that is not in words/.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseSync } from 'vite'
import { en } from './words/en/en.ts'
import { ru } from './words/ru/ru.ts'

type Sentences = ReadonlyMap<string, string>

const FORM = /_(?:zero|one|two|few|many|other)$/
const russian = sentencesOf(ru)
const english = sentencesOf(en)

test('both languages have the same sentences', () => {
  const bare = (all: Sentences) => new Set([...all.keys()].map((key) => key.replace(FORM, '')))
  assert.deepEqual([...bare(russian)].sort(), [...bare(english)].sort())
  assert.ok(russian.size > 100)
})

test('a sentence with a number has every form that its language has', () => {
  for (const [language, all] of [
    ['ru', russian],
    ['en', english],
  ] as const) {
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories
    const counted = [...all.keys()].filter((key) => FORM.test(key))
    for (const key of new Set(counted.map((one) => one.replace(FORM, '')))) {
      const missing = forms.filter((form) => !all.has(`${key}_${form}`))
      assert.deepEqual(missing, [], `${language} ${key}`)
    }
  }
})

test('a sentence takes the same values and carries the same links in both languages', () => {
  const marks = (text = '') => new Set(text.match(/\{\{\w+\}\}|<\/?\w+>/g))
  for (const [key, text] of english) {
    const other = russian.get(key)
    if (other !== undefined) assert.deepEqual(marks(other), marks(text), key)
  }
})

test('Russian is written in Russian and English in English', () => {
  // Languages are named in themselves; up to three words may be a name, such as of a tool.
  const isOwn = (key: string) => /^language\./.test(key)
  const hasWords = (text: string) => (text.match(/\p{L}{2,}/gu) ?? []).length > 3
  for (const [key, text] of english) {
    if (!isOwn(key)) assert.doesNotMatch(text, /\p{Script=Cyrillic}/u, key)
  }
  for (const [key, text] of russian) {
    if (!isOwn(key) && hasWords(text)) assert.match(text, /\p{Script=Cyrillic}/u, key)
  }
})

test('no sentence stands in a component', () => {
  const files = globSync('**/*.tsx', { cwd: import.meta.dirname, exclude: ['dist/**'] })
  assert.ok(files.length > 30)
  const found = files.flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8')
    const { program, errors } = parseSync(file, text)
    assert.deepEqual(errors, [], file)
    return literalsIn(program).map((literal) => `${file}: ${literal}`)
  })
  assert.deepEqual(found, [])
})

test('a sentence planted in a component is found', () => {
  const planted =
    '<p title="Two words" className="a b">Hello <b>{x ? "yes sir" : y}</b> · {`t`}</p>'
  const { program } = parseSync('planted.tsx', `const a = ${planted}`)
  assert.deepEqual(literalsIn(program), ['Two words', 'Hello', 'yes sir', 't'])
})

function sentencesOf(words: object, prefix = ''): Sentences {
  const found = Object.entries(words).flatMap(([name, value]): [string, string][] => {
    const key = `${prefix}${name}`
    if (typeof value === 'string') return [[key, value]]
    return [...sentencesOf(value as object, `${key}.`)]
  })
  return new Map(found)
}

/** Attributes whose text is seen or heard. */
const SAID = /^(?:aria-label|aria-description|title|alt|placeholder|label|hint|text|lead|submit)$/

/** What a component says by itself: text between tags, in {…} between tags, in said attributes. */
function literalsIn(node: unknown, isSaid = false): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => literalsIn(one, isSaid))
  if (typeof node !== 'object' || node === null) return []
  const one = node as Record<string, unknown> & { type?: string }
  switch (one.type) {
    case 'JSXText':
      return words(one.value)
    case 'Literal':
      return isSaid ? words(one.value) : []
    case 'TemplateElement':
      return isSaid ? words((one.value as { cooked: string }).cooked) : []
    case 'JSXAttribute': {
      const name = String((one.name as { name?: unknown }).name)
      return literalsIn(one.value, SAID.test(name))
    }
    case 'JSXExpressionContainer':
      return literalsIn(one.expression, isSaid)
    case 'JSXElement':
    case 'JSXFragment':
      return [...literalsIn(one.openingElement), ...literalsIn(one.children, true)]
    case 'ConditionalExpression':
      return [one.test, one.consequent, one.alternate].flatMap((part, at) =>
        literalsIn(part, isSaid && at > 0),
      )
    case 'LogicalExpression':
      return [...literalsIn(one.left), ...literalsIn(one.right, isSaid)]
    case 'TemplateLiteral':
      return [...literalsIn(one.quasis, isSaid), ...literalsIn(one.expressions)]
    default:
      // Arguments of a call, names of keys and the like are not said where they stand.
      return Object.values(one).flatMap((value) => literalsIn(value))
  }
}

function words(value: unknown): string[] {
  const text = typeof value === 'string' ? value.trim() : ''
  return /\p{L}/u.test(text) ? [text] : []
}
