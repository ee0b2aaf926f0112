// npm run compat [-- agents|full|languages]: real clients of the vendor's API against our gateway.
// Without a word, the tests that continuous integration runs too; `full` adds those that wait for
// minutes; `agents` and `languages` install real programs for the run and say what they found.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { answer, startPostgres } from '../../tools/postgres.ts'

const root = dirname(dirname(import.meta.dirname))
const USUAL_URL = 'postgres://postgres@127.0.0.1:5432/postgres'

const forms: Record<string, () => Promise<boolean>> = {
  tests: () => runTests({}),
  full: () => runTests({ COMPAT_FULL: '1' }),
  agents: () => withDatabase(async () => (await import('./agents.ts')).runAgents()),
  languages: () => withDatabase(async () => (await import('./languages.ts')).runLanguages()),
}

const form = forms[process.argv[2] ?? 'tests']
if (form === undefined) {
  console.error(`usage: npm run compat [-- ${Object.keys(forms).join('|')}]`)
  process.exit(2)
}
process.exit((await form()) ? 0 : 1)

async function runTests(variables: Record<string, string>): Promise<boolean> {
  const parameters = [join(root, 'tools/test.ts'), 'test/compat/*.test.ts']
  const env = { ...process.env, ...variables }
  const child = spawn(process.execPath, parameters, { cwd: root, env, stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  return code === 0
}

/** The database that tests use: the one that is named, the usual one, or a private one. */
async function withDatabase(work: () => Promise<boolean>): Promise<boolean> {
  process.env.TEST_DATABASE_URL ||= USUAL_URL
  if (await answer(process.env.TEST_DATABASE_URL).catch(() => undefined)) return work()
  const started = await startPostgres()
  // Before the harness is imported, which looks once.
  process.env.TEST_DATABASE_URL = started.url
  try {
    return await work()
  } finally {
    await started.stop()
  }
}
