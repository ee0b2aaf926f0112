// docs/personal-data.md classifies every table of the database, in both languages alike: who adds a
// table says whether it is about a person. Columns that take a text which people type have the
// trigger that takes addresses and names out.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { root } from './pages.ts'

const open = { database: undefined as unknown as TestDatabase }
before(async () => {
  open.database = await createTestDatabase()
})
after(() => open.database.drop())

const CLASSES: Readonly<Record<string, string>> = {
  стирается: 'erased',
  'только номер': 'number only',
  никого: 'nobody',
}

/** Each table with its class, in English words. */
function classified(page: string): Map<string, string> {
  const text = readFileSync(join(root, page), 'utf8')
  const rows = text.matchAll(
    /^\| (`[^|]+`) \| [^|]+ \| (erased|number only|nobody|стирается|только номер|никого) \|$/gm,
  )
  return new Map(
    [...rows].flatMap(([, cells = '', kind = '']) =>
      [...cells.matchAll(/`(\w+)`/g)].map(
        ([, table = '']) => [table, CLASSES[kind] ?? kind] as const,
      ),
    ),
  )
}

test('the page lists every table of the database, and no other', async () => {
  const { rows } = await open.database.db.query(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and c.relname not like 'kysely%' and c.relname !~ '^(entries|holds)_[0-9]+$'
     order by 1`,
  )
  const tables = (rows as { name: string }[]).map(({ name }) => name)
  assert.deepEqual([...classified('docs/personal-data.md').keys()].toSorted(), tables.toSorted())
})

test('the Russian page classifies every table in the same way', () => {
  const english = classified('docs/personal-data.md')
  assert.deepEqual(classified('docs/ru/personal-data.md'), english)
  assert.ok([...english.values()].includes('nobody'), 'all classes are read')
})

test('columns for reasons and notes take no addresses', async () => {
  const { rows } = await open.database.db.query(
    `select c.table_name || '.' || c.column_name as name,
       exists (select from pg_trigger t
         where t.tgrelid = c.table_name::regclass
           and t.tgfoid = 'accounts_depersonalize_columns'::regproc
           and encode(t.tgargs, 'escape') like '%' || c.column_name || '%') as is_guarded
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
       and c.column_name in ('note', 'reason', 'detail', 'comment') and c.data_type = 'text'
       and c.table_name !~ '^entries'
     order by 1`,
  )
  const open_ = (rows as { name: string; is_guarded: boolean }[]).filter((one) => !one.is_guarded)
  assert.deepEqual(
    open_.map(({ name }) => name),
    [
      // The act chain and the trigger of approvals have the function in their own triggers.
      'operator_acts.detail',
      'operator_approvals.detail',
      // Codes of the program, which nobody types.
      'payment_reviews.reason',
      'quarantine.reason',
      'refused_requests.reason',
      'status_components.reason',
      'status_outages.reason',
      'status_samples.reason',
      'stops_beneath.reason',
    ].filter((name) => open_.some((one) => one.name === name)),
  )
})
