// Tests the architecture rules: plants one fault at a time in a small repository without faults,
// and code that only looks like a fault.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { checkRepository, rules, violationText } from './architecture.ts'
import { moduleTable } from './modules.ts'
import { file, planted, recorded, sample, type Tree, times, withTree } from './sample-repository.ts'
import { withoutGit } from './tree.ts'

/** The violations in a tree, as `file:line rule`. */
function reported(tree: Tree, table: Record<string, readonly string[]> = moduleTable): string[] {
  return withTree(tree, (root) =>
    checkRepository(root, table).map(({ file, line, rule }) => `${file}:${line} ${rule}`),
  )
}

/** Methods of three lines each. */
function verbs(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `  const verb${n} = () => {\n    f()\n  }`)
}

const books = sample['migrations/0001-books.sql'] ?? ''

const page = sample['docs/architecture.md'] ?? ''
const readme = sample['README.md'] ?? ''

// The place and the rule that must be reported, alone, and what is planted.
const faults: Record<string, Tree> = {
  'src/ledger/batch.ts:2 cycle-of-files': {
    'src/ledger/batch.ts': file("import type { post } from './post.ts'", 'export type B = post'),
    'src/ledger/post.ts': file("import type { B } from './batch.ts'", 'export type post = B'),
  },
  'src/keys/scan.ts:2 entry-file': {
    'src/keys/scan.ts': file("import { x } from '../ledger/batch.ts'", 'export const y = x'),
    'src/ledger/batch.ts': file('export const x = 1'),
  },
  'src/cabinet/refund.ts:2 entry-file': {
    'src/cabinet/refund.ts': file("import '../payments/refunds/refunds.ts'"),
    'src/payments/refunds/refunds.ts': file('export const x = 1'),
  },
  'src/ledger/spool/spool.ts:2 cycle-of-parts': {
    'src/ledger/spool/spool.ts': file("import type { S } from '../sweep.ts'", 'export type T = S'),
    'src/ledger/spool/files.ts': file('export type F = 1'),
    'src/ledger/sweep.ts': file("import type { F } from './spool/files.ts'", 'export type S = F'),
  },
  'web/pages/home/Home.tsx:2 cycle-of-parts': {
    'web/pages/key/Key.tsx': file("import '../home/Steps.tsx'"),
    'web/pages/key/Start.tsx': file('export const Start = 1'),
    'web/pages/home/Home.tsx': file("import '../key/Start.tsx'"),
    'web/pages/home/Steps.tsx': file('export const Steps = 1'),
  },
  'src/ledger/spool/spool.ts:2 arrow-up': {
    'src/ledger/spool/spool.ts': file("import type { Ledger } from '../ledger.ts'"),
  },
  'src/ledger/spool/files/files.ts:3 arrow-up': {
    'src/ledger/spool/spool.ts': file('export type S = 1'),
    'src/ledger/spool/files/files.ts': file('', "import '../../ledger.ts'"),
  },
  'src/ledger/spool/files.ts:1 folder-entry': {
    'src/ledger/spool/files.ts': file('export const x = 1'),
    'src/ledger/spool/spool.test.ts': file('export const x = 1'),
  },
  'web/pages/sign-in/Sign.tsx:1 folder-entry': {
    'web/pages/sign-in/Sign.tsx': file('export const Sign = 1'),
  },
  'src/accounts/pay.ts:2 module-table': {
    'src/accounts/pay.ts': file("import '../ledger/ledger.ts'"),
  },
  'src/gateway/topup.ts:2 paid-path': {
    'src/gateway/topup.ts': file("import '../payments/payments.ts'"),
  },
  'src/ledger/route.ts:2 outer-module': {
    'src/ledger/route.ts': file("import '../cabinet/cabinet.ts'"),
  },
  'src/gateway/2-authenticate.ts:3 step-imports-step': {
    'src/gateway/2-authenticate.ts': file(
      '',
      "import { accept } from './1-accept.ts'",
      'export const authenticate = accept',
    ),
  },
  'docs/architecture.md:5 diagram-modules': {
    'docs/architecture.md': page.replace('  keys --> ledger\n', ''),
  },
  'docs/architecture.md:8 diagram-modules': {
    'docs/architecture.md': page.replace('keys --> ledger', '$&\n  keys --> wire'),
  },
  'README.md:5 diagram-request': {
    'src/gateway/3-parse.ts': file('export const parse = () => 3'),
  },
  'README.md:1 diagram-request': {
    'README.md': readme.replace('## How it works', '## How'),
  },
  'src/keys/find.ts:2 foreign-queries': {
    'src/keys/find.ts': file("import { bookFind } from '../ledger/queries.ts'"),
  },
  'src/keys/queries.ts:4 foreign-table': {
    'src/keys/queries.ts': file('export const text = `', '  update', '    books set fence = 1`'),
  },
  'src/ledger/hold.ts:2 db-value': {
    'src/ledger/hold.ts': file("import { open } from '../platform/db/db.ts'"),
  },
  'src/ledger/pool.ts:2 db-value': { 'src/ledger/pool.ts': file("import { Pool } from 'pg'") },
  'src/cabinet/session.ts:2 better-auth': {
    'src/cabinet/session.ts': file("import type { Session } from 'better-auth/types'"),
  },
  'src/ledger/post.ts:2 dial-out': { 'src/ledger/post.ts': file("import * as u from 'undici'") },
  'src/keys/call.ts:2 dial-out': {
    'src/keys/call.ts': file("export const x = () => fetch('https://example.org')"),
  },
  'src/keys/read.ts:2 env': { 'src/keys/read.ts': file('export const x = () => process.env.X') },
  'src/keys/age.ts:2 clock': { 'src/keys/age.ts': file('export const x = () => new Date()') },
  'src/keys/span.ts:3 clock': {
    'src/keys/span.ts': file('export const x = () =>', `  \`\${Date.now()} ms\``),
  },
  'src/ledger/pick.ts:2 randomness': {
    'src/ledger/pick.ts': file('export const x = () => crypto.randomUUID()'),
  },
  'src/ledger/say.ts:2 console': {
    'src/ledger/say.ts': file("export const x = () => console.error('no')"),
  },
  'src/payments/pretend.ts:2 test-branch': {
    'src/payments/pretend.ts': file('export const fakePayment = () => true'),
  },
  'src/upstreams/dial.ts:2 stand-in-imported': {
    'src/upstreams/dial.ts': file("import '../../stand-ins/vendor/vendor.ts'"),
  },
  'web/demo.ts:2 stand-in-imported': {
    'web/demo.ts': file("import '../stand-ins/vendor/vendor.ts'"),
  },
  'src/ledger/seed.ts:2 outward': {
    'src/ledger/seed.ts': file("export const x = () => import('../../tools/seed.ts')"),
    'tools/seed.ts': file('export const seed = 1'),
  },
  'web/page.ts:2 web-contract': { 'web/page.ts': file("import '../src/pricing/pricing.ts'") },
  'web/form.ts:2 web-contract': {
    'web/form.ts': file("import { Page } from '../src/cabinet/contract/contract.ts'"),
  },
  'src/ledger/guess.ts:2 dev-dependency': {
    'src/ledger/guess.ts': file("import fc from 'fast-check'"),
  },
  'src/mail/mail.ts:1 module-unknown': { 'src/mail/mail.ts': file('export const x = 1') },
  'src/keys/late.ts:1 orphan': {
    'src/keys/late.ts': file('export const x = 1'),
    'test/reach.test.ts': file('export const x = 1'),
  },
  'src/keys/one.ts:2 default-export': { 'src/keys/one.ts': file('export default 1') },
  'src/keys/all.ts:2 barrel': { 'src/keys/all.ts': file("export * from './secret.ts'") },
  'src/keys/some.ts:2 barrel': {
    'src/keys/some.ts': file('export {', '  secret,', "} from './secret.ts'"),
  },
  'src/keys/other.ts:2 barrel': {
    'src/keys/other.ts': file("export type { secret } from './secret.ts'"),
  },
  'src/keys/helpers.ts:1 vague-name': { 'src/keys/helpers.ts': file('export const x = 1') },
  'web/utils/dates.ts:1 vague-name': { 'web/utils/dates.ts': file('export const x = 1') },
  'src/ledger/books.ts:2 module-let': { 'src/ledger/books.ts': file('let count = 0') },
  'src/ledger/start.ts:4 acts-on-import': {
    'src/ledger/start.ts': file('export const x = new Map()', '', "x.set('a', 1)"),
  },
  'src/ledger/load.ts:2 acts-on-import': {
    'src/ledger/load.ts': file('export const x = await Promise.resolve(1)'),
  },
  'tools/seed.ts:2 acts-on-import': {
    'tools/seed.ts': file('for (const x of [1]) x.toString()', 'export const y = 1'),
    'tools/fill.ts': file("import { y } from './seed.ts'", 'y.toString()'),
  },
  'src/keys/bare.ts:1 header': { 'src/keys/bare.ts': 'export const x = 1\n' },
  'src/keys/long.ts:401 file-length': {
    'src/keys/long.ts': file(...times(400, 'export type X = 1')),
  },
  'src/keys/wide.ts:3 line-length': {
    'src/keys/wide.ts': file(`// ${'я'.repeat(97)}`, `// ${'я'.repeat(98)}`),
  },
  'src/keys/deep.ts:2 function-length': {
    'src/keys/deep.ts': file(
      'export async function deep(a: () => void): Promise<{ a: 1; b: 2 }> {',
      ...times(40, '  // A comment does not count.\n'),
      ...times(69, '  if (a) a()'),
      '}',
    ),
  },
  'src/keys/verbs.ts:4 function-length': {
    'src/keys/verbs.ts': file(
      'export const createVerbs = () => {',
      '  return {',
      '    async verb(a: string) {',
      ...times(69, '      a.trim()'),
      '    },',
      '  }',
      '}',
    ),
  },
  // The braces of a destructuring are no function.
  'src/keys/own.ts:2 function-length': {
    'src/keys/own.ts': file(
      'export function createOwn(',
      '  p: P,',
      '): Promise<P> {',
      '  const { a } = p',
      ...times(66, '  a()'),
      '}',
    ),
  },
  'src/keys/long.test.ts:3 function-length': {
    'src/keys/long.test.ts': file(
      "describe('a list of tests, which may be long', () => {",
      "  test('a test, which may not', () => {",
      ...times(69, '    f()'),
      '  })',
      ...times(90, "  test('another', () => {})"),
      '})',
    ),
  },
  'src/keys/walk.ts:2 closure-length': {
    'src/keys/walk.ts': file('export function walk() {', ...verbs(23), '}'),
  },
  'src/keys/arrow.ts:2 closure-length': {
    'src/keys/arrow.ts': file('export const walk: Walk = async () => {', ...verbs(23), '}'),
  },
  'src/keys/many.ts:2 closure-length': {
    'src/keys/many.ts': file(
      'export function createMany(): Many<',
      '  1',
      '> {',
      ...verbs(49),
      '}',
    ),
  },
  'src/keys/class.ts:2 closure-length': {
    'src/keys/class.ts': file('export class Many implements One {', ...verbs(50), '}'),
  },
  'src/keys/grown.ts:2 closure-length': {
    'src/keys/grown.ts': file('export function createMany() {', ...verbs(53), '}'),
    'CONTRIBUTING.md': '| `createMany` in `src/keys/grown.ts` | 160 | a flat list |\n',
  },
  'CONTRIBUTING.md:2 closure-listed': {
    'src/keys/many.ts': file('export function createMany() {', ...verbs(49), '}'),
    'CONTRIBUTING.md': 'Why:\n| `createMany` in `src/keys/many.ts` | 150 | a flat list |\n',
  },
  'CONTRIBUTING.md:1 closure-listed': {
    'src/keys/many.ts': file('export function createMany() {', ...verbs(50), '}'),
    'CONTRIBUTING.md': '| `createMany` in `src/keys/many.ts` | 170 | a flat list |\n',
  },
  'CONTRIBUTING.md:3 closure-listed': {
    'CONTRIBUTING.md': '\n\n| `createMany` in `src/keys/many.ts` | 170 | a flat list |\n',
  },
  'src/keys/later.ts:2 todo': { 'src/keys/later.ts': file(`// ${'TO'}DO: later.`) },
  'src/keys/names.ts:2 banned-suffix': { 'src/keys/names.ts': file('export class KeyManager {}') },
  'src/keys/face.ts:2 banned-suffix': { 'src/keys/face.ts': file('interface IKey {}') },
  'migrations/0002-lots.sql:2 migration-contract': recorded({
    'migrations/0001-books.sql': books,
    'migrations/0002-lots.sql': '-- Lots.\nalter table books drop column fence;\n',
  }),
  'migrations/0002-more.sql:3 migration-contract': recorded({
    'migrations/0001-books.sql': books,
    'migrations/0002-more.sql': `-- More.
alter table books add column a int8 not null default 0, -- which is well
  add column b int8 not null;
`,
  }),
  'migrations/0003-lots.sql:1 migration-number': recorded({
    'migrations/0001-books.sql': books,
    'migrations/0003-lots.sql': '-- Lots.\ncreate table lots (id int8);\n',
  }),
  'migrations/0001-books.sql:1 migration-changed': {
    'migrations/0001-books.sql': `${books}-- More.\n`,
  },
  'migrations/0002-lots.sql:1 migration-changed': {
    'migrations/0002-lots.sql': '-- Not recorded.\n',
  },
  'migrations/checksums.json:1 migration-changed': { 'migrations/0001-books.sql': '' },
  'migrations/0001-books.sql:2 table-unowned': recorded({
    'migrations/0001-books.sql': '-- New.\ncreate table shelves (id int8);\n',
  }),
  'src/keys/refusals.ts:4 refusal-untested': {
    'src/keys/refusals.test.ts': file(
      "import { passRefusal } from './refusals.ts'",
      '// A comment about pass_worn is no test.',
      "passRefusal('pass_missing')",
    ),
  },
  'src/keys/lost.ts:2 refusal-unlisted': {
    'src/keys/lost.ts': file("export const x = () => new Refusal('pass_lost', 'It is lost.')"),
  },
  'src/keys/torn.ts:3 refusal-unlisted': {
    'src/keys/torn.ts': file('export const x = () =>', "  makeRefusal<'torn'>(", "    'torn')"),
  },
  'docs/dependencies.md:1 dependency-unexplained': {
    'docs/dependencies.md': '- `pg`: driver.\n- `undici`: HTTP.\n',
  },
  'docs/dependencies.md:6 dependency-unexplained': {
    'docs/dependencies.md': `${sample['docs/dependencies.md']}- \`left\`: gone.\n`,
  },
  'docs/notes.md:2 machine-path': { 'docs/notes.md': `Notes.\nSee ${'/wo'}rk/notes.\n` },
}

test('reports nothing in a repository that follows the rules', () => {
  assert.deepEqual(reported(sample), [])
})

for (const [expected, fault] of Object.entries(faults)) {
  test(`reports a planted fault, and only that, as ${expected}`, () => {
    assert.deepEqual(reported(planted(fault)), [expected])
  })
}

test('two modules that import each other are reported even when the table allows it', () => {
  const tree = planted({
    'src/ledger/sweep.ts': file("import { createKeys } from '../keys/keys.ts'"),
  })
  tree['docs/architecture.md'] = page.replace('keys --> ledger', '$&\n  ledger --> keys')
  const table = { ...moduleTable, ledger: ['platform', 'units', 'keys'] }
  assert.deepEqual(reported(tree, table), ['src/keys/keys.ts:2 cycle-of-modules'])
})

const hasGit = spawnSync('git', ['--version']).status === 0
const skip = hasGit ? false : 'git is not installed'

test('a commit subject without a module, or too long, is reported', { skip }, () => {
  const subjects = ['fix(ledger): hold once', 'fix: hold', `fix(keys): ${'x'.repeat(62)}`]
  const settings = ['user.name=x', 'user.email=x@example.org', 'commit.gpgsign=false']
  withTree(sample, (root) => {
    const git = (...parameters: string[]) =>
      execFileSync('git', [...settings.flatMap((setting) => ['-c', setting]), ...parameters], {
        cwd: root,
        env: withoutGit(process.env),
        stdio: 'ignore',
      })
    git('init')
    for (const subject of subjects) git('commit', '--allow-empty', '-m', subject)
    const fixes = checkRepository(root).map(({ rule, fix }) => `${rule} ${fix.split('"')[1]}`)
    assert.deepEqual(fixes, [`commit-subject ${subjects[2]}`, `commit-subject ${subjects[1]}`])
  })
})

test('every rule has a planted fault', () => {
  const planned = Object.keys(faults).map((expected) => expected.split(' ')[1])
  const proven = new Set([...planned, 'cycle-of-modules', 'commit-subject'])
  assert.deepEqual(
    rules.map(({ name }) => name).filter((name) => !proven.has(name)),
    [],
  )
})

test('does not report what only looks like a fault', () => {
  const tree = planted({
    'src/ledger/words.ts': file(
      '// Never call Date.now() or console.log here; process.env is far away.',
      "export const prose = 'select from lots of new Date() and Math.random()'",
      'export const pattern = /[\'"`]/',
      'export const half = (all: number) => all / 2 / 1',
      "export const again = (error: E) => new Refusal(error.code, 'as new Refusal(`x`)')",
      `export const nested = \`a \${half(4) === 2 ? \`b \${'c'}\` : '}'} import '../y.ts'\``,
      'export const sample = `',
      "import { x } from '../gateway/gateway.ts'",
      'export default x',
      'let y = 1',
      '`',
    ),
    'src/ledger/many.ts': file(
      'export function createMany() {',
      '  // A comment does not count.',
      ...verbs(49),
      '  return 1',
      '}',
    ),
    'src/ledger/listed.ts': file('export function createListed() {', ...verbs(53), '}'),
    'CONTRIBUTING.md': '| `createListed` in `src/ledger/listed.ts` | 170 | a flat list |\n',
    'src/payments/payments.ts': file(
      "export type { P } from './p.ts'",
      'export const payments = 1',
    ),
    'src/payments/p.ts': file('export type P = 1'),
    'tools/load.ts': file("import type { Task } from './loader.ts'"),
    'tools/loader.ts': file('export type Task = 1', 'process.exit(0)'),
    'src/wire/parse.ts': file(
      "export const start = () => new URL('./parse-worker.ts', import.meta.url)",
    ),
    'src/wire/parse-worker.ts': file("import { parentPort } from 'node:worker_threads'", 'main()'),
    'src/ledger/sql/hold.sql': '-- A folder without source text needs no entry file.\n',
    'src/ledger/spool/spool.ts': file("import type { F } from '../frame.ts'"),
    'src/ledger/frame.ts': file('export type F = 1'),
    'src/ledger/spool/spool.test.ts': file("import '../ledger.ts'", "import './spool.ts'"),
    'web/pages/sign-in/SignIn.tsx': file("import '../Trouble.tsx'"),
    'web/pages/Trouble.tsx': file('export const Trouble = 1'),
  })
  assert.deepEqual(reported(tree), [])
})

test('prints a violation as file, line, rule and how to fix it', () => {
  const violation = { file: 'src/a.ts', line: 3, rule: 'entry-file', fix: 'import b.ts' }
  assert.equal(violationText(violation), 'src/a.ts:3 entry-file: import b.ts')
})
