// The four relays of the benchmark, each started the same way: alone on the relay's core, in front
// of the same stub. Ours is the real `serve` with its default settings, a real database, real keys
// and accounts with credits; only ports, secrets and the number of upstream connections are set.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { credits } from '../src/units/credits.ts'
import {
  createTestDatabase,
  createTestKeys,
  createTestLedger,
  keySettings,
  type TestDatabase,
} from '../test/support/harness.ts'
import { freePort } from '../tools/free-port.ts'
import { type Postgres, startPostgres } from '../tools/postgres.ts'
import { onRoles } from '../tools/program-roles.ts'
import { ensureProgram, RELAY_CORE, startOn, whenListening } from './relay-tools.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const PORTKEY = '1.15.2'
/** Enough for 9,000 streams, as many as 20,000 open files allow. */
const CONNECTIONS_MAX = '20000'
/** More than any run spends; the largest hold of this benchmark is about 10 million. */
const CREDITS_EACH = 10n ** 11n

export type RelayName = 'ours' | 'bare' | 'nginx' | 'portkey'

export type Relay = {
  readonly name: RelayName
  readonly port: number
  readonly pids: readonly number[]
  stop(): Promise<void>
}

/** What the relays share: a folder for files, the stub, and for ours a database and its keys. */
export type Ground = {
  readonly folder: string
  readonly stubPort: number
  readonly postgres: Postgres
  readonly database: TestDatabase
  readonly keys: readonly string[]
}

/** Starts a private server and creates accounts, each with credits and a key. */
export async function createGround(folder: string, stubPort: number, accounts: number) {
  const postgres = await startPostgres({
    // The system's package, as in the other benchmarks: operators run it. The embedded 18 needs
    // half as much time again for each call.
    version: 'system',
    // One gigabyte as in the ledger benchmark; no checkpoint in the middle of a round.
    settings: { shared_buffers: '1GB', max_wal_size: '16GB', checkpoint_timeout: '1h' },
  })
  try {
    const database = await createTestDatabase(postgres.url)
    const keys = await createAccounts(database, accounts)
    const ground: Ground = { folder, stubPort, postgres, database, keys }
    return {
      ...ground,
      async end() {
        await database.drop()
        await postgres.stop()
      },
    }
  } catch (error) {
    await postgres.stop()
    throw error
  }
}

async function createAccounts({ db, url }: TestDatabase, count: number): Promise<string[]> {
  const ledger = await createTestLedger(url)
  const keys = createTestKeys(db, ledger)
  const one = async () => {
    const book = await ledger.createBook(db)
    return db.transaction(async (tx) => {
      const ref = `bench ${book}`
      const amount = credits(CREDITS_EACH)
      await ledger.credit(tx, { book, kind: 'purchase', ref, amount, contra: 'clearing', note: '' })
      const issued = await keys.issue(tx, book)
      await keys.confirm(tx, book, issued.keyId)
      return issued.plain
    })
  }
  const made: string[] = []
  const makers = Array.from({ length: 4 }, async () => {
    while (made.length < count) made.push(await one())
  })
  try {
    await Promise.all(makers)
  } finally {
    await ledger.end()
  }
  return made.slice(0, count)
}

/** Starts one relay; only ours uses `nodeFlags`. */
export async function startRelay(
  name: RelayName,
  ground: Ground,
  nodeFlags: readonly string[] = [],
): Promise<Relay> {
  const port = await freePort()
  const log = join(ground.folder, `${name}.log`)
  const { command, env = {} } = await commands[name]({ ground, port, nodeFlags })
  const running = startOn(RELAY_CORE, command, { log, env, cwd: root })
  try {
    await whenListening(port, running, log)
  } catch (error) {
    await running.stop()
    throw error
  }
  return { name, port, pids: running.pids(), stop: running.stop }
}

type Plan = {
  readonly ground: Ground
  readonly port: number
  readonly nodeFlags: readonly string[]
}
type Command = { readonly command: readonly string[]; readonly env?: Record<string, string> }

const commands: Record<RelayName, (plan: Plan) => Promise<Command>> = {
  ours: async ({ ground, port, nodeFlags }) => ({
    command: [process.execPath, ...nodeFlags, join(root, 'src/main.ts'), 'serve'],
    env: onRoles('serve', {
      DATABASE_URL: ground.database.url,
      GATEWAY_PORT: String(port),
      GATEWAY_PROCESSES: '1',
      GATEWAY_DRAIN_SECONDS: '1',
      GATEWAY_DRAIN_IDLE_SECONDS: '0',
      METRICS_PORT: String(await freePort()),
      LEDGER_SPOOL_DIRECTORY: join(ground.folder, 'spool'),
      KEYS_TAG_SECRET: keySettings.tagSecret.reveal(),
      KEYS_LOOKUP_SECRET: keySettings.lookupSecret.reveal(),
      UPSTREAM_URL: `http://127.0.0.1:${ground.stubPort}`,
      UPSTREAM_CONNECTIONS: CONNECTIONS_MAX,
    }),
  }),

  bare: async ({ ground, port }) => ({
    command: [
      process.execPath,
      join(import.meta.dirname, 'bare-relay.ts'),
      String(port),
      `http://127.0.0.1:${ground.stubPort}`,
    ],
  }),

  nginx: async ({ ground, port }) => {
    const { folder, stubPort } = ground
    const nginx = await ensureProgram('nginx', ['nginx-light'])
    const template = await readFile(join(import.meta.dirname, 'relay-nginx.conf'), 'utf8')
    const file = join(folder, `nginx-${port}.conf`)
    // If root starts nginx, its worker runs as another user, who must be able to enter the folder.
    await chmod(folder, 0o755)
    await writeFile(
      file,
      template
        .replaceAll('FOLDER', folder)
        .replaceAll('PORT', String(port))
        .replaceAll('UPSTREAM', String(stubPort)),
    )
    return { command: [nginx, '-e', join(folder, 'nginx-error.log'), '-c', file] }
  },

  portkey: async ({ port }) => ({
    command: [
      process.execPath,
      ...['--import', ON_LOOPBACK],
      join(await installPortkey(), 'build/start-server.js'),
      `--port=${port}`,
      '--headless',
    ],
    env: { NODE_ENV: 'production' },
  }),
}

// Portkey has no option for its listening address and would listen on all of them.
const ON_LOOPBACK = `data:text/javascript,${encodeURIComponent(`
  import net from 'node:net'
  const listen = net.Server.prototype.listen
  net.Server.prototype.listen = function (port, ...rest) {
    const ready = rest.findLast((one) => typeof one === 'function')
    return listen.call(this, { port: Number(port?.port ?? port), host: '127.0.0.1' }, ready)
  }`)}`

/** Headers that tell Portkey where to send a request. */
export function portkeyHeaders({ stubPort }: Ground): string[] {
  return ['x-portkey-provider: anthropic', `x-portkey-custom-host: http://127.0.0.1:${stubPort}/v1`]
}

// Installed outside the project and kept for the next run: we measure it and do not depend on it.
async function installPortkey(): Promise<string> {
  const folder = join(tmpdir(), `tollgate-bench-portkey-${PORTKEY}`)
  const installed = join(folder, 'node_modules/@portkey-ai/gateway')
  if (!existsSync(join(installed, 'build/start-server.js'))) {
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-save']
    await run('npm', ['--prefix', folder, 'install', ...flags, `@portkey-ai/gateway@${PORTKEY}`], {
      cwd: tmpdir(),
      timeout: 300_000,
    })
  }
  return installed
}
