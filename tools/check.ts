// Types, lint, lock file, tests, pages: the first part of what a merge must pass. Every step runs
// even if an earlier one failed, so that one run shows all problems.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

// Biome colours its output when CI is set, which makes a log unreadable.
const colours = process.stdout.isTTY ? [] : ['--colors=off']
const lint = ['ci', '--error-on-warnings', ...colours, '.']

const TSC = 'node_modules/typescript/bin/tsc'
const VITE = 'node_modules/vite/bin/vite.js'

const steps: { name: string; passes: () => Promise<boolean> }[] = [
  { name: 'types', passes: () => runs(TSC, '-p', '.') },
  { name: 'web types', passes: () => runs(TSC, '-p', 'web') },
  { name: 'console types', passes: () => runs(TSC, '-p', 'web/console') },
  { name: 'lint', passes: () => runs('node_modules/@biomejs/biome/bin/biome', ...lint) },
  { name: 'lock', passes: async () => isLockComplete() },
  { name: 'tests', passes: () => runs('tools/test.ts') },
  { name: 'web build', passes: () => runs(VITE, 'build', 'web') },
  { name: 'console build', passes: () => runs(VITE, 'build', 'web/console') },
]

const failed: string[] = []
for (const { name, passes } of steps) {
  console.log(`\n== ${name}`)
  const startedMs = performance.now()
  const isPassed = await passes()
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  console.log(`== ${name} ${isPassed ? 'passed' : 'FAILED'} in ${seconds} s`)
  if (!isPassed) failed.push(name)
}
if (failed.length > 0) {
  console.log(`\ncheck failed: ${failed.join(', ')}`)
  process.exitCode = 1
}

async function runs(script: string, ...parameters: string[]): Promise<boolean> {
  const child = spawn(process.execPath, [join(root, script), ...parameters], {
    cwd: root,
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  return code === 0
}

// `npm install` on one platform may leave the packages of other platforms out of the lock file;
// `npm ci` then fails on those platforms only.
function isLockComplete(): boolean {
  type Locked = { optionalDependencies?: Record<string, string> }
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const packages = lock.packages as Record<string, Locked>
  const locked = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, '')))
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !locked.has(name))
      .map((name) => `${name}, wanted by ${path === '' ? 'package.json' : path}`),
  )
  for (const line of missing) console.log(`not in package-lock.json: ${line}`)
  return missing.length === 0
}
