// Every command that a page prints exists: scripts of npm, their programs by name, and what
// operators type.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createOperator } from '../../src/operator/operator.ts'
import { codeOf, readPages, root } from './pages.ts'

const scripts: Record<string, string> = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
).scripts

/** Scripts that take the name of a program, and the file whose table has the names. */
const TABLES: Readonly<Record<string, string>> = {
  faults: 'test/faults/faults.ts',
  bench: 'bench/bench.ts',
}

const printed = readPages()
  .filter(({ path }) => !path.startsWith('docs/decisions/'))
  .flatMap((page) =>
    codeOf(page).map(({ value, line }) => ({ value, place: `${page.path}:${line} ${value}` })),
  )

test('every script of npm that a page prints exists, with the program it names', () => {
  const runs = printed.flatMap(({ value, place }) =>
    [...value.matchAll(/\bnpm run (?:--silent )?([\w:-]+)(?: -- ([a-z][\w-]*))?/g)].map(
      (match) => ({
        script: match[1] ?? '',
        program: match[2],
        place,
      }),
    ),
  )
  assert.ok(runs.length > 20, 'pages print scripts')
  const wrong = runs.filter(({ script, program }) => {
    if (!Object.hasOwn(scripts, script)) return true
    const table = TABLES[script]
    if (table === undefined || program === undefined) return false
    const line = new RegExp(`^ {2}'?${program}'?: \\(\\) => import\\(`, 'm')
    return !line.test(readFileSync(join(root, table), 'utf8'))
  })
  assert.deepEqual(
    wrong.map(({ place }) => place),
    [],
  )
})

test('every script leads to a file', () => {
  for (const [name, command] of Object.entries(scripts)) {
    const files = command.split(' ').filter((word) => /\.(?:ts|mjs|js)$/.test(word))
    for (const file of files.filter((one) => !one.includes('*'))) {
      assert.ok(existsSync(join(root, file)), `${name}: ${file}`)
    }
  }
})

test('every command for operators that a page prints exists', () => {
  const operator = createOperator(() => Promise.reject(new Error('nothing is run here')))
  const typed = printed.flatMap(({ value, place }) => {
    const words = /(?:^op|\bnpm run op --) ([a-z][a-z -]*)/.exec(value)?.[1]
    return words === undefined ? [] : [{ words: words.trim().split(' '), place }]
  })
  assert.ok(typed.length > 3, 'pages print commands for operators')
  const wrong = typed.filter(({ words }) => !isCommand(operator, words))
  assert.deepEqual(
    wrong.map(({ place }) => place),
    [],
  )
})

/** Follows the words through the sub-commands; words after the last command are its arguments. */
function isCommand(command: Command, [word, ...rest]: readonly string[]): boolean {
  const next = command.commands.find((one) => one.name() === word)
  if (next === undefined) return false
  return rest.length === 0 || next.commands.length === 0 || isCommand(next, rest)
}
