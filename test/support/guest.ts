// A database user whose connections can be taken away, as a server without a free one does: with
// SQLSTATE 53300. The tests' own user is a superuser, whom no limit stops.
import { newInstanceId } from '../../src/platform/ids.ts'
import { onServer, type TestDatabase } from './harness.ts'

export type Guest = Awaited<ReturnType<typeof createGuest>>

export async function createGuest(database: TestDatabase) {
  const name = `tollgate_guest_${process.pid}_${newInstanceId().toString(36)}`
  await onServer((client) => client.query(`create role ${name} login in role postgres`))
  const url = new URL(database.url)
  url.username = name
  return {
    url: url.href,
    /** Ends the connections there are and refuses new ones. */
    async shutOut(): Promise<void> {
      await onServer(async (client) => {
        await client.query(`alter role ${name} connection limit 0`)
        await client.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1',
          [name],
        )
      })
    },
    async letIn(): Promise<void> {
      await onServer((client) => client.query(`alter role ${name} connection limit -1`))
    },
    /** Ends the connections there are; new ones can only read, as those to an old primary. */
    async onlyRead(): Promise<void> {
      await onServer(async (client) => {
        await client.query(`alter role ${name} set default_transaction_read_only = on`)
        await client.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1',
          [name],
        )
      })
    },
    /** New connections can write; those that can only read stay so. */
    async write(): Promise<void> {
      await onServer((client) =>
        client.query(`alter role ${name} reset default_transaction_read_only`),
      )
    },
    /** When nothing of its own is connected any more. */
    async drop(): Promise<void> {
      await onServer((client) => client.query(`drop role ${name}`))
    },
  }
}
