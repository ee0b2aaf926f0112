// A PgBouncer in transaction mode in front of a server, as a child of the test.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseRoles } from '../../src/platform/db/roles.ts'
import { freePorts } from '../../tools/free-port.ts'
import { sleep } from './drill.ts'
import { onServer } from './harness.ts'

/** Debian installs it outside of an ordinary user's PATH. */
const PROGRAM = '/usr/sbin/pgbouncer'
/** Milliseconds on a quiet machine; beside a build on two cores, seconds. */
const READY_MS_MAX = 30_000
/** How many characters of what it said an error message shows. */
const SAID_MAX = 2_000

/** The version, or undefined where it is not installed. */
export function pgBouncerVersion(): string | undefined {
  try {
    return /PgBouncer (\S+)/.exec(execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }))?.[1]
  } catch {
    return undefined
  }
}

export type PgBouncer = Awaited<ReturnType<typeof startPgBouncer>>

/** `ignored`: startup parameters that it drops; it refuses a client that sends any other. */
export async function startPgBouncer(serverUrl: string, ignored: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-pgbouncer-'))
  // PgBouncer leaves root for the user `postgres`, who must be able to read its files.
  await chmod(folder, 0o755)
  const server = new URL(serverUrl)
  const [port = 0] = await freePorts(1)
  const users = join(folder, 'users.txt')
  const names = [server.username, ...databaseRoles]
  await writeFile(users, names.map((name) => `"${name}" ""\n`).join(''))
  const lines = [
    '[databases]',
    `* = host=${server.hostname} port=${server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    // Fewer than our connections, so that they do share sessions.
    'default_pool_size = 4',
    ...(ignored.length > 0 ? [`ignore_startup_parameters = ${ignored.join(',')}`] : []),
    ...(process.getuid?.() === 0 ? ['user = postgres'] : []),
  ]
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(file, `${lines.join('\n')}\n`)
  const child = spawn(PROGRAM, ['-q', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (data: Buffer) => {
    said = (said + data.toString()).slice(-SAID_MAX)
  })
  const exited = once(child, 'exit')
  server.port = String(port)
  const url = server.href
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    await rm(folder, { recursive: true, force: true })
  }
  const deadline = performance.now() + READY_MS_MAX
  const answers = () => onServer((client) => client.query('select 1'), url).catch(() => undefined)
  while ((await answers()) === undefined) {
    if (performance.now() > deadline || child.exitCode !== null) {
      await stop()
      throw new Error(`PgBouncer does not answer: ${said}`)
    }
    await sleep(20)
  }
  return {
    /** The same database, through PgBouncer. */
    urlOf(databaseUrl: string): string {
      const behind = new URL(databaseUrl)
      behind.port = String(port)
      return behind.href
    },
    stop,
  }
}
