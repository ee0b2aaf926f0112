// Runs the tests, all of them or those given as arguments, on a PostgreSQL: the one named by
// TEST_DATABASE_URL, or the one at the usual place, or a private one that ends with the run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { answer, startPostgres } from './postgres.ts'

const USUAL_URL = 'postgres://postgres@127.0.0.1:5432/postgres'
// Two at a time: each file brings its own database and often servers of its own.
const FILES_AT_ONCE = 2
// A test that takes five minutes hangs: the slowest journey takes 40 s, and on a busy machine three
// times as long.
const TEST_MS_MAX = 300_000

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const given = process.argv.slice(2)

// `node --test` without files would also run every helper below test/.
const patterns = ['src', 'test', 'stand-ins', 'web']
  .filter((folder) => existsSync(join(root, folder)))
  .map((folder) => `${folder}/**/*.test.ts`)
const files = globSync(given.length > 0 ? given : patterns, { cwd: root }).sort()
// A file that measures milliseconds states in its first lines that it runs alone: another file at
// the same time would change its figures.
const isAlone = (file: string) =>
  /\bruns alone\b/i.test(readFileSync(join(root, file), 'utf8').slice(0, 600))

const database = await findDatabase()
console.log(`tests use ${database.what}`)
const together = files.filter((file) => !isAlone(file))
const alone = files.filter(isAlone)
if (files.length === 0) {
  console.error(`no test file: ${given.join(' ')}`)
  process.exitCode = 1
}
for (const [list, atOnce] of [
  [together, FILES_AT_ONCE],
  [alone, 1],
] as const) {
  if (list.length > 0)
    process.exitCode = (await runTests(database.url, list, atOnce)) || process.exitCode
}
await database.stop()

type Database = { url: string; what: string; stop(): Promise<void> }

async function findDatabase(): Promise<Database> {
  const named = process.env.TEST_DATABASE_URL
  const stop = async () => undefined
  if (named !== undefined && named !== '') {
    const { version } = await answer(named)
    return { url: named, what: `PostgreSQL ${version} of TEST_DATABASE_URL`, stop }
  }
  const usual = await answer(USUAL_URL).catch(() => undefined)
  // Tests create and drop databases, so we need a user who may do that.
  if (usual?.isSuperuser === true) {
    return { url: USUAL_URL, what: `PostgreSQL ${usual.version} at 127.0.0.1:5432`, stop }
  }
  const started = await startPostgres()
  return {
    url: started.url,
    what: `a private PostgreSQL 18, port ${started.port}`,
    stop: started.stop,
  }
}

async function runTests(url: string, list: readonly string[], atOnce: number): Promise<number> {
  const runner = spawn(
    process.execPath,
    [
      '--test',
      `--test-concurrency=${atOnce}`,
      `--test-timeout=${TEST_MS_MAX}`,
      `--import=${new URL('./test-deadline.ts', import.meta.url)}`,
      '--test-reporter=spec',
      ...list,
    ],
    { cwd: root, env: { ...process.env, TEST_DATABASE_URL: url }, stdio: 'inherit' },
  )
  // The test runner gets the interrupt and shuts down; we exit after it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal))
  const [code] = await once(runner, 'exit')
  return typeof code === 'number' ? code : 1
}
