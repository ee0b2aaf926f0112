// npm run journeys [-- <name>] [--full]: runs the browser tests, in a real Chromium against real
// processes. <name> selects the journeys whose names begin with it; --full also checks how soon
// pages can be used, and each page in every window, theme and language. CHROMIUM_PATH names the
// browser, else Debian's Chromium is used; root installs it if it is missing, others get an error.
// Screenshots go to .screens, which git ignores.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureProgram } from '../../bench/relay-tools.ts'

const root = dirname(dirname(import.meta.dirname))
const names = globSync('test/journeys/**/*.browser.ts', { cwd: root })
  .map((file) => relative('test/journeys', file).slice(0, -'.browser.ts'.length))
  .sort()
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { full: { type: 'boolean', default: false } },
})
const chosen = names.filter((name) => name.startsWith(positionals[0] ?? ''))
if (chosen.length === 0) {
  console.error(`usage: npm run journeys [-- <name>] [--full]\nnames: ${names.join(' ')}`)
  process.exit(2)
}
const chromium = await findChromium()
// Build the pages first, so that the journeys do not test an older build.
const VITE = 'node_modules/vite/bin/vite.js'
process.exit(
  (await runs(VITE, 'build', 'web')) ||
    (await runs(VITE, 'build', 'web/console')) ||
    (await test(chromium)),
)

/** The browser that CHROMIUM_PATH names, or else Debian's Chromium. */
async function findChromium(): Promise<string> {
  const own = process.env.CHROMIUM_PATH
  if (own) return own
  try {
    return await ensureProgram('chromium', ['chromium', 'fonts-noto-core'])
  } catch (error) {
    console.error('The journeys need Chromium. On Debian: apt-get install chromium. Elsewhere name')
    console.error('one in CHROMIUM_PATH.')
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }
}

async function test(path: string): Promise<number> {
  process.env.CHROMIUM_PATH = path
  if (values.full) process.env.FULL = '1'
  return runs('tools/test.ts', ...chosen.map((name) => `test/journeys/${name}.browser.ts`))
}

/** Runs a file with Node and resolves with its exit code. */
async function runs(file: string, ...parameters: string[]): Promise<number> {
  const child = spawn(process.execPath, [join(root, file), ...parameters], {
    cwd: root,
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  return typeof code === 'number' ? code : 1
}
