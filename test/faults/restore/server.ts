// A PostgreSQL whose WAL is archived and whose backups are made by pgBackRest, with the settings
// and by the command of the timer that we ship. It may be destroyed, and restored at the same
// address: to the end of the archive, or to an earlier moment.
import { execFile } from 'node:child_process'
import { appendFile, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Postgres, startPostgres } from '../../../tools/postgres.ts'
import { tempRoot, unprivileged } from '../../../tools/postgres-binaries.ts'
import { childEnvironment } from '../../support/child-environment.ts'
import { sleep } from '../../support/drill.ts'
import { onServer } from '../../support/harness.ts'

const SHIPPED = join(import.meta.dirname, '../../../deploy/pgbackrest')
/** PostgreSQL replays a full form's archive within it; without an end the drill would wait. */
const RECOVERY_MS_MAX = 300_000

async function recovered(isInRecovery: () => Promise<string | undefined>): Promise<void> {
  const deadline = performance.now() + RECOVERY_MS_MAX
  while ((await isInRecovery()) !== 'false') {
    if (performance.now() > deadline) throw new Error('it does not recover')
    await sleep(50)
  }
}

/** The directories of the server and of pgBackRest, which both run as an ordinary user. */
async function makeFolder() {
  const folder = await mkdtemp(join(tempRoot(), 'tollgate-restore-'))
  const at = (name: string) => join(folder, name)
  const own = async (path: string) => {
    const { uid, gid } = unprivileged()
    if (uid !== undefined && gid !== undefined) await chown(path, uid, gid)
  }
  await own(folder)
  for (const name of ['repo', 'socket', 'log', 'lock']) {
    await mkdir(at(name))
    await own(at(name))
  }
  return { folder, at, own }
}

export async function startArchivedServer() {
  const { folder, at, own } = await makeFolder()
  const data = at('data')
  const config = at('pgbackrest.conf')
  const program = `pgbackrest --config=${config} --stanza=tollgate`
  const settings = {
    archive_mode: 'on',
    archive_command: `${program} archive-push %p`,
    archive_timeout: '60s',
    unix_socket_directories: at('socket'),
  }
  let server: Postgres = await startPostgres({ version: 'system', dataDirectory: data, settings })
  const { port, url } = server
  await writeFile(
    config,
    filledIn(await readFile(join(SHIPPED, 'pgbackrest.conf'), 'utf8'), at, port),
  )
  await appendFile(join(data, 'pg_hba.conf'), 'local all all trust\n')
  await ask('select pg_reload_conf()')
  await backrest('stanza-create')

  /** Runs one statement; returns the column `value` of its only row, if any. */
  function ask(statement: string): Promise<string | undefined> {
    return onServer(async (client) => (await client.query(statement)).rows[0]?.value, url)
  }

  async function backrest(...args: string[]): Promise<void> {
    const [name = '', ...options] = program.split(' ')
    await asPostgres(name, [...options, '--log-level-console=warn', ...args])
  }

  function asPostgres(name: string, args: readonly string[]) {
    const socket = { PGHOST: at('socket'), PGPORT: String(port), PGUSER: 'postgres' }
    return promisify(execFile)(name, args, {
      ...unprivileged(),
      cwd: folder,
      env: { ...childEnvironment, LC_ALL: 'C', ...socket, PGBACKREST_CONFIG: config },
    })
  }

  return {
    url,
    ask,
    /** What the timer starts at night; the first one is full on any day. */
    async backUp(database: string): Promise<void> {
      const unit = await readFile(join(SHIPPED, 'tollgate-backup.service'), 'utf8')
      const command = /^ExecStart=\/usr\/local\/bin\/(.+)$/m.exec(unit)?.[1] ?? ''
      await asPostgres('sh', [join(SHIPPED, command), database])
    },

    /** Resolves when everything that was committed before is in the archive. */
    async archiveAll(): Promise<void> {
      const file = await ask('select pg_walfile_name(pg_switch_wal()) as value')
      const isThere = `select (last_archived_wal >= '${file}')::text as value from pg_stat_archiver`
      while ((await ask(isThere)) !== 'true') await sleep(50)
    },

    /** The server and its disk are lost. */
    async destroy(): Promise<void> {
      server.kill('SIGKILL')
      await server.stop()
      await rm(data, { recursive: true, force: true })
    },

    /** Without a moment: to the end of the archive. Resolves when the server takes writes. */
    async restore(moment?: string): Promise<void> {
      await mkdir(data, { mode: 0o700 })
      await own(data)
      const target = moment === undefined ? [] : ['--type=time', `--target=${moment}`]
      await backrest(...target, ...(moment ? ['--target-action=promote'] : []), 'restore')
      server = await startPostgres({ version: 'system', dataDirectory: data, port, settings })
      await recovered(() => ask('select pg_is_in_recovery()::text as value'))
    },

    async end(): Promise<void> {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The file that we ship, with this machine's paths and port. */
function filledIn(shipped: string, at: (name: string) => string, port: number): string {
  const values: Record<string, string> = {
    'repo1-path': at('repo'),
    'pg1-path': at('data'),
    'pg1-port': String(port),
    'pg1-socket-path': at('socket'),
  }
  const lines = Object.entries(values).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`),
    shipped,
  )
  return lines
    .replace('[global]\n', `[global]\nlog-path=${at('log')}\nlock-path=${at('lock')}\n`)
    .replace('[tollgate]\n', '[tollgate]\npg1-user=postgres\n')
}
