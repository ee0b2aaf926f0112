// What else gives somebody rights in a live database, beside the matrix of our roles: grants to
// other roles or to PUBLIC, rights that may be passed on, defaults for tables that are made later,
// settings, policies of row level security, and members of our roles.
import type { Executor } from './db.ts'
import { databaseRoles } from './roles.ts'

/** The object's owner and the role that migrates need no grant. */
const MIGRATOR = `(select relowner from pg_class
  where oid = to_regclass('public.kysely_migration'))`
const GRANTEE = `case when a.grantee = 0 then 'PUBLIC' else a.grantee::regrole::text end`

async function linesOf(db: Executor, sql: string, values: unknown[] = []): Promise<string[]> {
  const { rows } = await db.query(sql, values)
  return (rows as { line: string }[]).map(({ line }) => line)
}

/**
 * Rights that somebody else than our roles has on our tables and functions, and rights of our roles
 * that they may pass on. Every role may look into the schema public, which gives nothing by itself.
 */
export function otherGrants(db: Executor): Promise<string[]> {
  return linesOf(
    db,
    `with ours as (
       select n.oid, n.nspname, case n.nspname when 'public' then '' else n.nspname || '.' end
         as before
       from pg_namespace n where n.nspname in ('public', 'graphile_worker')
     ), objects as (
       select n.before || c.relname as name, c.relowner as owner, c.relacl as acl
       from ours n join pg_class c on c.relnamespace = n.oid
       union all
       select n.before || c.relname || ' (' || t.attname || ')', c.relowner, t.attacl
       from ours n join pg_class c on c.relnamespace = n.oid
       join pg_attribute t on t.attrelid = c.oid
       union all
       select n.before || p.proname, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
       from ours n join pg_proc p on p.pronamespace = n.oid
       union all
       select 'schema ' || n.nspname, n.nspowner, n.nspacl
       from pg_namespace n where n.oid in (select oid from ours)
     ), grants as (
       select o.name, a.grantee, lower(a.privilege_type) as privilege, a.is_grantable,
         ${GRANTEE} as role
       from objects o cross join aclexplode(o.acl) a
       where a.grantee <> o.owner and a.grantee is distinct from ${MIGRATOR}
     )
     select distinct case when g.role = any ($1)
       then 'wrong: ' || g.role || ' may pass on ' || g.privilege || ' ' || g.name
       else 'too much: ' || g.role || ' ' || g.privilege || ' ' || g.name end as line
     from grants g
     where case when g.role = any ($1) then g.is_grantable
       else (g.role, g.privilege, g.name) <> ('PUBLIC', 'usage', 'schema public') end
     order by 1`,
    [databaseRoles],
  )
}

/** Rights on tables and functions that do not exist yet. The keeper's days may be read. */
export function otherDefaults(db: Executor): Promise<string[]> {
  return linesOf(
    db,
    `select distinct 'too much: ' || ${GRANTEE} || ' ' || lower(a.privilege_type) || ' '
       || case d.defaclobjtype when 'r' then 'tables' when 'S' then 'sequences'
         when 'f' then 'functions' when 'T' then 'types' else 'schemas' end
       || ' that ' || d.defaclrole::regrole || ' will make' as line
     from pg_default_acl d left join pg_namespace n on n.oid = d.defaclnamespace
     cross join aclexplode(d.defaclacl) a
     where a.grantee <> d.defaclrole and a.grantee is distinct from ${MIGRATOR}
       and coalesce(n.nspname, 'public') in ('public', 'graphile_worker')
       and (d.defaclobjtype, a.privilege_type) <> ('T', 'USAGE')
       and not (n.nspname = 'public' and d.defaclrole = to_regrole('tollgate_keeper')
         and d.defaclobjtype = 'r' and a.privilege_type = 'SELECT' and a.grantee in (
           to_regrole('tollgate_worker'), to_regrole('tollgate_operator'),
           to_regrole('tollgate_auditor')))
     order by 1`,
  )
}

/** Settings that only a superuser may change, such as the one that switches triggers off. */
export function parameterGrants(db: Executor): Promise<string[]> {
  return linesOf(
    db,
    `select 'too much: ' || ${GRANTEE} || ' ' || lower(a.privilege_type) || ' parameter '
       || p.parname as line
     from pg_parameter_acl p cross join aclexplode(p.paracl) a
     where a.grantee = 0 or a.grantee::regrole::text = any ($1)
     order by 1`,
    [databaseRoles],
  )
}

/** graphile-worker's tables let the worker through and nobody else; ours have no policies. */
export function wrongPolicies(db: Executor): Promise<string[]> {
  return linesOf(
    db,
    `with tables as (
       select c.oid, n.nspname || '.' || c.relname as name, c.relrowsecurity as is_guarded,
         n.nspname = 'graphile_worker' and c.relrowsecurity as needs_policy
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('public', 'graphile_worker') and c.relkind in ('r', 'p')
     ), policies as (
       select p.polrelid, p.polname, p.polname = 'tollgate_worker' and p.polcmd = '*'
         and p.polpermissive and p.polroles = array[to_regrole('tollgate_worker')::oid]
         and pg_get_expr(p.polqual, p.polrelid) = 'true' and p.polwithcheck is null as is_meant
       from pg_policy p
     )
     select 'missing: the policy tollgate_worker on ' || t.name as line from tables t
     where t.needs_policy
       and not exists (select from policies p where p.polrelid = t.oid and p.is_meant)
     union all
     select 'wrong: the policy ' || p.polname || ' on ' || t.name
     from tables t join policies p on p.polrelid = t.oid
     where not (t.needs_policy and p.is_meant)
     union all
     select 'wrong: ' || t.name || ' has row level security' from tables t
     where t.is_guarded and not t.needs_policy
     order by 1`,
  )
}

/** Members of our roles, who may do what these may: people of this installation, or a mistake. */
export function roleMembers(db: Executor): Promise<string[]> {
  return linesOf(
    db,
    `select distinct m.rolname || ' is a member of ' || g.rolname as line
     from pg_auth_members x join pg_roles m on m.oid = x.member join pg_roles g on g.oid = x.roleid
     where g.rolname = any ($1) and m.oid is distinct from ${MIGRATOR} and not m.rolname = any ($1)
     order by 1`,
    [databaseRoles],
  )
}
