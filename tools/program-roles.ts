// The database roles of programs that tests, benchmarks and development runs start: each program
// connects as its own, as in a deployment that keeps them apart. Who starts them connects as the
// owner, to prepare the database and to look at it.
import type { DatabaseRole } from '../src/platform/db/roles.ts'

const roles: Readonly<Record<string, DatabaseRole>> = {
  serve: 'tollgate_gateway',
  cabinet: 'tollgate_cabinet',
  work: 'tollgate_worker',
  op: 'tollgate_operator',
  console: 'tollgate_operator',
}
/** The roles of migrations/roles.sql, and the users that tests make of them. */
const OURS = /^tollgate_/

type Environment = Readonly<Record<string, string | undefined>>

/** The same database as another user, who needs no password here. */
export function urlAs(databaseUrl: string, role: string): string {
  const url = new URL(databaseUrl)
  url.username = role
  url.password = ''
  return url.href
}

/**
 * The environment of a command (`serve`, `work` …) with the owner's addresses replaced by those of
 * its role. These stay: the address of `migrate`, which runs as the owner; users that the caller
 * made; and everything of a caller that has set DATABASE_ROLES itself.
 */
export function onRoles<Given extends Environment>(command: string, env: Given): Given {
  const { DATABASE_URL, DATABASE_DIRECT_URL = DATABASE_URL } = env
  if (!DATABASE_URL || !DATABASE_DIRECT_URL || env.DATABASE_ROLES !== undefined) return env
  const role = roles[command]
  const own = (url: string) =>
    role === undefined || OURS.test(new URL(url).username) ? url : urlAs(url, role)
  return {
    ...env,
    DATABASE_URL: own(DATABASE_URL),
    ...(env.DATABASE_DIRECT_URL && { DATABASE_DIRECT_URL: own(DATABASE_DIRECT_URL) }),
    // Only the worker has it, for its work on partitions, which needs the owner of their table.
    ...(command === 'work' && {
      DATABASE_KEEPER_URL: urlAs(DATABASE_DIRECT_URL, 'tollgate_keeper'),
    }),
    // The start refuses the owner, if a caller forgets to replace it.
    DATABASE_ROLES: 'separate',
  }
}
