// Starts the whole service on a laptop that has only Node: a private PostgreSQL, the stand-ins of
// vendor, bank and mail, a worker, the cabinet, the console and the gateway, an account with a
// month of requests, and an operator. Ctrl-C ends all processes; they also end if this process
// dies.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, findDatabase, portFor, requireRoles, state } from './dev-places.ts'
import { createProcesses, type Environment } from './dev-processes.ts'
import { onRoles } from './program-roles.ts'
import { operatorFiles, type SeededOperator } from './seed-operator.ts'
import { OPERATOR, SIGN_IN } from './seed-sign-in.ts'

/** The upstream key that the stand-in accepts; also the default of the configuration. */
const UPSTREAM_KEY = 'stand-in-key-1'
/** So that the demo looks like a shop; the lines say that they are made up. */
const SAMPLE_SELLER =
  'ООО «Пример» (образец)|ИНН 7700000000, ОГРН 1000000000000|101000, Москва, ул. Примерная, 1'
/** A first start answers within seconds, even on a slow disk: nothing is compiled. */
const READY_MS = 90_000

/** For a server where the roles of programs cannot be made or cannot connect. */
const isOneRole = process.env.DATABASE_ROLES === 'one'

export type StageOptions = {
  /** Servers restart when their source changes, and print their whole log. */
  readonly isWatched: boolean
}

/** Starts the service, waits for Ctrl-C and ends all processes. Returns the exit code. */
export async function runStage({ isWatched }: StageOptions): Promise<number> {
  const over = { isEnding: false, ...Promise.withResolvers<string>() }
  const end = (why: string) => {
    over.isEnding = true
    over.resolve(why)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(''))
  /** Each step calls this first, so that an interrupted start stops. */
  const goOn = () => {
    if (over.isEnding) throw new Error('interrupted')
  }
  const processes = createProcesses()
  const databases: Database[] = []
  const exit = { code: 0 }
  try {
    console.log(await start({ isWatched, processes, databases, goOn, end }))
    const why = await over.promise
    console.log(why === '' ? '\nending' : `\n${why}; ending`)
    if (why !== '') exit.code = 1
  } catch (error) {
    // Errors of an interrupted start are not printed.
    if (!over.isEnding) console.error(error instanceof Error ? error.message : error)
    exit.code = 1
  }
  await processes.stop()
  for (const database of databases) await database.stop()
  return exit.code
}

type Stage = StageOptions & {
  readonly processes: ReturnType<typeof createProcesses>
  readonly databases: Database[]
  goOn(): void
  end(why: string): void
}

async function start(stage: Stage): Promise<string> {
  const { processes, goOn, end } = stage
  mkdirSync(state, { recursive: true })
  const ports = await findPorts()
  const pages = pagesOf(ports)
  // The pages are built while the database is created; the two take most of a first start.
  const vite = (folder: string) =>
    processes.run(['node_modules/vite/bin/vite.js', 'build', folder], {})
  const built = vite('web').then(() => vite('web/console'))
  built.catch(() => undefined)
  const database = await findDatabase()
  stage.databases.push(database)
  goOn()
  console.log(`database ${database.what}`)
  const env = environmentOf(stage, database, ports, pages)
  await processes.run(['src/main.ts', 'migrate'], onRoles('migrate', env))
  if (!isOneRole) await requireRoles(database.url)
  goOn()
  startStandIns(stage, env, ports)
  await whenAnswering(`${pages.bank}/sim/state`, goOn)
  const key = await processes.run(['tools/seed.ts', join(state, 'dev-key')], env)
  goOn()
  await processes.run(['tools/seed-emails.ts', pages.letters], env)
  await built
  goOn()
  const watching = stage.isWatched ? ['--watch', '--watch-preserve-output'] : []
  const startOurs = (name: string, command: 'work' | 'cabinet' | 'console' | 'serve') =>
    processes.start(name, [...watching, 'src/main.ts', command], onRoles(command, env), end)
  startOurs('gateway', 'serve')
  startOurs('cabinet', 'cabinet')
  startOurs('console', 'console')
  await whenAnswering(`${pages.url}/api/hello`, goOn)
  await whenAnswering(`http://127.0.0.1:${ports.cabinet}/api/brand`, goOn)
  await whenAnswering(`http://127.0.0.1:${ports.console}/readyz`, goOn)
  // Its probes would report a gateway that is still starting as an outage.
  startOurs('worker', 'work')
  return greeting(stage, pages, { key, databaseUrl: onRoles('op', env).DATABASE_URL })
}

type Ports = Awaited<ReturnType<typeof findPorts>>
type Pages = ReturnType<typeof pagesOf>

async function findPorts() {
  return {
    gateway: await portFor(8080),
    vendor: await portFor(8090),
    cabinet: await portFor(8081),
    console: await portFor(8083),
    bank: await portFor(8790),
    letters: await portFor(8025),
    smtp: await portFor(2525),
    metrics: await portFor(9090),
  }
}

function pagesOf({ gateway, cabinet, console: desk, letters, bank }: Ports) {
  return {
    url: `http://127.0.0.1:${gateway}`,
    // A host name, not an IP address: passkeys are bound to a host name.
    cabinet: `http://localhost:${cabinet}`,
    console: `http://localhost:${desk}`,
    letters: `http://127.0.0.1:${letters}`,
    bank: `http://127.0.0.1:${bank}`,
  }
}

function environmentOf({ isWatched }: Stage, database: Database, ports: Ports, pages: Pages) {
  return {
    DATABASE_URL: database.url,
    ...(isOneRole && { DATABASE_ROLES: 'one' }),
    LEDGER_SPOOL_DIRECTORY: join(state, 'spool'),
    UPSTREAM_URL: `http://127.0.0.1:${ports.vendor}`,
    UPSTREAM_KEY,
    GATEWAY_PORT: String(ports.gateway),
    GATEWAY_PUBLIC_URL: pages.url,
    BRAND_CABINET_URL: pages.cabinet,
    BRAND_REQUISITES: SAMPLE_SELLER,
    BRAND_DOCUMENTS_FILE: join(import.meta.dirname, '../documents.example/documents.yaml'),
    CABINET_PORT: String(ports.cabinet),
    CONSOLE_PORT: String(ports.console),
    OPERATORS_CONSOLE_URL: pages.console,
    OPERATORS_SESSION_FILE: operatorFiles(state).session,
    MAIL_SMTP_URL: `smtp://127.0.0.1:${ports.smtp}?starttls=never`,
    YOOKASSA_URL: `${pages.bank}/v3`,
    METRICS_PORT: String(ports.metrics),
    METRICS_WORK_PORT: '0',
    METRICS_CABINET_PORT: '0',
    METRICS_CONSOLE_PORT: '0',
    LOG_PRETTY: process.env.LOG_PRETTY ?? 'true',
    LOG_LEVEL: process.env.LOG_LEVEL ?? (isWatched ? 'info' : 'warn'),
  }
}

function startStandIns({ processes, end }: Stage, env: Environment, ports: Ports): void {
  const vendor = ['stand-ins/vendor/serve.ts', '--port', `${ports.vendor}`, '--key', UPSTREAM_KEY]
  processes.start('vendor', vendor, env, end)
  const letters = ['stand-ins/mailbox/serve.ts', '--port', `${ports.letters}`]
  processes.start('e-mails', [...letters, '--smtp-port', `${ports.smtp}`], env, end)
  const notices = `http://127.0.0.1:${ports.cabinet}/notifications/yookassa`
  const bank = ['stand-ins/bank/serve.ts', '--port', `${ports.bank}`, '--webhook-url', notices]
  processes.start('bank', bank, env, end)
}

function greeting(
  { isWatched }: Stage,
  pages: Pages,
  { key, databaseUrl }: { readonly key: string; readonly databaseUrl: string },
): string {
  const { url, cabinet, console: desk, letters, bank } = pages
  const { factor, session } = operatorFiles(state)
  const { seed, recoveryCodes } = JSON.parse(readFileSync(factor, 'utf8')) as SeededOperator
  const op =
    `OPERATORS_SESSION_FILE=${session} OPERATORS_CONSOLE_URL=${desk} ` +
    `BRAND_CABINET_URL=${cabinet} YOOKASSA_URL=${bank}/v3`
  const question = { model: 'model-small', max_tokens: 200 }
  const messages = [{ role: 'user', content: 'Hello' }]
  const post = `-H 'x-api-key: ${key}' -H 'content-type: application/json'`
  const plain = JSON.stringify({ ...question, messages })
  const streamed = JSON.stringify({ ...question, stream: true, messages })
  const watched = isWatched ? 'the source is watched; ' : ''
  return `
Cabinet   ${cabinet}   sign in: ${SIGN_IN.email}, password: ${SIGN_IN.password}
Docs      ${cabinet}/docs/quick-start   how to call it, costs, reference, errors
E-mails   ${letters}   what was sent to anybody, confirmation links among it
          ${letters}/samples   every e-mail, in both languages and themes
Bank      ${bank}   payments, and what can be done to them
API       ${url}   ${watched}Ctrl-C ends everything
Console   ${desk}   sign in: ${OPERATOR.email}, password: ${OPERATOR.password}
          code: of an app with the key ${seed}, or once each
          ${recoveryCodes.slice(0, 3).join(', ')}
Operator  ${op} DATABASE_URL=${databaseUrl} npm run --silent op -- find ${SIGN_IN.email}

That account has a month of requests behind it. Its key was made here and not in your browser,
so the cabinet asks you to paste it; it is in ${join(state, 'dev-key')}.
Or register: any address will do. To pay, any date and code with card 5555555555554444, or
5555555555554477 for 3-D Secure.

curl ${url}/v1/messages ${post} -d '${plain}'

curl -N ${url}/v1/messages ${post} -d '${streamed}'

curl ${url}/v1/me -H 'x-api-key: ${key}'
`
}

async function whenAnswering(url: string, goOn: () => void): Promise<void> {
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
