// npm run compat [-- agents|full|languages]: real clients of the vendor's API against our gateway.
// Without an argument it runs the tests that CI runs too; `full` adds those that take minutes, and
// runs all of them through proxies, over HTTP/2 and with mTLS to the upstream as well;
// `agents` and `languages` install real programs for the run and print the results.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { answer, startPostgres } from '../../tools/postgres.ts'
import { upstreamWays } from '../support/upstream-ways.ts'

const root = dirname(dirname(import.meta.dirname))
const USUAL_URL = 'postgres://postgres@127.0.0.1:5432/postgres'

const suites: Record<string, () => Promise<boolean>> = {
  tests: () => runTests({}),
  full: runFull,
  agents: () => withDatabase(async () => (await import('./agents.ts')).runAgents()),
  languages: () => withDatabase(async () => (await import('./languages.ts')).runLanguages()),
}

const suite = suites[process.argv[2] ?? 'tests']
if (suite === undefined) {
  console.error(`usage: npm run compat [-- ${Object.keys(suites).join('|')}]`)
  process.exit(2)
}
process.exit((await suite()) ? 0 : 1)

/** The whole matrix over direct connections, and once more through each other way. */
async function runFull(): Promise<boolean> {
  const results = [await runTests({ COMPAT_FULL: '1' })]
  for (const way of upstreamWays) {
    console.log(`the matrix again, ${way}`)
    results.push(await runTests({ COMPAT_WAY: way }))
  }
  return results.every(Boolean)
}

async function runTests(variables: Record<string, string>): Promise<boolean> {
  const parameters = [join(root, 'tools/test.ts'), 'test/compat/*.test.ts']
  const env = { ...process.env, ...variables }
  const child = spawn(process.execPath, parameters, { cwd: root, env, stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  return code === 0
}

/** Uses the database of TEST_DATABASE_URL, or the one at USUAL_URL, or starts a private one. */
async function withDatabase(work: () => Promise<boolean>): Promise<boolean> {
  process.env.TEST_DATABASE_URL ||= USUAL_URL
  if (await answer(process.env.TEST_DATABASE_URL).catch(() => undefined)) return work()
  const started = await startPostgres()
  // Set before `work` imports the harness, which reads the variable once.
  process.env.TEST_DATABASE_URL = started.url
  try {
    return await work()
  } finally {
    await started.stop()
  }
}
