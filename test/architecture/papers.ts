// The papers of the house: migrations and their checksums, tests for every refusal, a reason for
// every dependency, readable commit subjects, and no trace of the machine a file was written on.
import { createHash } from 'node:crypto'
import type { Finding, House, Rule } from './tree.ts'
import { git, matches } from './tree.ts'

const CHECKSUMS = 'migrations/checksums.json'
const DEPENDENCIES = 'docs/dependencies.md'
const REFUSALS = 'src/platform/refusal.ts'
const SUBJECT_LENGTH_MAX = 72
const COMMITS_CHECKED = 50

export const paperRules: Rule[] = [
  {
    name: 'migration-number',
    promise: 'migrations are numbered from 0001 without gaps',
    check: migrationNumbers,
  },
  {
    name: 'migration-changed',
    promise: 'a recorded migration never changes',
    check: migrationChecksums,
  },
  {
    name: 'refusal-untested',
    promise: 'every refusal code is named by at least one test',
    check: untestedRefusals,
  },
  {
    name: 'dependency-unexplained',
    promise: 'every runtime dependency has its reason written down, and no reason is stale',
    check: unexplainedDependencies,
  },
  {
    name: 'commit-subject',
    promise: 'every commit says `type(room): effect` in at most 72 characters',
    check: commitSubjects,
  },
  {
    name: 'machine-path',
    promise: 'no file names a path of the machine it was written on',
    check: machinePaths,
  },
]

/** The checksum that the record keeps for a migration's text. */
export function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function migrations(house: House): string[] {
  return house.tracked
    .filter((path) => /^migrations\/[^/]+\.sql$/.test(path) && path !== 'migrations/schema.sql')
    .sort()
}

function migrationNumbers(house: House): Finding[] {
  return migrations(house).flatMap((file, index) => {
    const expected = `${index + 1}`.padStart(4, '0')
    const isRight = new RegExp(`^migrations/${expected}-[a-z0-9-]+\\.sql$`).test(file)
    return isRight
      ? []
      : [{ file, line: 1, cure: `the next name is ${expected}-what-it-brings.sql` }]
  })
}

function migrationChecksums(house: House): Finding[] {
  const recorded = JSON.parse(house.read(CHECKSUMS) ?? '{}') as Record<string, string>
  const names = new Set(migrations(house).map((path) => path.slice('migrations/'.length)))
  const gone = Object.keys(recorded).filter((name) => !names.has(name))
  return [
    ...gone.map((name) => ({ file: CHECKSUMS, line: 1, cure: `${name} is gone: bring it back` })),
    ...[...names].flatMap((name) => {
      const file = `migrations/${name}`
      const known = Object.hasOwn(recorded, name) ? recorded[name] : undefined
      if (known === checksum(house.read(file) ?? '')) return []
      const cure =
        known === undefined
          ? 'not recorded: run `node tools/node.mjs tools/checksums.ts`'
          : 'changed after it was recorded: undo that and write a new migration'
      return [{ file, line: 1, cure }]
    }),
  ]
}

function untestedRefusals(house: House): Finding[] {
  const file = house.files.find(({ path }) => path === REFUSALS)
  const start = file?.bare.indexOf('refusalCodes = [') ?? -1
  if (file === undefined || start === -1) return []
  const end = file.bare.indexOf(']', file.bare.indexOf('[', start))
  const tests = house.files.filter(({ isTest, folder }) => isTest && /^(?:src|test)$/.test(folder))
  return matches(file.bare, /'([a-z_]+)'/g)
    .filter(({ match }) => match.index > start && match.index < end)
    .filter(({ match }) => !tests.some(({ bare }) => new RegExp(`\\b${match[1]}\\b`).test(bare)))
    .map(({ line, match }) => ({
      file: REFUSALS,
      line,
      cure: `write a test that gets ${match[1]}`,
    }))
}

type Manifest = {
  [section in 'dependencies' | 'devDependencies' | 'optionalDependencies']?: object
}

function unexplainedDependencies(house: House): Finding[] {
  const manifest = JSON.parse(house.read('package.json') ?? '{}') as Manifest
  const runtime = Object.keys(manifest.dependencies ?? {})
  const all = new Set([
    ...runtime,
    ...Object.keys(manifest.devDependencies ?? {}),
    ...Object.keys(manifest.optionalDependencies ?? {}),
  ])
  const lines = matches(house.read(DEPENDENCIES) ?? '', /^- `([^`]+)`/gm)
  const explained = new Set(lines.map(({ match }) => match[1]))
  return [
    ...runtime
      .filter((name) => !explained.has(name))
      .map((name) => ({ file: DEPENDENCIES, line: 1, cure: `add a line "- \`${name}\`: why"` })),
    ...lines
      .filter(({ match }) => !all.has(match[1] ?? ''))
      .map(({ line, match }) => ({
        file: DEPENDENCIES,
        line,
        cure: `${match[1]} is no dependency any more: delete the line`,
      })),
  ]
}

const SUBJECT =
  /^(?:feat|fix|docs|test|refactor|perf|build|ci|chore|style|revert)\([a-z][\w-]*\): \S.*[^.\s]$/

function commitSubjects(house: House): Finding[] {
  const log = git(house.root, 'log', '--no-merges', `-${COMMITS_CHECKED}`, '--format=%h %s') ?? ''
  return log
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [hash = '', ...words] = line.split(' ')
      // The number that a squash merge appends is not the author's to shorten.
      const subject = words.join(' ').replace(/ \(#\d+\)$/, '')
      if (SUBJECT.test(subject) && [...subject].length <= SUBJECT_LENGTH_MAX) return []
      return [
        { file: `commit ${hash}`, line: 1, cure: `"${subject}" is not \`type(room): effect\`` },
      ]
    })
}

// Put together from parts, so that this file does not report itself.
const TRACES = [['..', 'shared'].join('/'), ['', 'work', ''].join('/')]

function machinePaths(house: House): Finding[] {
  return house.tracked.flatMap((file) => {
    const text = house.read(file) ?? ''
    if (!TRACES.some((trace) => text.includes(trace)) || text.includes('\0')) return []
    return text.split('\n').flatMap((line, index) => {
      const isTrace = TRACES.some((trace) => new RegExp(`(?<!\\w)${escaped(trace)}`).test(line))
      return isTrace ? [{ file, line: index + 1, cure: 'say it without the path' }] : []
    })
  })
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
