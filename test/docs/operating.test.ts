// The operators' page says what the commands do: every example is typed again and prints what the
// page shows, every command is explained, and nothing is named that does not exist.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createOperator } from '../../src/operator/operator.ts'
import { createOperatingStage, examplesOf, wordsOf } from './operating.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/operating.md'), 'utf8')
const source = (path: string) => readFileSync(join(root, path), 'utf8')

const op = createOperator(() => Promise.reject(new Error('nothing is run here')))
const global = op.options.flatMap(({ long }) => long ?? [])

/** Every command that can be typed, as `promo create`. */
const all = op.commands.flatMap((one) =>
  one.commands.length === 0
    ? [one.name()]
    : one.commands.map((child) => `${one.name()} ${child.name()}`),
)

/** The command that these words are for, or undefined. */
function commandOf(words: readonly string[]): Command | undefined {
  const [first = '', second = ''] = words
  const one = op.commands.find((command) => command.name() === first)
  if (one === undefined || one.commands.length === 0) return one
  return one.commands.find((command) => command.name() === second) ?? one
}

/** What the page has people type: in its examples, and in code marks within its sentences. */
const typed = [
  ...[...examplesOf(page, 'console'), ...examplesOf(page, 'text')].map(({ line }) => line),
  ...[...page.matchAll(/`(op [^`]+)`/g)].map(([, line = '']) => line),
]

test('every command that the page types is known, with its options', () => {
  assert.ok(typed.length > 60, 'the page types commands')
  for (const line of typed) {
    const words = wordsOf(line)
    const command = commandOf(words)
    assert.ok(command, line)
    const isFamily = command.commands.length > 0
    assert.ok(!isFamily || words.slice(1).every((word) => word.startsWith('-')), line)
    const known = [...global, ...command.options.flatMap(({ long }) => long ?? [])]
    const given = words.filter((word) => /^--\w/.test(word))
    for (const option of given) assert.ok(known.includes(option), `${line}: ${option}`)
  }
})

test('every command is explained by an example or in a sentence', () => {
  const named = typed.map((line) => wordsOf(line).join(' '))
  for (const command of all) {
    // A family alone does its first command.
    const short = command.replace(/ (?:list|outbox)$/, '')
    const isNamed = named.some((line) => `${line} `.startsWith(`${command} `) || line === short)
    assert.ok(isNamed, command)
  }
})

test('every example prints what the page shows', async (t) => {
  const stage = await createOperatingStage()
  t.after(() => stage.end())
  for (const example of examplesOf(page, 'console')) {
    const printed = await stage.type(example)
    const [shown, now] = stage.alike(example.printed, printed)
    assert.deepEqual(now, shown, example.line)
  }
})

test('every metric is explained, and every line of the log is one that is written', () => {
  const sources = [
    ...['platform/metrics/metrics.ts', 'watch-modules.ts', 'watch-secrets.ts', 'fleet/fleet.ts'],
  ]
  const metrics = [...sources, 'gateway/gateway.ts', 'gateway/admission.ts', 'acts/acts.ts']
    .map((path) => `src/${path}`)
    .flatMap((path) => [...source(path).matchAll(/'((?:gateway|gen_ai|acts)_\w+)'/g)])
    .flatMap(([, name = '']) => (/_(?:type|model|)$/.test(name) ? [] : [name]))
  const section = page.split('## Metrics and alarms')[1] ?? ''
  const rows = [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, name = '']) => name)
  const isMetric = (name: string) => /^(?:gateway|gen_ai|acts)_/.test(name)
  const told = rows.filter(isMetric).map((name) => name.replace(/\{.*/, ''))
  assert.deepEqual(
    told.filter((name) => !name.endsWith('*')).toSorted(),
    [...new Set(metrics)].toSorted(),
  )
  const files = [
    'src/jobs.ts',
    'src/fleet/processes.ts',
    'src/payments/reviews/alarms.ts',
    'src/payments/watch/findings.ts',
    'src/gateway/7-settle.ts',
    'src/gateway/request-log.ts',
  ]
  files.push('src/main.ts', 'src/platform/db/retry.ts', 'src/platform/log.ts')
  files.push('src/platform/hangup.ts')
  const modules = [
    'src/acts/acts.ts',
    'src/keys/shared-attempts.ts',
    'src/operator/run-command.ts',
    'src/ledger/settlement.ts',
    'src/ledger/spool/claim.ts',
    'src/ledger/upkeep/sweep.ts',
    'src/pricing/versions.ts',
    'src/upstreams/outcome.ts',
  ]
  const lines = [...files, ...modules].map(source).join('\n')
  for (const line of rows.filter((row) => !isMetric(row))) {
    assert.ok(lines.includes(`'${line}'`), line)
  }
})

test('every link leads to a file, and to a heading where it names one', () => {
  for (const [, target = '', heading] of page.matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)) {
    const text = source(join('docs', target))
    if (heading === undefined) continue
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
    assert.ok(headings.includes(heading), `${target}#${heading}`)
  }
})
