// Starts a private PostgreSQL that a test may kill, freeze or throw away: version 18 from the
// locked npm package, or the system's 15. It listens on 127.0.0.1 without a password, so it is
// for tests and development only. The server refuses to run as root; root runs it as an
// unprivileged user. No process or temporary folder outlives the process that started it.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './free-port.ts'
import { type Identity, reachableBinaries, tempRoot, unprivileged } from './postgres-binaries.ts'
import { clusterPids, endCluster, signalAll } from './postgres-processes.ts'

export type PostgresOptions = {
  /** Default: the embedded 18. */
  version?: '18-embedded' | 'system'
  /** Kept, and used again if it contains a cluster. Default: a temporary folder. */
  dataDirectory?: string
  /** Default: a free one. */
  port?: number
  settings?: Record<string, string>
}

export type Postgres = {
  url: string
  port: number
  /** The postmaster's process id. */
  pid: number
  dataDirectory: string
  /** Stops the server, even a frozen or dead one, and waits for all its processes. */
  stop(): Promise<void>
  /** SIGKILL, SIGSTOP and SIGCONT reach every process of the server, others the postmaster. */
  kill(signal: NodeJS.Signals): void
}

// After a kill the server replays its log before it answers: up to max_wal_size, 1 GB.
const START_MS_MAX = 60_000
const ANSWER_MS_MAX = 1000
const POLL_MS = 25
/** Another process may take a free port before the server binds it. */
const PORT_ATTEMPTS_MAX = 3

// 256 MB holds a test's working set; 200 connections serve two test files with pools of their own.
// fsync stays on, because tests kill the server and then count what was acknowledged.
const SETTINGS: Record<string, string> = {
  shared_buffers: '256MB',
  max_connections: '200',
  fsync: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
}

/** Starts a server and waits until it answers. */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const identity = unprivileged()
  const binaries = await reachableBinaries(options.version ?? '18-embedded', identity)
  const temporary =
    options.dataDirectory === undefined
      ? fs.mkdtempSync(join(tempRoot(), 'tollgate-pg-'))
      : undefined
  const dataDirectory = resolve(options.dataDirectory ?? join(temporary ?? '', 'data'))
  const settings = { ...SETTINGS, ...options.settings }
  try {
    await createCluster(binaries, dataDirectory, identity, temporary)
    for (let attempt = 1; ; attempt++) {
      const port = options.port ?? (await freePort())
      try {
        return await launch({ binaries, dataDirectory, temporary, port, settings, identity })
      } catch (error) {
        const isTaken = /could not bind/.test(`${error}`) && options.port === undefined
        if (!isTaken || attempt === PORT_ATTEMPTS_MAX) throw error
      }
    }
  } catch (error) {
    if (temporary !== undefined) fs.rmSync(temporary, { recursive: true, force: true })
    throw error
  }
}

async function createCluster(
  binaries: string,
  dataDirectory: string,
  identity: Identity,
  temporary: string | undefined,
): Promise<void> {
  fs.mkdirSync(dataDirectory, { recursive: true })
  for (const path of [dataDirectory, temporary].filter((path) => path !== undefined)) {
    fs.chmodSync(path, 0o700)
    const { uid, gid } = identity
    if (uid !== undefined && gid !== undefined) fs.chownSync(path, uid, gid)
  }
  if (identity.uid !== undefined) refuseClosed(dirname(dataDirectory), identity.uid)
  if (fs.existsSync(join(dataDirectory, 'PG_VERSION'))) return
  // The C locale exists on every system and compares text byte by byte.
  await promisify(execFile)(
    join(binaries, 'initdb'),
    ['-D', dataDirectory, '-U', 'postgres', '-E', 'UTF8', '--locale=C', '-A', 'trust', '--no-sync'],
    { ...identity, cwd: dataDirectory, env: serverEnvironment() },
  )
  fs.writeFileSync(join(dataDirectory, 'pg_hba.conf'), 'host all all 127.0.0.1/32 trust\n')
}

function refuseClosed(folder: string, uid: number): void {
  const { mode, uid: owner } = fs.statSync(folder)
  if (owner !== uid && (mode & 0o001) === 0) {
    throw new Error(`as root, PostgreSQL runs as user ${uid}, to whom ${folder} is closed`)
  }
  if (dirname(folder) !== folder) refuseClosed(dirname(folder), uid)
}

type Launch = {
  binaries: string
  dataDirectory: string
  temporary: string | undefined
  port: number
  settings: Record<string, string>
  identity: Identity
}

async function launch(plan: Launch): Promise<Postgres> {
  const { dataDirectory, port } = plan
  // The name is in the title of every process of the server. After the postmaster was killed, there
  // is no other way to find its children.
  const name = `tollgate-${randomBytes(6).toString('hex')}`
  const server = spawnServer(plan, name)
  await once(server, 'spawn')
  const pid = server.pid ?? 0
  const guard = spawnGuard(name, pid, plan.temporary)
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`

  function kill(signal: NodeJS.Signals): void {
    const isForAll = ['SIGKILL', 'SIGSTOP', 'SIGCONT'].includes(signal)
    const children = isForAll ? clusterPids(name).filter((child) => child !== pid) : []
    // The postmaster first: it would replace a dead child.
    signalAll(hasEnded(server) ? children : [pid, ...children], signal)
  }

  async function stop(): Promise<void> {
    await endCluster(name, hasEnded(server) ? undefined : pid)
    // The system does not reuse its process id until we have seen it exit.
    server.ref()
    if (!hasEnded(server)) await once(server, 'exit')
    guard.kill('SIGKILL')
    if (plan.temporary !== undefined) fs.rmSync(plan.temporary, { recursive: true, force: true })
  }

  try {
    await whenAnswering(url, server)
  } catch (error) {
    const log = fs.readFileSync(join(dataDirectory, LOG), 'utf8').trimEnd().split('\n').slice(-15)
    await endCluster(name, undefined)
    guard.kill('SIGKILL')
    throw new Error(`PostgreSQL did not start:\n${log.join('\n')}`, { cause: error })
  }
  return { url, port, pid, dataDirectory, stop, kill }
}

const LOG = 'server.log'

function spawnServer(plan: Launch, name: string): ChildProcess {
  const fixed = { listen_addresses: '127.0.0.1', cluster_name: name, port: `${plan.port}` }
  const settings = Object.entries({ unix_socket_directories: '', ...plan.settings, ...fixed })
  const log = fs.openSync(join(plan.dataDirectory, LOG), 'a')
  const server = spawn(
    join(plan.binaries, 'postgres'),
    ['-D', plan.dataDirectory, ...settings.flatMap(([key, value]) => ['-c', `${key}=${value}`])],
    {
      ...plan.identity,
      cwd: plan.dataDirectory,
      env: serverEnvironment(),
      stdio: ['ignore', log, log],
      // Its own process group, so that Ctrl-C in the terminal reaches only us.
      detached: true,
    },
  )
  fs.closeSync(log)
  // A test that forgets to stop its server can still exit; then the guard stops the server.
  server.unref()
  return server
}

// The guard stops the server if this process dies first, for example by a test timeout. The end of
// its standard input tells it so.
function spawnGuard(name: string, pid: number, temporary: string | undefined): ChildProcess {
  const file = fileURLToPath(new URL('./postgres-guard.ts', import.meta.url))
  const guard = spawn(process.execPath, [file, name, `${pid}`, temporary ?? ''], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()
  return guard
}

// PG* variables of the shell would change the server's settings, so pass only what it needs.
function serverEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' }
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null
}

async function whenAnswering(url: string, server: ChildProcess): Promise<void> {
  const deadlineMs = Date.now() + START_MS_MAX
  for (;;) {
    const refused = await answer(url).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (refused === undefined) return
    if (hasEnded(server) || Date.now() > deadlineMs) throw refused
    await delay(POLL_MS)
  }
}

/** Connects to a server; throws if it does not answer. */
export async function answer(url: string): Promise<{ isSuperuser: boolean; version: string }> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
  })
  // Without a listener, a connection that breaks between two statements would crash this process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query(
      `select current_setting('is_superuser') as superuser, current_setting('server_version') as v`,
    )
    return { isSuperuser: rows[0].superuser === 'on', version: rows[0].v }
  } finally {
    await client.end().catch(() => undefined)
  }
}
