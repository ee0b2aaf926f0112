// Both languages are complete and translated, and no component contains text of its own.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseSync } from 'vite'
import { en as consoleEn } from './console/words/en.ts'
import { ru as consoleRu } from './console/words/ru.ts'
import { en } from './words/en/en.ts'
import { ru } from './words/ru/ru.ts'

type Sentences = ReadonlyMap<string, string>

const FORM = /_(?:zero|one|two|few|many|other)$/
/** The words of the cabinet and of the console. */
const applications = [
  { russian: sentencesOf(ru), english: sentencesOf(en) },
  { russian: sentencesOf(consoleRu), english: sentencesOf(consoleEn) },
]

test('has the same sentences in both languages', () => {
  const bare = (all: Sentences) => new Set([...all.keys()].map((key) => key.replace(FORM, '')))
  for (const { russian, english } of applications) {
    assert.deepEqual([...bare(russian)].sort(), [...bare(english)].sort())
    assert.ok(russian.size > 100)
  }
})

test('has every plural form of the language for a sentence with a number', () => {
  const pairs = applications.flatMap(({ russian, english }) => [
    ['ru', russian] as const,
    ['en', english] as const,
  ])
  for (const [language, all] of pairs) {
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories
    const counted = [...all.keys()].filter((key) => FORM.test(key))
    for (const key of new Set(counted.map((one) => one.replace(FORM, '')))) {
      const missing = forms.filter((form) => !all.has(`${key}_${form}`))
      assert.deepEqual(missing, [], `${language} ${key}`)
    }
  }
})

test('uses the same values and links in both languages', () => {
  const marks = (text = '') => new Set(text.match(/\{\{\w+\}\}|<\/?\w+>/g))
  for (const { russian, english } of applications) {
    for (const [key, text] of english) {
      const other = russian.get(key)
      if (other !== undefined) assert.deepEqual(marks(other), marks(text), key)
    }
  }
})

test('writes Russian in Russian and English in English', () => {
  // Each language is named in itself; up to three words may be a name, such as that of a tool.
  const isOwn = (key: string) => /^language\./.test(key)
  const hasWords = (text: string) => (text.match(/\p{L}{2,}/gu) ?? []).length > 3
  for (const { russian, english } of applications) {
    for (const [key, text] of english) {
      if (!isOwn(key)) assert.doesNotMatch(text, /\p{Script=Cyrillic}/u, key)
    }
    for (const [key, text] of russian) {
      if (!isOwn(key) && hasWords(text)) assert.match(text, /\p{Script=Cyrillic}/u, key)
    }
  }
})

test('keeps sentences out of components', () => {
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

test('finds a sentence planted in a component', () => {
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

/** Attributes whose text users see or hear. */
const SHOWN = /^(?:aria-label|aria-description|title|alt|placeholder|label|hint|text|lead|submit)$/

/** Text literals of a component: between tags, in {…} between tags, and in visible attributes. */
function literalsIn(node: unknown, isVisible = false): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => literalsIn(one, isVisible))
  if (typeof node !== 'object' || node === null) return []
  const one = node as Record<string, unknown> & { type?: string }
  switch (one.type) {
    case 'JSXText':
      return words(one.value)
    case 'Literal':
      return isVisible ? words(one.value) : []
    case 'TemplateElement':
      return isVisible ? words((one.value as { cooked: string }).cooked) : []
    case 'JSXAttribute': {
      const name = String((one.name as { name?: unknown }).name)
      return literalsIn(one.value, SHOWN.test(name))
    }
    case 'JSXExpressionContainer':
      return literalsIn(one.expression, isVisible)
    case 'JSXElement':
    case 'JSXFragment':
      return [...literalsIn(one.openingElement), ...literalsIn(one.children, true)]
    case 'ConditionalExpression':
      return [one.test, one.consequent, one.alternate].flatMap((part, at) =>
        literalsIn(part, isVisible && at > 0),
      )
    case 'LogicalExpression':
      return [...literalsIn(one.left), ...literalsIn(one.right, isVisible)]
    case 'TemplateLiteral':
      return [...literalsIn(one.quasis, isVisible), ...literalsIn(one.expressions)]
    default:
      // Users do not see arguments of calls, names of keys and the like.
      return Object.values(one).flatMap((value) => literalsIn(value))
  }
}

function words(value: unknown): string[] {
  const text = typeof value === 'string' ? value.trim() : ''
  return /\p{L}/u.test(text) ? [text] : []
}
