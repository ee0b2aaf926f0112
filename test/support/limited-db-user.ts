// A database role whose connections a test can end and refuse (SQLSTATE 53300), as a server at its
// connection limit does. The tests' own role is a superuser, and limits do not apply to it.
import type { DatabaseRole } from '../../src/platform/db/roles.ts'
import { newInstanceId } from '../../src/platform/ids.ts'
import { onServer, type TestDatabase } from './harness.ts'

export type LimitedDbUser = Awaited<ReturnType<typeof createLimitedDbUser>>

/** With the rights of a program's role; without one, of the owner. */
export async function createLimitedDbUser(database: TestDatabase, role?: DatabaseRole) {
  const name = `tollgate_limited_${process.pid}_${newInstanceId().toString(36)}`
  await onServer((client) =>
    client.query(`create role ${name} login in role ${role ?? 'postgres, tollgate_keeper'}`),
  )
  const url = new URL(database.url)
  url.username = name
  return {
    url: url.href,
    /** Ends the open connections and refuses new ones. */
    async refuseConnections(): Promise<void> {
      await onServer(async (client) => {
        await client.query(`alter role ${name} connection limit 0`)
        await client.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1',
          [name],
        )
      })
    },
    async allowConnections(): Promise<void> {
      await onServer((client) => client.query(`alter role ${name} connection limit -1`))
    },
    /** Ends the open connections; new ones are read-only, as on a demoted primary. */
    async makeReadOnly(): Promise<void> {
      await onServer(async (client) => {
        await client.query(`alter role ${name} set default_transaction_read_only = on`)
        await client.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1',
          [name],
        )
      })
    },
    /** New connections can write; open read-only connections stay read-only. */
    async allowWrites(): Promise<void> {
      await onServer((client) =>
        client.query(`alter role ${name} reset default_transaction_read_only`),
      )
    },
    /** Call it after the last connection of this role has ended. */
    async drop(): Promise<void> {
      await onServer((client) => client.query(`drop role ${name}`))
    },
  }
}
