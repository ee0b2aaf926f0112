// What the functions, triggers, rules and row level security of our tables are, as digests, and how
// a live database differs from migrations/definitions.txt, which `npm run dump-schema` writes. An
// owner can empty a function and leave its name; then only its text tells. Reads the catalogs of
// PostgreSQL only, so any role may compare.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Db, Executor } from './db.ts'

export const DEFINITIONS_FILE = 'definitions.txt'
const NEWEST = 'migration '

/** What each object is, by its name, after the newest migration that was applied. */
export type Definitions = {
  readonly migration: string
  readonly digests: ReadonlyMap<string, string>
}

export type DefinitionChange = {
  /** `function ledger_open`, `trigger keys.keys_never_come_back`. */
  readonly name: string
  readonly change: 'missing' | 'changed' | 'added'
}

export type DefinitionsCompared = {
  readonly changes: readonly DefinitionChange[]
  /** False if the database has another newest migration than this program: nothing was compared. */
  readonly isCompared: boolean
  readonly migration: string
}

/**
 * An attacker who may set `search_path` for a role or a database could put a table or a function of
 * their own before PostgreSQL's.
 */
const PINNED = `select pg_catalog.set_config('search_path', 'pg_catalog, public, pg_temp', true)`

const MIGRATION = '(select max(name) from public.kysely_migration)'

/**
 * All forms of a function under its one name. A partition has its table's triggers, so only a
 * trigger of its own stands here. What an extension brings is not ours. Only columns and functions
 * whose text PostgreSQL 15 and 18 write alike.
 */
const DEFINITIONS = `
  with tables as (
    select c.oid, c.relname as name, c.relrowsecurity, c.relforcerowsecurity from pg_class c
    where c.relnamespace = 'public'::regnamespace and not exists (select from pg_depend d
      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  ), texts as (
    select 'function ' || p.proname as name,
      string_agg(json_build_array(pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
        l.lanname, p.prokind, p.prosecdef, p.proleakproof, p.proisstrict, p.provolatile,
        p.proparallel, p.proconfig, p.prosrc, p.probin, p.prosqlbody is null)::text, ' '
        order by p.proargtypes::text collate "C") as text
    from pg_proc p join pg_language l on l.oid = p.prolang
    where p.pronamespace = 'public'::regnamespace and not exists (select from pg_depend d
      where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    group by p.proname
    union all
    select 'trigger ' || t.name || '.' || g.tgname, pg_get_triggerdef(g.oid)
    from pg_trigger g join tables t on t.oid = g.tgrelid
    where not g.tgisinternal and g.tgparentid = 0
    union all
    select 'rule ' || t.name || '.' || r.rulename, r.ev_enabled::text || pg_get_ruledef(r.oid)
    from pg_rewrite r join tables t on t.oid = r.ev_class
    union all
    select 'policy ' || t.name || '.' || p.polname,
      json_build_array(p.polcmd, p.polpermissive, p.polroles::regrole[],
        pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))::text
    from pg_policy p join tables t on t.oid = p.polrelid
    union all
    select 'row level security of ' || name, relforcerowsecurity::text
    from tables where relrowsecurity or relforcerowsecurity
  )
  select ${MIGRATION} as migration,
    array(select name || ' ' || encode(sha256(convert_to(coalesce(text, ''), 'UTF8')), 'hex')
      from texts) as lines`

/** What the database has now; undefined if a migration was applied while we read. */
export function readDefinitions(db: Db): Promise<Definitions | undefined> {
  return db.transaction(async (tx) => {
    await tx.query(PINNED)
    const { migration, lines } = await one<{ migration: string; lines: string[] }>(tx, DEFINITIONS)
    // The functions that print a definition see commits that the statement around them does not.
    const after = await one<{ migration: string }>(tx, `select ${MIGRATION} as migration`)
    return migration === after.migration ? definitionsOf(migration, lines) : undefined
  })
}

async function one<Row>(db: Executor, text: string): Promise<Row> {
  return (await db.query(text)).rows[0] as Row
}

function definitionsOf(migration: string, lines: readonly string[]): Definitions {
  const pairs = lines.map((line): [string, string] => {
    const at = line.lastIndexOf(' ')
    return [line.slice(0, at), line.slice(at + 1)]
  })
  return { migration, digests: new Map(pairs) }
}

export function definitionsText({ migration, digests }: Definitions): string {
  const lines = [...digests].map(([name, digest]) => `${name} ${digest}`).sort()
  return [
    '# What the migrations make of functions, triggers, rules and row level security: SHA-256 of',
    '# each definition. Made by: npm run dump-schema',
    `${NEWEST}${migration}`,
    ...lines,
    '',
  ].join('\n')
}

export function readIntendedDefinitions(
  directory: string = join(import.meta.dirname, '../../../migrations'),
): Definitions {
  const text = readFileSync(join(directory, DEFINITIONS_FILE), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const [migration = '', ...rest] = lines
  return definitionsOf(migration.slice(NEWEST.length), rest)
}

/**
 * How the database differs from the intent. Compares only if its newest migration is the one that
 * this program knows: during an upgrade the programs of one version meet the functions of another.
 */
export async function compareDefinitions(
  db: Db,
  intended: Definitions = readIntendedDefinitions(),
): Promise<DefinitionsCompared> {
  const found = await readDefinitions(db)
  if (found?.migration !== intended.migration) {
    return { changes: [], isCompared: false, migration: found?.migration ?? 'being applied' }
  }
  const names = [...new Set([...intended.digests.keys(), ...found.digests.keys()])].sort()
  const changes = names.flatMap((name): DefinitionChange[] => {
    const [meant, is] = [intended.digests.get(name), found.digests.get(name)]
    if (meant === is) return []
    if (is === undefined) return [{ name, change: 'missing' }]
    return [{ name, change: meant === undefined ? 'added' : 'changed' }]
  })
  return { changes, isCompared: true, migration: found.migration }
}
