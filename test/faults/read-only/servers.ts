// Two real PostgreSQL servers behind one address: a primary and its streaming standby. The address
// is a TCP proxy, so that a failover moves it while connections to the old primary stay open.
import { execFile } from 'node:child_process'
import { appendFile, chown, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Postgres, startPostgres } from '../../../tools/postgres.ts'
import { reachableBinaries, tempRoot, unprivileged } from '../../../tools/postgres-binaries.ts'
import { createDatabaseProxy } from '../../support/database-proxy.ts'
import { sleep } from '../../support/drill.ts'
import { onServer } from '../../support/harness.ts'

/** A standby catches up within milliseconds; on two busy cores, within seconds. */
const CAUGHT_UP_MS_MAX = 20_000

export type Servers = Awaited<ReturnType<typeof startServers>>

export async function startServers() {
  const folder = await mkdtemp(join(tempRoot(), 'tollgate-read-only-'))
  const { uid, gid } = unprivileged()
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
  const at = (name: string) => ({ version: 'system', dataDirectory: join(folder, name) }) as const
  const primary = await startPostgres(at('primary'))
  await appendFile(
    join(primary.dataDirectory, 'pg_hba.conf'),
    'host replication all 127.0.0.1/32 trust\n',
  )
  await ask(primary, 'select pg_reload_conf()')
  const proxy = await createDatabaseProxy(primary.url)
  const running: Postgres[] = [primary]

  return {
    primary,
    /** The address that our processes connect to. */
    url: proxy.url,

    /** Makes new transactions read-only, or writable again. */
    async setReadOnly(isReadOnly: boolean): Promise<void> {
      await ask(primary, `alter system set default_transaction_read_only = ${isReadOnly}`)
      await ask(primary, 'select pg_reload_conf()')
    },

    /** Starts a standby of the primary. */
    async startStandby(): Promise<Postgres> {
      const standby = at('standby')
      const binaries = await reachableBinaries('system', unprivileged())
      const from = ['-h', '127.0.0.1', '-p', `${primary.port}`, '-U', 'postgres']
      const how = ['-D', standby.dataDirectory, '-X', 'stream', '-c', 'fast', '-R', '--no-sync']
      await promisify(execFile)(join(binaries, 'pg_basebackup'), [...from, ...how], {
        ...unprivileged(),
        cwd: folder,
        env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
      })
      const started = await startPostgres(standby)
      running.push(started)
      return started
    },

    /** Waits until the standby has everything, promotes it, and moves the address to it. */
    async failOver(standby: Postgres): Promise<void> {
      const wanted = await ask(primary, 'select pg_current_wal_flush_lsn()::text as value')
      const reached = `select (pg_last_wal_replay_lsn() >= '${wanted}')::text as value`
      const deadline = performance.now() + CAUGHT_UP_MS_MAX
      while ((await ask(standby, reached)) !== 'true') {
        if (performance.now() > deadline) throw new Error('the standby does not catch up')
        await sleep(20)
      }
      await ask(standby, 'select pg_promote()')
      proxy.moveTo(standby.url)
    },

    async end(): Promise<void> {
      await proxy.end()
      for (const one of running.reverse()) await one.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Runs one statement; returns the column `value` of its only row, if any. */
export function ask(server: Postgres, statement: string): Promise<string | undefined> {
  return onServer(async (client) => (await client.query(statement)).rows[0]?.value, server.url)
}
