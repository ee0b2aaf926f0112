// The pages that newcomers read say what the code does: each table is compared with its source,
// both ways, so that neither can change alone.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { statuses } from '../../src/cabinet/answers.ts'
import { refusalAnswers } from '../../src/gateway/answers.ts'

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

const [api = '', elsewhere = ''] = errors.split('## Not from the API')

/** The codes that the modules list in their refusals.ts. */
async function listedCodes(): Promise<Set<string>> {
  const files = readdirSync(join(root, 'src')).map((name) => join(root, 'src', name, 'refusals.ts'))
  const lists = await Promise.all(files.filter(existsSync).map((file) => import(file)))
  return new Set(lists.flatMap(Object.values).filter(Array.isArray).flat())
}

test('docs/errors.md explains every refusal code once, and no other code', async () => {
  const explained = rowsOf(errors).map(([code]) => code)
  assert.deepEqual(explained.toSorted(), [...(await listedCodes())].toSorted())
})

test('docs/errors.md has the status, type and retry advice of the code', () => {
  type Answer = { status: number; type: string; retryAfterSeconds?: number; forbidsRetry?: true }
  const explained = rowsOf(api).map(([code]) => code)
  assert.deepEqual(explained.toSorted(), Object.keys(refusalAnswers).toSorted())
  for (const [code = '', status, type, retry, when, fix] of rowsOf(api)) {
    const answer: Answer = refusalAnswers[code as keyof typeof refusalAnswers]
    assert.deepEqual([status, type], [String(answer.status), answer.type], code)
    assert.equal(retry, adviceOf(answer), code)
    assert.ok(when !== '' && fix !== '', `${code} has a reason and a fix`)
  }

  // The official libraries retry these by default: 5xx, and answers with a retry-after header.
  function adviceOf({ status, retryAfterSeconds, forbidsRetry }: Answer): string {
    if (forbidsRetry) return 'no (header)'
    if (retryAfterSeconds !== undefined) return `after ${retryAfterSeconds} s`
    return status >= 500 ? 'yes' : 'no'
  }
})

test('refusals outside the API have their status in the cabinet, or a dash', () => {
  for (const [code = '', status, when, fix] of rowsOf(elsewhere)) {
    assert.equal(status, String(statuses[code as keyof typeof statuses] ?? '—'), code)
    assert.ok(when !== '' && fix !== '', `${code} has a reason and a fix`)
  }
})

test('docs/request.md has one section for every step, in order', () => {
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

test('docs/request.md explains every ending of the database once, and no other', () => {
  const schema = readFileSync(join(root, 'migrations/schema.sql'), 'utf8')
  const type = /create type (?:public\.)?ending as enum \(([^)]*)\)/i.exec(schema)?.[1] ?? ''
  const endings = [...type.matchAll(/'(\w+)'/g)].map((one) => one[1])
  assert.ok(endings.length > 0, 'the schema has endings')
  const explained = rowsOf(request).map(([ending]) => ending)
  assert.deepEqual(explained.toSorted(), endings.toSorted())
})

test('every refusal that docs/request.md names exists and has that status', () => {
  const named = [...request.matchAll(/\b([45]\d\d) ((?:`[a-z_]+`(?:, | or )?)+)/g)]
  assert.ok(named.length > 15, 'it names refusals')
  for (const [, status, codes = ''] of named) {
    for (const [, code = ''] of codes.matchAll(/`([a-z_]+)`/g)) {
      const answer = refusalAnswers[code as keyof typeof refusalAnswers]
      assert.equal(String(answer?.status), status, code)
    }
  }
})

test('the figures of the README are those of docs/scale.md, with the same date', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8').split(/^## /m)
  const section = readme.find((one) => one.startsWith('How fast\n')) ?? ''
  const scale = readFileSync(join(root, 'docs/scale.md'), 'utf8')
  const rows = section.split('\n').filter((line) => /^\| .*\d.* \|$/.test(line))
  assert.ok(rows.length > 4, 'the README has figures')
  for (const row of rows) assert.ok(scale.includes(`\n${row} `), row)
  const [date = 'no date'] = /\d+ [A-Z][a-z]+ \d{4}/.exec(section) ?? []
  assert.ok(scale.replace(/\s+/g, ' ').includes(date), date)
})
