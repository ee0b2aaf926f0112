// Two versions of the service as an operator has them: a folder for each, and a link to the current
// one. The old version is the last commit before a named migration, so that there is always a
// migration between the two.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { git } from '../../architecture/tree.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
/** The first of a series that is released together; a newer series moves it forward. */
const FIRST_MIGRATION = 'migrations/0044-roles.sql'
const OPENAPI = 'docs/openapi.json'

export type Releases = Awaited<ReturnType<typeof createReleases>>

/** `base`: the commit of the old version. */
export async function createReleases(base = findBase()) {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-releases-'))
  const old = join(folder, 'old')
  await extract(base, old)
  await writeFile(join(old, OPENAPI), await marked())
  const current = join(folder, 'current')
  const select = async (tree: string) => {
    // rename() replaces the link atomically, so that it always exists.
    await symlink(tree, `${current}.next`)
    await rename(`${current}.next`, current)
  }
  await select(old)
  return {
    /** The old version, and the working tree. */
    old,
    fresh: root,
    /** The link to the current version. */
    current,
    select,
    base,
    remove: () => rm(folder, { recursive: true, force: true }),
  }

  /** Each process serves this file from its own folder, so it shows which version answers. */
  async function marked(): Promise<string> {
    const text = await readFile(join(old, OPENAPI), 'utf8')
    return JSON.stringify({ ...JSON.parse(text), 'x-release': 'old' })
  }
}

/** Asks, on a new connection, which version answers at an address. */
export async function releaseAt(url: string): Promise<'old' | 'fresh'> {
  const reply = await fetch(`${url}/openapi.json`, { headers: { connection: 'close' } })
  const document = (await reply.json()) as { 'x-release'?: string }
  return document['x-release'] === 'old' ? 'old' : 'fresh'
}

/** Finds the old version. Throws in a shallow clone, which lacks the history. */
function findBase(): string {
  const isShallow = git(root, 'rev-parse', '--is-shallow-repository')?.trim()
  if (isShallow !== 'false') {
    throw new Error('an upgrade needs the git history: run git fetch --unshallow')
  }
  const format = ['--diff-filter=A', '-1', '--format=%H']
  const found = git(root, 'log', ...format, '--', FIRST_MIGRATION)?.trim()
  // If it is not committed yet, HEAD is the old version.
  const before = found === undefined || found === '' ? 'HEAD' : `${found}^`
  const base = git(root, 'rev-parse', '--verify', '--quiet', `${before}^{commit}`)?.trim()
  if (base === undefined)
    throw new Error(`${FIRST_MIGRATION} is in the first commit: there is no older version`)
  return base
}

async function extract(commit: string, folder: string): Promise<void> {
  await mkdir(folder)
  const file = `${folder}.tar`
  if (git(root, 'archive', '--format=tar', '-o', file, commit) === undefined) {
    throw new Error(`git cannot archive ${commit}`)
  }
  await run('tar', ['-xf', file, '-C', folder])
  await rm(file)
  // Both versions use the packages of this repository.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
}
