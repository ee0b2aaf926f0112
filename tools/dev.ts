// npm run dev: everything that a laptop needs to try the service, with nothing installed but Node:
// a PostgreSQL of its own (or the one at DATABASE_URL), the stand-ins of vendor, bank and mail, a
// worker, the cabinet and the gateway, started again when their source changes, and an account with
// credits and a key. Ctrl-C ends all of it; what must survive is in .tollgate, or TOLLGATE_STATE.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createProcesses, type Environment, run } from './dev-processes.ts'
import { answer, startPostgres } from './postgres.ts'

const root = join(import.meta.dirname, '..')
const state = resolve(root, process.env.TOLLGATE_STATE ?? '.tollgate')
/** The upstream key that the stand-in takes and the configuration has by default. */
const UPSTREAM_KEY = 'stand-in-key-1'
/** A first start compiles nothing and answers within seconds, also on a slow disk. */
const READY_MS = 30_000

type Database = { readonly url: string; readonly what: string; stop(): Promise<void> }

const over = { isEnding: false, ...Promise.withResolvers<string>() }
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(''))
const processes = createProcesses()
const open: Database[] = []
try {
  console.log(await start())
  const why = await over.promise
  console.log(why === '' ? '\nending' : `\n${why}; ending`)
  if (why !== '') process.exitCode = 1
} catch (error) {
  // Whatever an interrupted start complains about is of no interest.
  if (!over.isEnding) console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
await processes.stop()
for (const database of open) await database.stop()
process.exit()

function end(why: string): void {
  over.isEnding = true
  over.resolve(why)
}

/** Each step asks this first: a start that was interrupted goes no further. */
function goOn(): void {
  if (over.isEnding) throw new Error('interrupted')
}

async function start(): Promise<string> {
  mkdirSync(state, { recursive: true })
  const database = await findDatabase()
  open.push(database)
  goOn()
  const gatewayPort = await portFor(8080)
  const vendorPort = await portFor(8090)
  const cabinetPort = await portFor(8081)
  const bankPort = await portFor(8790)
  const lettersPort = await portFor(8025)
  const smtpPort = await portFor(2525)
  const pages = {
    url: `http://127.0.0.1:${gatewayPort}`,
    // By name, not by number: passkeys are bound to a host's name.
    cabinet: `http://localhost:${cabinetPort}`,
    letters: `http://127.0.0.1:${lettersPort}`,
    bank: `http://127.0.0.1:${bankPort}`,
  }
  const env: Environment = {
    DATABASE_URL: database.url,
    LEDGER_SPOOL_DIRECTORY: join(state, 'spool'),
    UPSTREAM_URL: `http://127.0.0.1:${vendorPort}`,
    UPSTREAM_KEY,
    GATEWAY_PORT: String(gatewayPort),
    GATEWAY_PUBLIC_URL: pages.url,
    BRAND_CABINET_URL: pages.cabinet,
    CABINET_PORT: String(cabinetPort),
    MAIL_SMTP_URL: `smtp://127.0.0.1:${smtpPort}?starttls=never`,
    YOOKASSA_URL: `${pages.bank}/v3`,
    METRICS_PORT: String(await portFor(9090)),
    METRICS_WORK_PORT: '0',
    METRICS_CABINET_PORT: '0',
    LOG_PRETTY: process.env.LOG_PRETTY ?? 'true',
  }
  console.log(`database ${database.what}`)
  await run(['src/main.ts', 'migrate'], env)
  goOn()
  const key = await run(['tools/seed.ts', join(state, 'dev-key')], env)
  goOn()

  await run(['node_modules/vite/bin/vite.js', 'build', 'web'], env)
  goOn()
  const vendor = ['stand-ins/vendor/serve.ts', '--port', `${vendorPort}`, '--key', UPSTREAM_KEY]
  processes.start('vendor', vendor, env, end)
  const letters = ['stand-ins/mailbox/serve.ts', '--port', `${lettersPort}`]
  processes.start('letters', [...letters, '--smtp-port', `${smtpPort}`], env, end)
  const notices = `http://127.0.0.1:${cabinetPort}/notifications/yookassa`
  const bank = ['stand-ins/bank/serve.ts', '--port', `${bankPort}`, '--webhook-url', notices]
  processes.start('bank', bank, env, end)
  const watched = (command: string) => [
    ...['--watch', '--watch-preserve-output'],
    ...['src/main.ts', command],
  ]
  processes.start('worker', watched('work'), env, end)
  processes.start('cabinet', watched('cabinet'), env, end)
  processes.start('gateway', watched('serve'), env, end)
  await whenAnswering(`${pages.url}/api/hello`)
  await whenAnswering(`http://127.0.0.1:${cabinetPort}/api/brand`)
  return greeting(pages, key)
}

type Pages = Readonly<Record<'url' | 'cabinet' | 'letters' | 'bank', string>>

function greeting({ url, cabinet, letters, bank }: Pages, key: string): string {
  const question = { model: 'model-small', max_tokens: 200 }
  const messages = [{ role: 'user', content: 'Hello' }]
  const post = `-H 'x-api-key: ${key}' -H 'content-type: application/json'`
  const plain = JSON.stringify({ ...question, messages })
  const streamed = JSON.stringify({ ...question, stream: true, messages })
  return `
Cabinet   ${cabinet}   register here; any address will do
Letters   ${letters}   what was sent, with the link to confirm
Bank      ${bank}   payments, and what can be done to them
API       ${url}   the source is watched; Ctrl-C ends everything

To pay, any date and code with card 5555555555554444, or 5555555555554477 for 3-D Secure.
Without registering: an account has credits, its key is in ${join(state, 'dev-key')}.

curl ${url}/v1/messages ${post} -d '${plain}'

curl -N ${url}/v1/messages ${post} -d '${streamed}'

curl ${url}/v1/me -H 'x-api-key: ${key}'
`
}

async function findDatabase(): Promise<Database> {
  const named = process.env.DATABASE_URL
  if (named !== undefined && named !== '') {
    const { version } = await answer(named).catch((error: unknown) => {
      throw new Error(`nothing answers at DATABASE_URL: ${error}`)
    })
    return {
      url: named,
      what: `PostgreSQL ${version} of DATABASE_URL`,
      stop: async () => undefined,
    }
  }
  const started = await startIn(join(state, 'postgres')).catch((error: unknown) => {
    // As root, the server runs as somebody else, to whom a checkout in /root is closed.
    if (!/to whom .* is closed/.test(`${error}`)) throw error
    const name = createHash('sha256').update(state).digest('hex').slice(0, 12)
    return startIn(join('/var/lib/tollgate-dev', name))
  })
  const url = new URL(started.url)
  url.pathname = '/tollgate'
  const client = new pg.Client({ connectionString: started.url })
  await client.connect()
  const { rows } = await client.query(`select from pg_database where datname = 'tollgate'`)
  if (rows.length === 0) await client.query('create database tollgate')
  await client.end()
  const what = `PostgreSQL 18 in ${started.dataDirectory}, port ${started.port}`
  return { url: url.href, what, stop: started.stop }
}

async function startIn(dataDirectory: string) {
  mkdirSync(dataDirectory, { recursive: true })
  return startPostgres({ dataDirectory })
}

/** The usual port, or a free one when somebody has it. */
async function portFor(usual: number): Promise<number> {
  for (const port of [usual, 0]) {
    const server = createServer()
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      const address = server.address()
      return typeof address === 'object' && address !== null ? address.port : port
    } catch {
      // Taken.
    } finally {
      await new Promise((closed) => server.close(closed))
    }
  }
  throw new Error('there is no free port')
}

async function whenAnswering(url: string): Promise<void> {
  const deadlineMs = performance.now() + READY_MS
  for (;;) {
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    goOn()
    if (performance.now() > deadlineMs) throw new Error(`nothing answers at ${url}`)
    await delay(100)
  }
}
