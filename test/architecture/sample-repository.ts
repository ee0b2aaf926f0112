// A small repository that follows every architecture rule, and functions that write it to a
// temporary folder with one fault planted in it. The rules read its files; nothing runs them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { checksum } from './documents.ts'

export type Tree = Record<string, string>

const reasons = '# Why\n\n- `pg`: SQL.\n- `undici`: HTTP.\n- `better-auth`: people.\n'
const migration = '-- The books.\ncreate table books (id int8 primary key);\n'

const architecture = `# Architecture

## Modules

\`\`\`mermaid
flowchart TD
  keys --> ledger
  upstreams --> wire
\`\`\`
`

const readme = `# Name

## How it works

\`\`\`mermaid
flowchart LR
  client([client]) -.-> accept
  accept[1 accept] --> authenticate[2 authenticate]
\`\`\`
`

export const sample: Tree = {
  'package.json': JSON.stringify({
    dependencies: { pg: '1.0.0', undici: '1.0.0', 'better-auth': '1.0.0' },
    devDependencies: { 'fast-check': '1.0.0' },
  }),
  'docs/dependencies.md': reasons,
  'docs/architecture.md': architecture,
  'README.md': readme,
  'migrations/0001-books.sql': migration,
  'migrations/checksums.json': JSON.stringify({ '0001-books.sql': checksum(migration) }),
  'src/main.ts': `// Starts.\nimport { wire } from './wiring.ts'\nawait wire()\nconsole.log(1)\n`,
  'src/wiring.ts': `// Builds the modules.
import { accounts } from './accounts/accounts.ts'
import { cabinet } from './cabinet/cabinet.ts'
import { createGateway } from './gateway/gateway.ts'
import { createKeys } from './keys/keys.ts'
import { createLedger } from './ledger/ledger.ts'
import { payments } from './payments/payments.ts'
import { env } from './platform/config.ts'
import { open } from './platform/db/db.ts'
import { write } from './platform/log.ts'
import { pricing } from './pricing/pricing.ts'
import { dial } from './upstreams/upstreams.ts'

export async function wire() {
  const ledger = createLedger(open(env()))
  write('wired')
  return [ledger, createKeys(ledger), createGateway(), cabinet, payments, accounts, pricing, dial]
}
`,
  'src/platform/config.ts': `// Reads.\nexport const env = () => process.env['X'] ?? ''\n`,
  'src/platform/clock.ts': `// Time.\nexport const nowMs = () => Date.now()\n`,
  'src/platform/ids.ts': `// Chance.
import { randomBytes } from 'node:crypto'

export const id = () => randomBytes(8)
`,
  'src/platform/log.ts': `// Log.\nexport const write = (text: string) => console.log(text)\n`,
  'src/platform/db/db.ts': `// Database.
import { Pool } from 'pg'

export type Db = { pool: Pool }
export const open = (url: string): Db => ({ pool: new Pool({ connectionString: url }) })
`,
  'src/platform/refusal.ts': `// Refuses.
export const makeRefusal = (code: string) => new Refusal(code)
`,
  'src/units/credits.ts': `// Credits.\nexport type Credits = bigint\n`,
  'src/wire/sse.ts': `// Events.\nexport const events = ''\n`,
  'src/ledger/ledger.ts': `// The ledger.
import type { Db } from '../platform/db/db.ts'
import { nowMs } from '../platform/clock.ts'
import type { Credits } from '../units/credits.ts'
import { bookFind } from './queries.ts'

export function createLedger(db: Db) {
  return {
    async balance(book: bigint): Promise<{ credits: Credits; atMs: number }> {
      return { credits: await bookFind(db, book), atMs: nowMs() }
    },
  }
}

export type Ledger = ReturnType<typeof createLedger>
`,
  'src/ledger/queries.ts': `// Statements.
import { type Db, open } from '../platform/db/db.ts'

/** Locks nothing. */
export async function bookFind(db: Db | undefined, id: bigint): Promise<bigint> {
  const answer = await (db ?? open('')).pool.query(\`
    -- One row.
    select available from books where id = $1\`, [id])
  return answer.rows[0].available
}
`,
  'src/keys/keys.ts': `// Keys.
import type { Ledger } from '../ledger/ledger.ts'
import { secret } from './secret.ts'

export const createKeys = (ledger: Ledger) => ({ ledger, secret })
`,
  'src/keys/refusals.ts': `// Refusals.
import { makeRefusal } from '../platform/refusal.ts'

export const passRefusalCodes = ['pass_missing', 'pass_worn'] as const
export const passRefusal = makeRefusal
`,
  'src/keys/refusals.test.ts': `// Tests.
import { test } from 'node:test'
import { passRefusal } from './refusals.ts'

test('pass_missing', () => passRefusal)
test('a worn pass is refused', () => 'pass_worn')
`,
  'src/keys/secret.ts': `// Secrets.
import { randomBytes } from 'node:crypto'

export const secret = () => randomBytes(32)
`,
  'src/pricing/pricing.ts': `// Prices.
import { id } from '../platform/ids.ts'

export const pricing = { id }
`,
  'src/upstreams/upstreams.ts': `// Upstreams.
import { request } from 'undici'
import { events } from '../wire/sse.ts'

export const dial = () => request(events)
`,
  'src/payments/payments.ts': `// Payments.\nexport const payments = () => fetch('')\n`,
  'src/accounts/accounts.ts': `// People.
import { betterAuth } from 'better-auth'

export const accounts = () => betterAuth({})
`,
  'src/cabinet/cabinet.ts': `// Cabinet.
import type { Page } from './contract/contract.ts'

export const cabinet: Page = { title: '' }
`,
  'src/cabinet/contract/contract.ts': `// Contract.\nexport type Page = { title: string }\n`,
  'src/gateway/gateway.ts': `// Routes.
import { accept } from './1-accept.ts'
import { authenticate } from './2-authenticate.ts'

export const createGateway = () => [accept, authenticate]
`,
  'src/gateway/1-accept.ts': `// Accepts.\nexport const accept = () => 1\n`,
  'src/gateway/2-authenticate.ts': `// Knows.\nexport const authenticate = () => 2\n`,
  'web/api.ts': `// Calls.
import type { Page } from '../src/cabinet/contract/contract.ts'

export const page = async (): Promise<Page> => (await fetch('/')).json()
`,
  'stand-ins/vendor/vendor.ts': `// Vendor.\nexport const vendor = () => Math.random()\n`,
  'test/journey.test.ts': `// Journey.
import { test } from 'node:test'
import { vendor } from '../stand-ins/vendor/vendor.ts'

let at = new Date()
test('a journey', () => console.log(vendor(), process.env['X'], at))
`,
  'tools/dev.ts': `// Starts all.
import { vendor } from '../stand-ins/vendor/vendor.ts'

await vendor()
`,
}

/** Writes a tree to a temporary folder and deletes it when `use` returns. */
export function withTree<T>(tree: Tree, use: (root: string) => T): T {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-architecture-'))
  try {
    for (const [path, text] of Object.entries(tree)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return use(root)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/**
 * The sample with files added or, by an empty text, taken away. New files of src are imported by
 * a test, so that the rule `orphan` does not report them.
 */
export function planted(fault: Tree): Tree {
  const added = Object.keys(fault).filter(
    (path) => /^src\/.*(?<!\.test)\.ts$/.test(path) && !Object.hasOwn(sample, path),
  )
  const imports = added.map((path) => `import '${relative('test', path)}'\n`).join('')
  const tree = { ...sample, 'test/reach.test.ts': `// Reaches.\n${imports}`, ...fault }
  return Object.fromEntries(Object.entries(tree).filter(([, text]) => text !== ''))
}

/** Migrations, with the record of their checksums. */
export function recorded(migrations: Tree): Tree {
  const sums = Object.entries(migrations).map(([path, text]) => [path.slice(11), checksum(text)])
  return { ...migrations, 'migrations/checksums.json': JSON.stringify(Object.fromEntries(sums)) }
}

/** A source file: its header on the first line, then the given lines. */
export function file(...rows: string[]): string {
  return ['// Holds a fault.', ...rows, ''].join('\n')
}

export function times(count: number, row: string): string[] {
  return Array.from({ length: count }, () => row)
}
