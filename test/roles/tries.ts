// Tries everything as each role: real connections, every table × {select, insert, update, delete,
// truncate} and a call of every function. What PostgreSQL refuses with 42501 a role may not do; any
// other error, or none, means that it may. Each try is rolled back.
import pg from 'pg'
import { databaseRoles } from '../../src/platform/db/roles.ts'
import { urlAs } from '../../tools/program-roles.ts'

type Table = {
  readonly name: string
  readonly sql: string
  readonly isView: boolean
  readonly columns: readonly string[]
}
type Fn = { readonly name: string; readonly call: string }

const DENIED = '42501'

/** The lines of migrations/grants.txt about tables and functions, as the tries show them. */
export async function tryEverything(url: string): Promise<string[]> {
  const { tables, functions, owned } = await listObjects(url)
  const lines = new Set<string>()
  for (const role of databaseRoles) {
    const client = new pg.Client({ connectionString: urlAs(url, role) })
    await client.connect()
    await client.query(`set lock_timeout = '2s'`)
    for (const table of tables) {
      if (owned.has(`${role} ${table.sql}`)) lines.add(`${role} owns ${table.name}`)
      else for (const line of await tryTable(client, role, table)) lines.add(line)
    }
    for (const { name, call } of functions) {
      const error = await attempt(client, call)
      const isDenied = error === `permission denied for function ${name.split('.').at(-1)}`
      if (!isDenied && error !== NO_SCHEMA) lines.add(`${role} execute ${name}`)
    }
    await client.end()
  }
  return [...lines].sort()
}

const NO_SCHEMA = 'permission denied for schema graphile_worker'

async function tryTable(client: pg.Client, role: string, table: Table): Promise<string[]> {
  const { sql, columns } = table
  const nulls = columns.map((one) => `(null::${sql}).${one}`).join(', ')
  const all = columns.join(', ')
  const whole = {
    select: `select ${all} from ${sql} limit 0`,
    insert: `insert into ${sql} (${all}) overriding system value select ${nulls} where false`,
    update: `update ${sql} set ${columns.map((one) => `${one} = default`).join(', ')} where false`,
    delete: `delete from ${sql} where false`,
    truncate: `truncate ${sql}`,
  }
  const ofColumn = {
    select: (column: string) => `select ${column} from ${sql} limit 0`,
    insert: (column: string) =>
      `insert into ${sql} (${column}) overriding system value select (null::${sql}).${column}
       where false`,
    update: (column: string) => `update ${sql} set ${column} = default where false`,
  }
  const lines: string[] = []
  for (const [right, statement] of Object.entries(whole)) {
    if (table.isView && right === 'truncate') continue
    if ((await attempt(client, statement)) === undefined) {
      lines.push(`${role} ${right} ${table.name}`)
      continue
    }
    const single = ofColumn[right as keyof typeof ofColumn]
    if (single === undefined) continue
    const some: string[] = []
    for (const column of columns) {
      if ((await attempt(client, single(column))) === undefined) some.push(column)
    }
    if (some.length > 0) lines.push(`${role} ${right} ${table.name} (${some.join(', ')})`)
  }
  return lines
}

/** The message if PostgreSQL refused it for want of a right; undefined for any other outcome. */
async function attempt(client: pg.Client, statement: string): Promise<string | undefined> {
  await client.query('begin')
  try {
    await client.query(statement)
    return undefined
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return code === DENIED ? message : undefined
  } finally {
    await client.query('rollback')
  }
}

async function listObjects(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows: tables } = await client.query(
    `select case when n.nspname = 'public' then regexp_replace(regexp_replace(c.relname,
         '_[0-9]{8}$', '_<day>'), '^(holds_)[0-9]+$', '\\1<week>')
       else n.nspname || '.' || c.relname end as name, c.oid::regclass::text as sql,
       c.relkind = 'v' as "isView",
       (select array_agg(a.attname::text order by a.attname) from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
           -- Nobody may write one: PostgreSQL says so before it looks at rights.
           and a.attgenerated = '') as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('public', 'graphile_worker') and c.relkind in ('r', 'p', 'v')
       and c.relname !~ '_[0-9]{8}$|^holds_[0-9]+$'
     order by 1`,
  )
  const { rows: functions } = await client.query(
    `select case when n.nspname = 'public' then p.proname::text
         else n.nspname || '.' || p.proname end as name,
       format('select %I.%I(%s)', n.nspname, p.proname, (
         select string_agg('null::' || format_type(t, null), ', ' order by o)
         from unnest(p.proargtypes) with ordinality as a (t, o))) as call
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname in ('public', 'graphile_worker') and p.prokind = 'f'
     order by 1`,
  )
  const { rows: owned } = await client.query(
    `select c.relowner::regrole || ' ' || c.oid::regclass as one from pg_class c`,
  )
  await client.end()
  return {
    tables: tables as Table[],
    functions: functions as Fn[],
    owned: new Set((owned as { one: string }[]).map(({ one }) => one)),
  }
}
