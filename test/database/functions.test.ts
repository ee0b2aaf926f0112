// The current text of each function of the database stands in one file of the module that owns it,
// `src/<module>/sql/*.sql`. Migrations are history; these files are what a reader opens, so they
// must be what the migrations make.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Executor } from '../../src/platform/db/db.ts'
import { functionsIn, readSqlFiles, type SqlFile } from '../../tools/sql-files.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'

const root = join(import.meta.dirname, '../..')
const files = readSqlFiles()
const programs = globSync('src/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(root, path), 'utf8'))

const open = { database: undefined as unknown as TestDatabase }
before(async () => {
  open.database = await createTestDatabase()
})
after(() => open.database.drop())

/** Every function of our schema as PostgreSQL writes it, by name; with all its forms, in turn. */
async function definitions(db: Executor): Promise<Map<string, string>> {
  const { rows } = await db.query(
    `select p.proname as name, string_agg(pg_get_functiondef(p.oid), '' order by p.oid) as text
     from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
     group by p.proname`,
    [],
  )
  return new Map((rows as { name: string; text: string }[]).map(({ name, text }) => [name, text]))
}

/** Functions with other parameters under one name: only one of them can be the current text. */
async function overloaded(db: Executor): Promise<string[]> {
  const { rows } = await db.query(
    `select proname || ' has ' || count(*) || ' forms' as line from pg_proc
     where pronamespace = 'public'::regnamespace group by proname having count(*) > 1`,
  )
  return (rows as { line: string }[]).map(({ line }) => line)
}

/** What differs between the functions of the database and the files, one line each. */
async function differences(given: readonly SqlFile[]): Promise<string[]> {
  const made = await definitions(open.database.db)
  const found = await overloaded(open.database.db)
  const homes = new Map<string, string>()
  for (const file of given) {
    for (const name of functionsIn(file)) {
      const home = homes.get(name)
      if (home !== undefined) found.push(`${name} stands in ${home} and in ${file.path}`)
      homes.set(name, file.path)
    }
  }
  for (const name of made.keys()) if (!homes.has(name)) found.push(`${name} stands in no file`)
  const written = await asWritten(given)
  for (const [name, path] of homes) {
    if (!made.has(name)) found.push(`${path}: no migration makes ${name}`)
    else if (made.get(name) !== written.get(name)) found.push(`${path}: ${name} differs`)
  }
  return found.sort()
}

/** The functions as the files define them; the transaction is rolled back. */
async function asWritten(given: readonly SqlFile[]): Promise<Map<string, string>> {
  const undo = new Error('roll back')
  let written = new Map<string, string>()
  await open.database.db
    .transaction(async (tx) => {
      for (const { text } of given) await tx.query(text)
      written = await definitions(tx)
      throw undo
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error
    })
  return written
}

/** Nothing of ours calls them, but the version before does; the next version drops them. */
const FOR_THE_VERSION_BEFORE = [
  'ledger_audit_charges',
  'ledger_audit_entries',
  'ledger_audit_mark',
  'ledger_audit_postings',
  'ledger_audit_sums',
  'ledger_audit_triggers',
  'ledger_entries_detach',
  'ledger_partitions_make',
  'ledger_settle',
  'ledger_settle_many',
  'ledger_void',
  'ledger_void_many',
]

/** Functions that neither a table nor a program calls, directly or through another function. */
async function uncalled(): Promise<string[]> {
  const { db } = open.database
  const { rows } = await db.query(
    `select distinct refobjid::regproc || '()' as call from pg_depend
     where refclassid = 'pg_proc'::regclass
       and classid in ('pg_constraint'::regclass, 'pg_trigger'::regclass, 'pg_attrdef'::regclass)`,
  )
  const calls = (rows as { call: string }[]).map(({ call }) => call)
  const texts = [...programs, ...calls]
  const left = await definitions(db)
  // The text of a function that is called joins the texts that this loop reads.
  for (const text of texts) {
    for (const [, name = ''] of text.matchAll(/\b(\w+)\(/g)) {
      const body = left.get(name)
      if (body !== undefined) texts.push(body)
      left.delete(name)
    }
  }
  return [...left.keys()].sort()
}

test('every function of the database has its current text in one file', async () => {
  assert.deepEqual(await differences(files), [])
})

test('reports a function that was changed only in its file or only in the database', async () => {
  const edited = files.map(({ path, text }) => ({
    path,
    text: text.replace('p_headroom / 2', 'p_headroom / 3'),
  }))
  assert.deepEqual(await differences(edited), ['src/ledger/sql/hold.sql: ledger_grant differs'])
  const { db } = open.database
  await db.query(`create or replace function ledger_now() returns timestamptz
    language sql volatile as 'select statement_timestamp()'`)
  assert.deepEqual(await differences(files), ['src/ledger/sql/clock.sql: ledger_now differs'])
  await db.query(files.find(({ path }) => path.endsWith('/clock.sql'))?.text ?? '')
})

test('reports a function without a file, without a migration or with two files', async () => {
  const without = files.filter(({ path }) => !path.endsWith('/void.sql'))
  assert.deepEqual(await differences(without), [
    'ledger_hold_lock stands in no file',
    'ledger_hold_refuse stands in no file',
    'ledger_void stands in no file',
    'ledger_void_many stands in no file',
    'ledger_void_request stands in no file',
    'ledger_void_requests stands in no file',
  ])
  const text =
    'create or replace function ledger_new() returns int4 language sql as $$ select 1 $$;'
  assert.deepEqual(await differences([...files, { path: 'new.sql', text }]), [
    'new.sql: no migration makes ledger_new',
  ])
  const twice = files.find(({ path }) => path.endsWith('/clock.sql')) as SqlFile
  assert.deepEqual(await differences([...files, { ...twice, path: 'twice.sql' }]), [
    'ledger_now stands in src/ledger/sql/clock.sql and in twice.sql',
  ])
})

test('reports a function that exists with two parameter lists', async () => {
  const { db } = open.database
  await db.query(`create function ledger_open(p_cell int4) returns int8 language sql
    as 'select 1::int8'`)
  assert.deepEqual(await differences(files), ['ledger_open has 2 forms'])
  await db.query('drop function ledger_open(int4)')
})

test('every function of the database is called', async () => {
  assert.deepEqual(await uncalled(), FOR_THE_VERSION_BEFORE)
})

test('reports functions that only call each other', async () => {
  const { db } = open.database
  await db.query(`create function ledger_old() returns int4 language sql as 'select 1'`)
  await db.query(`create function ledger_older() returns int4 language sql
    as 'select ledger_old()'`)
  const found = [...FOR_THE_VERSION_BEFORE, 'ledger_old', 'ledger_older'].sort()
  assert.deepEqual(await uncalled(), found)
  await db.query('drop function ledger_old, ledger_older')
})
