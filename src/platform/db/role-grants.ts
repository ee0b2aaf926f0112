// What each role may do in a live database, and how that differs from the intent: the lines of
// migrations/grants.txt, which a test makes by trying everything as each role. Reads the catalogs
// of PostgreSQL only, so any role may compare.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Executor } from './db.ts'
import { otherDefaults, otherGrants, parameterGrants, wrongPolicies } from './other-grants.ts'
import { databaseRoles, KEPT_TABLES } from './roles.ts'

export const GRANTS_FILE = 'grants.txt'

/** The lines of the file: `role privilege object`, and the columns if it is not all of them. */
export function readIntendedGrants(
  directory: string = join(import.meta.dirname, '../../../migrations'),
): string[] {
  return readFileSync(join(directory, GRANTS_FILE), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/**
 * Tables, views and sequences by the name that the file has. All days have one name, also those
 * that `op days restore` loaded, and all weeks.
 */
const RELATIONS = `
  select c.oid, c.relkind, c.relowner, case when c.relnamespace = 'public'::regnamespace
    then regexp_replace(regexp_replace(c.relname, '(_restored)?_[0-9]{8}$', '_<day>'),
      '^(holds_)[0-9]+$', '\\1<week>') else n.nspname || '.' || c.relname end as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('public', 'graphile_worker') and c.relkind in ('r', 'p', 'v', 'S')`

/** Every right of every role as lines of the file, sorted. */
export async function readGrants(db: Executor): Promise<string[]> {
  const { rows } = await db.query(
    `with roles as (
       select r.oid, r.rolname from pg_roles r where r.rolname = any ($1)
     ), relations as (${RELATIONS}), rights as (
       select r.rolname as role, p.privilege, t.name,
         case when not has_table_privilege(r.oid, t.oid, p.privilege) then (
           select string_agg(a.attname, ', ' order by a.attname) from pg_attribute a
           where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
             and p.privilege in ('select', 'insert', 'update', 'references')
             and has_column_privilege(r.oid, t.oid, a.attnum,
               case when p.privilege in ('delete', 'truncate', 'trigger') then 'select'
                 else p.privilege end))
         else '' end as columns
       from roles r cross join relations t
       cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references',
         'trigger']) as p (privilege)
       where t.relkind <> 'S' and t.relowner <> r.oid
       union all
       select r.rolname, p.privilege, t.name, '' from roles r cross join relations t
       cross join unnest(array['usage', 'select', 'update']) as p (privilege)
       where t.relkind = 'S' and has_sequence_privilege(r.oid, t.oid, p.privilege)
         and t.relowner <> r.oid
       union all
       select r.rolname, 'owns', t.name, '' from roles r join relations t on t.relowner = r.oid
       where t.relkind <> 'S'
       union all
       select r.rolname, 'execute', case when n.nspname = 'public' then p.proname
         else n.nspname || '.' || p.proname end, ''
       from roles r cross join pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname in ('public', 'graphile_worker')
         and has_function_privilege(r.oid, p.oid, 'execute')
       union all
       select r.rolname, p.privilege, 'schema ' || n.nspname, ''
       from roles r cross join pg_namespace n cross join unnest(array['usage', 'create'])
         as p (privilege)
       where n.nspname in ('public', 'graphile_worker')
         and has_schema_privilege(r.oid, n.oid, p.privilege)
     )
     select distinct role || ' ' || privilege || ' ' || name
       || case when columns = '' then '' else ' (' || columns || ')' end as line
     from rights where columns is not null`,
    [databaseRoles],
  )
  return (rows as { line: string }[]).map(({ line }) => line).sort()
}

/** What differs from the intent, one sentence each; empty when nothing does. */
export async function compareRoles(
  db: Executor,
  intended: readonly string[] = readIntendedGrants(),
): Promise<string[]> {
  const found = new Set(await readGrants(db))
  const meant = new Set(intended)
  return [
    ...(await missingRoles(db)),
    ...[...meant.difference(found)].map((line) => `missing: ${line}`),
    ...[...found.difference(meant)].map((line) => `too much: ${line}`),
    ...(await wrongAttributes(db)),
    ...(await wrongOwners(db)),
    ...(await unpinnedSearchPaths(db)),
    ...(await otherGrants(db)),
    ...(await otherDefaults(db)),
    ...(await parameterGrants(db)),
    ...(await wrongPolicies(db)),
  ]
}

async function missingRoles(db: Executor): Promise<string[]> {
  const { rows } = await db.query(
    `select r as role from unnest($1::text[]) as r
     where not exists (select from pg_roles where rolname = r)`,
    [databaseRoles],
  )
  return (rows as { role: string }[]).map(({ role }) => `missing: the role ${role}`)
}

/** Attributes and memberships with which a role could take every right there is. */
async function wrongAttributes(db: Executor): Promise<string[]> {
  const { rows } = await db.query(
    `select r.rolname || ' ' || a.says as line
     from pg_roles r cross join lateral (values
       (r.rolsuper, 'is a superuser'), (r.rolcreaterole, 'may make roles'),
       (r.rolcreatedb, 'may make databases'), (r.rolbypassrls, 'bypasses row level security'),
       (r.rolreplication, 'may replicate'), (not r.rolcanlogin, 'may not log in'))
       as a (is_so, says)
     where r.rolname = any ($1) and a.is_so
     union all
     select m.rolname || ' is a member of ' || g.rolname
     from pg_auth_members x join pg_roles m on m.oid = x.member join pg_roles g on g.oid = x.roleid
     where m.rolname = any ($1)
     union all
     select 'every role may make objects in the schema public'
     where has_schema_privilege('public', 'public', 'create')`,
    [databaseRoles],
  )
  return (rows as { line: string }[]).map(({ line }) => `wrong: ${line}`)
}

/** The keeper owns the partitioned tables; what else there is belongs to one role, no program's. */
async function wrongOwners(db: Executor): Promise<string[]> {
  const { rows } = await db.query(
    `with owned as (
       select c.relname::text as name, c.relowner as owner, c.relname ~ $1 as is_kept
       from pg_class c
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'S')
         and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('a', 'i')
           and c.relkind = 'S')
       union all
       select p.proname || '()', p.proowner, false from pg_proc p
       where p.pronamespace = 'public'::regnamespace
     ), migrator as (
       select relowner as owner from pg_class where oid = to_regclass('public.kysely_migration')
     )
     select o.name || ' belongs to ' || o.owner::regrole as line
     from owned o left join migrator m on true
     where o.owner <> case when o.is_kept then to_regrole('tollgate_keeper')::oid else m.owner end
     order by 1`,
    [KEPT_TABLES],
  )
  return (rows as { line: string }[]).map(({ line }) => `wrong: ${line}`)
}

/** A function with its owner's rights must not look for tables in its caller's schemas first. */
async function unpinnedSearchPaths(db: Executor): Promise<string[]> {
  const { rows } = await db.query(
    `select p.proname as name from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prosecdef
       and not coalesce(p.proconfig, '{}') @> '{"search_path=pg_catalog, public, pg_temp"}'
     order by 1`,
  )
  return (rows as { name: string }[]).map(
    ({ name }) => `wrong: ${name} has its owner’s rights and no search_path of its own`,
  )
}
