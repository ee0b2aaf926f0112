// Checks migrations and their checksums, a test for every refusal, a reason for every dependency,
// commit subjects, and that no file names a path of the author's machine.
import { createHash } from 'node:crypto'
import type { Finding, Repository, Rule } from './tree.ts'
import { git, matches } from './tree.ts'

const CHECKSUMS = 'migrations/checksums.json'
const DEPENDENCIES = 'docs/dependencies.md'
/** Texts beside the migrations: what they make of the database, and who may do what in it. */
const HELPERS = new Set(['migrations/schema.sql', 'migrations/roles.sql'])
/** Where a module lists the codes that it raises. */
const REFUSALS = /^src\/[^/]+\/refusals\.ts$/
const SUBJECT_LENGTH_MAX = 72
const COMMITS_CHECKED = 50

export const documentRules: Rule[] = [
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
    name: 'refusal-unlisted',
    promise: 'every refusal is raised with a code from the list of its module',
    check: unlistedRefusals,
  },
  {
    name: 'dependency-unexplained',
    promise: 'docs/dependencies.md has a reason for every runtime dependency, and no stale one',
    check: unexplainedDependencies,
  },
  {
    name: 'commit-subject',
    promise: 'every commit says `type(module): effect` in at most 72 characters',
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

function migrations(repository: Repository): string[] {
  return repository.tracked
    .filter((path) => /^migrations\/[^/]+\.sql$/.test(path) && !HELPERS.has(path))
    .sort()
}

function migrationNumbers(repository: Repository): Finding[] {
  return migrations(repository).flatMap((file, index) => {
    const expected = `${index + 1}`.padStart(4, '0')
    const isRight = new RegExp(`^migrations/${expected}-[a-z0-9-]+\\.sql$`).test(file)
    return isRight
      ? []
      : [{ file, line: 1, fix: `the next name is ${expected}-what-it-brings.sql` }]
  })
}

function migrationChecksums(repository: Repository): Finding[] {
  const recorded = JSON.parse(repository.read(CHECKSUMS) ?? '{}') as Record<string, string>
  const names = new Set(migrations(repository).map((path) => path.slice('migrations/'.length)))
  const gone = Object.keys(recorded).filter((name) => !names.has(name))
  return [
    ...gone.map((name) => ({ file: CHECKSUMS, line: 1, fix: `${name} is gone: bring it back` })),
    ...[...names].flatMap((name) => {
      const file = `migrations/${name}`
      const known = Object.hasOwn(recorded, name) ? recorded[name] : undefined
      if (known === checksum(repository.read(file) ?? '')) return []
      const fix =
        known === undefined
          ? 'not recorded: run `node tools/node.mjs tools/checksums.ts`'
          : 'changed after it was recorded: undo that and write a new migration'
      return [{ file, line: 1, fix }]
    }),
  ]
}

function untestedRefusals(repository: Repository): Finding[] {
  const tests = repository.files.filter(
    ({ isTest, folder }) => isTest && /^(?:src|test)$/.test(folder),
  )
  const isTested = (code: string) =>
    tests.some(({ bare }) => new RegExp(`\\b${code}\\b`).test(bare))
  return repository.files
    .filter(({ path }) => REFUSALS.test(path))
    .flatMap(({ path, bare }) =>
      matches(bare, /(?<=RefusalCodes = \[[^\]]*)'([a-z_]+)'/g)
        .filter(({ match }) => !isTested(match[1] ?? ''))
        .map(({ line, match }) => ({
          file: path,
          line,
          fix: `write a test that gets ${match[1]}`,
        })),
    )
}

function unlistedRefusals(repository: Repository): Finding[] {
  return repository.files
    .filter(({ path, folder, isTest }) => folder === 'src' && !isTest && !REFUSALS.test(path))
    .flatMap(({ path, bare, code }) =>
      matches(bare, /\b(?:new R|makeR)efusal(?:<[^(]*>)?\(\s*['"`]/g)
        .filter(({ match }) => code.charAt(match.index) !== ' ')
        .map(({ line }) => ({
          file: path,
          line,
          fix: "list its code in the module's refusals.ts and raise it by the maker there",
        })),
    )
}

type Manifest = {
  [section in 'dependencies' | 'devDependencies' | 'optionalDependencies']?: object
}

function unexplainedDependencies(repository: Repository): Finding[] {
  const manifest = JSON.parse(repository.read('package.json') ?? '{}') as Manifest
  const runtime = Object.keys(manifest.dependencies ?? {})
  const all = new Set([
    ...runtime,
    ...Object.keys(manifest.devDependencies ?? {}),
    ...Object.keys(manifest.optionalDependencies ?? {}),
  ])
  const lines = matches(repository.read(DEPENDENCIES) ?? '', /^- `([^`]+)`/gm)
  const explained = new Set(lines.map(({ match }) => match[1]))
  return [
    ...runtime
      .filter((name) => !explained.has(name))
      .map((name) => ({ file: DEPENDENCIES, line: 1, fix: `add a line "- \`${name}\`: why"` })),
    ...lines
      .filter(({ match }) => !all.has(match[1] ?? ''))
      .map(({ line, match }) => ({
        file: DEPENDENCIES,
        line,
        fix: `${match[1]} is no longer a dependency: delete the line`,
      })),
  ]
}

const SUBJECT =
  /^(?:feat|fix|docs|test|refactor|perf|build|ci|chore|style|revert)\([a-z][\w-]*\): \S.*[^.\s]$/

function commitSubjects(repository: Repository): Finding[] {
  const log =
    git(repository.root, 'log', '--no-merges', `-${COMMITS_CHECKED}`, '--format=%h %s') ?? ''
  return log
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [hash = '', ...words] = line.split(' ')
      // The number that a squash merge appends is not the author's to shorten.
      const subject = words.join(' ').replace(/ \(#\d+\)$/, '')
      if (SUBJECT.test(subject) && [...subject].length <= SUBJECT_LENGTH_MAX) return []
      return [
        { file: `commit ${hash}`, line: 1, fix: `"${subject}" is not \`type(module): effect\`` },
      ]
    })
}

// Put together from parts, so that this file does not report itself.
const TRACES = [['..', 'shared'].join('/'), ['', 'work', ''].join('/')]

function machinePaths(repository: Repository): Finding[] {
  return repository.tracked.flatMap((file) => {
    const text = repository.read(file) ?? ''
    if (!TRACES.some((trace) => text.includes(trace)) || text.includes('\0')) return []
    return text.split('\n').flatMap((line, index) => {
      const isTrace = TRACES.some((trace) => new RegExp(`(?<!\\w)${escaped(trace)}`).test(line))
      return isTrace ? [{ file, line: index + 1, fix: 'remove the path' }] : []
    })
  })
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
