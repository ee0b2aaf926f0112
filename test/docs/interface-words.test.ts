// The texts that owners read use the words of docs/interface-words.md, and none that it rules out.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from './pages.ts'

const read = (file: string) => readFileSync(join(root, file), 'utf8')

test('no text for owners uses a word that the glossary rules out', () => {
  const texts = 'src/**/{words,templates-en,templates-ru,emails}.ts'
  const files = globSync(['web/words/{en,ru}/*.ts', texts], { cwd: root })
  assert.ok(files.includes('src/accounts/emails/templates-en.ts'))
  const rows = read('docs/interface-words.md').match(/^\|.*\|$/gm) ?? []
  const ruledOut = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, word]) => word))
  assert.ok(files.length > 25 && ruledOut.length > 30)
  const wrong = new RegExp(`(?<!\\p{L})(?:${ruledOut.join('|')})(?!\\p{L})`, 'iu')
  const found = files.flatMap((file) =>
    // Literals that are keys or paths have no space and begin with a small letter or a dot.
    [...read(file).matchAll(/'((?:[^'\\\n]|\\.)*)'|`([^`]*)`/g)]
      .map(([, quoted, template]) => (quoted ?? template ?? '').replace(/\$?\{+.*?\}+/g, ''))
      .filter((text) => /\s|^\p{Lu}/u.test(text) && wrong.test(text))
      .map((text) => `${file}: “${wrong.exec(text)?.[0]}” in “${text}”`),
  )
  assert.deepEqual(found, [])
})
