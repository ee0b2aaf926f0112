// migrations/schema.sql, which newcomers read first, shows exactly what the migrations create.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Db } from '../../src/platform/db/db.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { dumpSchema } from '../../tools/schema.ts'
import { functionsIn, readSqlFiles } from '../../tools/sql-files.ts'
import {
  createTestDatabase,
  onServer,
  serverUrl,
  settingsOf,
  type TestDatabase,
} from '../support/harness.ts'

const schemaText = readFileSync(join(import.meta.dirname, '../../migrations/schema.sql'), 'utf8')

const open = { database: undefined as unknown as TestDatabase }
before(async () => {
  open.database = await createTestDatabase()
})
after(() => open.database.drop())

test('schema.sql shows what the migrations create', async (t) => {
  const { rows } = await open.database.db.query('show server_version_num')
  const version = Number((rows[0] as { server_version_num: string }).server_version_num)
  // The file has the output of PostgreSQL 15; 18 prints the same objects differently.
  if (version >= 160_000)
    return t.skip(`schema.sql is made with PostgreSQL 15, this server is ${version}`)
  const text = await dumpSchema(open.database.url)
  if (text === undefined) return t.skip('no pg_dump of this server’s version')
  assert.equal(schemaText, text, 'run: npm run dump-schema')
})

type Rule = { table: string; rule: string; called: string | null; text: string | null }

/** Every check, key and trigger by its table, with the function of ours that it calls, if any. */
async function rulesOf(db: Db): Promise<Rule[]> {
  const { rows } = await db.query(
    `select c.relname as table, r.name as rule, p.proname as called, p.prosrc as text
     from (
       select conrelid as relation, conname as name, 'pg_constraint'::regclass as class, oid
       from pg_constraint where contype <> 'n'
       union all
       select tgrelid, tgname, 'pg_trigger'::regclass, oid from pg_trigger where not tgisinternal
     ) r
     join pg_class c on c.oid = r.relation and c.relnamespace = 'public'::regnamespace
       and not c.relispartition and c.relname !~ '^kysely_'
     left join pg_depend d on d.classid = r.class and d.objid = r.oid
       and d.refclassid = 'pg_proc'::regclass
     left join pg_proc p on p.oid = d.refobjid
     order by 1, 2`,
  )
  return rows as Rule[]
}

/** Lists what `schema` leaves out or gets wrong: rules of tables, functions and their files. */
async function leftOut(db: Db, schema: string): Promise<string[]> {
  const [, ...sections] = schema.split(/^(?=CREATE (?:UNLOGGED )?TABLE |-- Every function)/m)
  const tables = new Map(sections.map((text) => [/TABLE (\w+)/.exec(text)?.[1] ?? '', text]))
  const rules = (await rulesOf(db)).flatMap(({ table, rule, called, text }) => {
    const shown = tables.get(table) ?? ''
    const lines = (text ?? '').trim().split('\n')
    const body = lines.map((line) => `--   ${line}`.trimEnd()).join('\n')
    return [
      ...(new RegExp(`\\b${rule}\\b`).test(shown) ? [] : [`${table}: ${rule}`]),
      ...(called === null || shown.includes(body) ? [] : [`${table}: what ${called} says`]),
    ]
  })
  const { rows } = await db.query(
    `select proname as name from pg_proc where pronamespace = 'public'::regnamespace`,
  )
  const files = new Map(
    readSqlFiles().flatMap((file) => functionsIn(file).map((name) => [name, file.path])),
  )
  const expected = (rows as { name: string }[]).map(({ name }) => `${name} → ${files.get(name)}`)
  const listed = [...schema.matchAll(/^-- {3}(\w+ → .*)$/gm)].map(([, line = '']) => line)
  const unexpected = listed.filter((line) => !expected.includes(line))
  return [
    ...rules,
    ...expected.filter((line) => !listed.includes(line)),
    ...unexpected.map((line) => `no such function: ${line}`),
  ]
}

test('schema.sql shows every rule with its table and every function with its file', async () => {
  assert.deepEqual(await leftOut(open.database.db, schemaText), [])
})

test('reports a rule, a function or a file that schema.sql leaves out', async () => {
  const { db } = open.database
  await db.query(`create function ledger_new() returns int4 language sql as 'select 1'`)
  assert.deepEqual(await leftOut(db, schemaText), ['ledger_new → undefined'])
  await db.query('drop function ledger_new')
  for (const [line, found] of [
    [/^.*ADD CONSTRAINT books_pkey.*$/m, ['books: books_pkey']],
    [/^CREATE TRIGGER keys_never_come_back.*$/m, ['keys: keys_never_come_back']],
    [/^.*when held < 0 then.*$/m, ['books: what books_keep_rules says']],
    [/^.*ledger_settle →.*$/m, ['ledger_settle → src/ledger/sql/settle.sql']],
  ] as const) {
    assert.deepEqual(await leftOut(db, schemaText.replace(line, '')), found)
  }
  const elsewhere = schemaText.replace('ledger_settle → src/ledger/', 'ledger_settle → src/keys/')
  assert.deepEqual(await leftOut(db, elsewhere), [
    'ledger_settle → src/ledger/sql/settle.sql',
    'no such function: ledger_settle → src/keys/sql/settle.sql',
  ])
})

test('every constraint of a freshly migrated database is validated', async () => {
  const { rows } = await open.database.db.query(
    `select conrelid::regclass || ' ' || conname as name from pg_constraint
     where not convalidated order by name`,
  )
  assert.deepEqual(rows, [])
})

test('three processes that start at once apply each migration once', async () => {
  const name = `tollgate_migrate_${process.pid}`
  await onServer((client) => client.query(`create database ${name}`))
  try {
    const url = new URL(serverUrl)
    url.pathname = `/${name}`
    const applied = await Promise.all([1, 2, 3].map(() => migrate(settingsOf(url.href))))
    const names = applied.flat()
    assert.ok(names.length > 0)
    assert.equal(new Set(names).size, names.length, 'none was applied twice')
    assert.deepEqual(await migrate(settingsOf(url.href)), [], 'nothing is left')
  } finally {
    await onServer((client) => client.query(`drop database ${name} (force)`))
  }
})
