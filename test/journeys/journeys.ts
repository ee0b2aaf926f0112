// npm run journeys [-- <name>]: what people do, in a real Chromium against real processes. A name
// chooses those that begin with it. Debian's Chromium is used; as root it is installed when it is
// missing, else the program says so. Pictures of the pages go to .screens, outside of git.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ensureProgram } from '../../bench/relay-tools.ts'

const root = dirname(dirname(import.meta.dirname))
const names = globSync('test/journeys/*.browser.ts', { cwd: root })
  .map((file) => basename(file, '.browser.ts'))
  .sort()
const given = process.argv[2] ?? ''
const chosen = names.filter((name) => name.startsWith(given))
if (chosen.length === 0) {
  console.error(`usage: npm run journeys [-- <name>]\nnames: ${names.join(' ')}`)
  process.exit(2)
}
process.exit(await run(await findChromium()))

/** A browser of the developer's own choice, or Debian's. */
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

async function run(chromium: string): Promise<number> {
  const files = chosen.map((name) => `test/journeys/${name}.browser.ts`)
  const child = spawn(process.execPath, [join(root, 'tools/test.ts'), ...files], {
    cwd: root,
    env: { ...process.env, CHROMIUM_PATH: chromium },
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  return typeof code === 'number' ? code : 1
}
