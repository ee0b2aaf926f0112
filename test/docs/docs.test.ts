// The pages that newcomers read say what the code does: each table is compared with its source,
// both ways, so that neither can change alone.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refusals } from '../../src/gateway/refusals.ts'
import { refusalCodes } from '../../src/platform/refusal.ts'

const root = join(import.meta.dirname, '../..')
const errors = readFileSync(join(root, 'docs/errors.md'), 'utf8')
const request = readFileSync(join(root, 'docs/request.md'), 'utf8')

/** The cells of every table row that opens with a name in code marks. */
function rowsOf(page: string): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(1, -1).split('|'))
    .map((cells) => cells.map((cell) => cell.trim().replace(/^`([^`]+)`$/, '$1')))
}

test('every refusal code is explained once, and no other', () => {
  const explained = rowsOf(errors).map(([code]) => code)
  assert.deepEqual(explained.toSorted(), [...refusalCodes].toSorted())
})

test('status, type and the advice on repeating are those of the table in the code', () => {
  type Answer = { status: number; type: string; retryAfterSeconds?: number; isFinal?: true }
  for (const [code = '', status, type, again, when, cure] of rowsOf(errors)) {
    const answer: Answer = refusals[code as keyof typeof refusals]
    assert.deepEqual([status, type], [String(answer.status), answer.type], code)
    assert.equal(again, adviceOf(answer), code)
    assert.ok(when !== '' && cure !== '', `${code} has a reason and a cure`)
  }

  // What the official libraries repeat by themselves, unless told: 5xx, and what has a time.
  function adviceOf({ status, retryAfterSeconds, isFinal }: Answer): string {
    if (isFinal) return 'no (told)'
    if (retryAfterSeconds !== undefined) return `after ${retryAfterSeconds} s`
    return status >= 500 ? 'yes' : 'no'
  }
})

test('every step has its section, in order, and every section its step', () => {
  const files = readdirSync(join(root, 'src/gateway')).filter((name) => /^\d-.*\.ts$/.test(name))
  const steps = files.filter((name) => !name.endsWith('.test.ts')).toSorted()
  const sections = [...request.matchAll(/^## (\d) (\w+)$/gm)].map((one) => `${one[1]}-${one[2]}.ts`)
  assert.deepEqual(sections, steps)
  for (const step of steps) assert.ok(request.includes(`(../src/gateway/${step})`), step)
})

test('each section says what can fail, what the client sees and what the ledger shows', () => {
  const sections = request.split(/^## /m).slice(1, 9)
  const head = '| what happens | what can fail | the client sees | the ledger shows |'
  for (const section of sections) assert.ok(section.includes(head), section.slice(0, 20))
})

test('every ending of the database is explained once, and no other', () => {
  const schema = readFileSync(join(root, 'migrations/schema.sql'), 'utf8')
  const type = /create type (?:public\.)?ending as enum \(([^)]*)\)/i.exec(schema)?.[1] ?? ''
  const endings = [...type.matchAll(/'(\w+)'/g)].map((one) => one[1])
  assert.ok(endings.length > 0, 'the schema has endings')
  const explained = rowsOf(request).map(([ending]) => ending)
  assert.deepEqual(explained.toSorted(), endings.toSorted())
})

test('whatever request.md calls a refusal is one, with its status', () => {
  const named = [...request.matchAll(/\b([45]\d\d) ((?:`[a-z_]+`(?:, | or )?)+)/g)]
  assert.ok(named.length > 15, 'it names refusals')
  for (const [, status, codes = ''] of named) {
    for (const [, code = ''] of codes.matchAll(/`([a-z_]+)`/g)) {
      const answer = refusals[code as keyof typeof refusals]
      assert.equal(String(answer?.status), status, code)
    }
  }
})
