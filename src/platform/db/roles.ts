// The roles that programs connect as. migrations/roles.sql says what each may do; `migrate` applies
// it. With the setting `database.roles: one` everything runs as the owner, and it is not applied.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isLockTimeout } from './database-errors.ts'
import type { Executor } from './db.ts'
import { UnfitDatabase } from './session.ts'

export const databaseRoles = [
  'tollgate_keeper',
  'tollgate_gateway',
  'tollgate_cabinet',
  'tollgate_worker',
  'tollgate_operator',
  'tollgate_auditor',
] as const
export type DatabaseRole = (typeof databaseRoles)[number]

/** Whether each program has a role of its own, or all connect as the owner. */
export type RolesMode = 'separate' | 'one'

export const ROLES_FILE = 'roles.sql'
/** The line of the file before which the roles are made, and after which they get their rights. */
const RIGHTS = '\n-- § rights\n'
/** Tables that only the keeper may own: PostgreSQL lets nobody else detach a partition. */
export const KEPT_TABLES = '^(entries(_restored)?(_[0-9]{8})?|holds(_default|_[0-9]+)?)$'

/** 30 seconds of attempts, each of which stops requests for at most 100 ms. */
const ATTEMPTS = 100
const LOCK_MS = 100
const PAUSE_MS = 200

/** The SQL that makes the roles and gives them their rights. */
export function readRolesSql(
  directory: string = join(import.meta.dirname, '../../../migrations'),
): string {
  return readFileSync(join(directory, ROLES_FILE), 'utf8')
}

/**
 * Before anything is applied: prints the SQL for a superuser and throws UnfitDatabase if roles are
 * missing and this user may not make them, or if it cannot become a member of the keeper's role.
 */
export async function requireRolesPossible(
  db: Executor,
  print: (line: string) => void,
): Promise<void> {
  const { user, mayCreate, missing, isKeeper, mayJoin } = await readRolesPossible(db)
  const areMade = missing.length === 0 || mayCreate
  if (areMade && (isKeeper || mayJoin)) return
  for (const role of missing) print(`create role ${role} login;`)
  if (!isKeeper) print(`grant tollgate_keeper to "${user}";`)
  const why = areMade
    ? `${user} is no member of tollgate_keeper, which another user made`
    : `${user} may not make the roles that programs connect as`
  throw new UnfitDatabase(
    `database.url: ${why}; let a superuser run the SQL above and migrate again, or set ` +
      'database.roles to one',
  )
}

type RolesPossible = {
  readonly user: string
  readonly mayCreate: boolean
  readonly missing: readonly string[]
  readonly isKeeper: boolean
  /** May grant the keeper's role to itself. Since PostgreSQL 16 that needs more than CREATEROLE. */
  readonly mayJoin: boolean
}

async function readRolesPossible(db: Executor): Promise<RolesPossible> {
  const { rows } = await db.query(
    `select u.rolname::text as "user", u.rolsuper or u.rolcreaterole as "mayCreate",
       array(select r from unnest($1::text[]) with ordinality as given (r, n)
         where not exists (select from pg_roles where rolname = r) order by n) as missing,
       k.oid is not null and pg_has_role(k.oid, 'usage') as "isKeeper",
       u.rolsuper
         or (u.rolcreaterole
           and (k.oid is null or current_setting('server_version_num')::int4 < 160000))
         or (k.oid is not null and pg_has_role(k.oid, 'usage with admin option')) as "mayJoin"
     from pg_roles u left join pg_roles k on k.rolname = 'tollgate_keeper'
     where u.rolname = current_user`,
    [databaseRoles],
  )
  return rows[0] as RolesPossible
}

/** Makes the roles and gives them their rights. Repeatable; one process at a time. */
export async function applyRoles(db: Executor, text: string): Promise<void> {
  const at = text.indexOf(RIGHTS)
  if (at < 0) throw new Error(`${ROLES_FILE} has no line${RIGHTS.trimEnd()}`)
  // One message is one transaction.
  await db.query(text.slice(0, at))
  await giveTablesToKeeper(db)
  await db.query(text.slice(at))
}

async function giveTablesToKeeper(db: Executor): Promise<void> {
  const { rows } = await db.query(
    `select c.oid::regclass::text as name from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and c.relname ~ $1 and c.relowner <> 'tollgate_keeper'::regrole
     order by c.relkind = 'p', c.relname`,
    [KEPT_TABLES],
  )
  for (const { name } of rows as { name: string }[]) {
    await retryOnLockTimeout(() =>
      db.query(
        `set local lock_timeout = '${LOCK_MS}ms'; alter table ${name} owner to tollgate_keeper`,
      ),
    )
  }
}

/** A statement that waits longer for a lock would stop every request behind it. */
async function retryOnLockTimeout(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work()
      return
    } catch (error) {
      if (!isLockTimeout(error) || attempt === ATTEMPTS) throw error
      await pause(PAUSE_MS)
    }
  }
}
