// The operators' pages say what commands and pages do: every example is typed again and prints what
// the page shows, every command is explained, every word of the screen is on it, and nothing is
// named that does not exist.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createOperator } from '../../src/operator/operator.ts'
import { en } from '../../web/console/words/en.ts'
import { createOperatingStage, examplesOf, wordsOf } from './operating.ts'

const root = join(import.meta.dirname, '../..')
const source = (path: string) => readFileSync(join(root, path), 'utf8')
const tasks = source('docs/operating.md')
const reference = source('docs/operator-commands.md')
const everything = [tasks, reference, source('docs/runbooks.md')].join('\n')

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

/** What a page has people type: in its examples, and in code marks within its sentences. */
const typedIn = (page: string) => [
  ...[...examplesOf(page, 'console'), ...examplesOf(page, 'text')].map(({ line }) => line),
  ...[...page.matchAll(/`(op [^`]+)`/g)].map(([, line = '']) => line),
]

test('every command that a page types is known, with its options', () => {
  const typed = typedIn(everything)
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
  const named = typedIn(reference).map((line) => wordsOf(line).join(' '))
  for (const command of all) {
    // A family alone does its first command.
    const short = command.replace(/ (?:list|outbox)$/, '')
    const isNamed = named.some((line) => `${line} `.startsWith(`${command} `) || line === short)
    assert.ok(isNamed, command)
  }
})

for (const [name, page] of Object.entries({ tasks, reference })) {
  test(`every example of the ${name} prints what the page shows`, async (t) => {
    const stage = await createOperatingStage()
    t.after(() => stage.end())
    for (const example of examplesOf(page, 'console')) {
      const printed = await stage.type(example)
      const [shown, now] = stage.alike(example.printed, printed)
      assert.deepEqual(now, shown, example.line)
    }
  })
}

test('every task has both ways, and its clicks are words of the screen', () => {
  const words = new Set(textsOf(en).map((text) => text.replace(/: \{\{number\}\}$/, '')))
  const ways = tasks.split('\n\n').filter((text) => text.startsWith('*In the console.*'))
  assert.ok(ways.length > 12, 'tasks have a way in the console')
  const clicked = ways.flatMap((text) => [...text.matchAll(/\*\*([^*]+)\*\*/g)])
  const unknown = clicked.map(([, word = '']) => word.replace(/\s+/g, ' '))
  assert.deepEqual(
    unknown.filter((word) => !words.has(word)),
    [],
  )
  const sections = tasks.split(/^### /m).filter((text) => text.includes('*In the console.*'))
  for (const section of sections) assert.match(section, /`op |^\$ op /m, section.slice(0, 60))
})

/** Every text of a tree of words. */
function textsOf(words: object): string[] {
  return Object.values(words).flatMap((one: unknown) =>
    typeof one === 'string' ? [one] : textsOf(Object(one)),
  )
}

test('every metric is explained, and every line of the log is one that is written', () => {
  const sources = [
    ...['platform/metrics/metrics.ts', 'watch-modules.ts', 'watch-secrets.ts', 'fleet/fleet.ts'],
  ]
  const exporters = ['gateway/gateway.ts', 'gateway/admission.ts', 'acts/acts.ts']
  const metrics = [...sources, ...exporters, 'status/status.ts']
    .map((path) => `src/${path}`)
    .flatMap((path) => [...source(path).matchAll(/'((?:gateway|gen_ai|acts)_\w+)'/g)])
    .flatMap(([, name = '']) => (/_(?:type|model|)$/.test(name) ? [] : [name]))
  const section = source('docs/metrics.md').split('## Metrics and alarms')[1] ?? ''
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
    'src/status/prober.ts',
    'src/upstreams/outcome.ts',
  ]
  const lines = [...files, ...modules].map(source).join('\n')
  for (const line of rows.filter((row) => !isMetric(row))) {
    assert.ok(lines.includes(`'${line}'`), line)
  }
})
