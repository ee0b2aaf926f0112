// Two versions of the service side by side, as an operator has them: folders, and a link that says
// which one is in force. The old one is taken from git: the last commit before the newest
// migration, so that there is always a migration between the two.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { git } from '../../architecture/tree.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const OPENAPI = 'docs/openapi.json'

export type Releases = Awaited<ReturnType<typeof createReleases>>

export async function createReleases() {
  const base = await findBase()
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-releases-'))
  const old = join(folder, 'old')
  await extract(base, old)
  await writeFile(join(old, OPENAPI), await marked())
  const current = join(folder, 'current')
  const select = async (tree: string) => {
    // A link cannot be changed, but it can be replaced: at no moment is there none.
    await symlink(tree, `${current}.next`)
    await rename(`${current}.next`, current)
  }
  await select(old)
  return {
    /** The old version, and the working tree. */
    old,
    fresh: root,
    /** What is in force. */
    current,
    select,
    base,
    remove: () => rm(folder, { recursive: true, force: true }),
  }

  /** Every process serves this file from its own folder; so a client can tell who answers. */
  async function marked(): Promise<string> {
    const text = await readFile(join(old, OPENAPI), 'utf8')
    return JSON.stringify({ ...JSON.parse(text), 'x-release': 'old' })
  }
}

/** Which version answers at an address, on a connection of its own. */
export async function releaseAt(url: string): Promise<'old' | 'fresh'> {
  const reply = await fetch(`${url}/openapi.json`, { headers: { connection: 'close' } })
  const document = (await reply.json()) as { 'x-release'?: string }
  return document['x-release'] === 'old' ? 'old' : 'fresh'
}

/** A clone without its history cannot tell what was before, and must not pass for it. */
async function findBase(): Promise<string> {
  const isShallow = git(root, 'rev-parse', '--is-shallow-repository')?.trim()
  if (isShallow !== 'false') {
    throw new Error('an upgrade needs the history: clone whole, or run git fetch --unshallow')
  }
  const names = (await readdir(join(root, 'migrations'))).filter((name) => /^\d{4}-/.test(name))
  const newest = `migrations/${names.sort().at(-1)}`
  const found = git(root, 'log', '--diff-filter=A', '-1', '--format=%H', '--', newest)?.trim()
  // Not committed yet: then what is committed is the old version.
  const before = found === undefined || found === '' ? 'HEAD' : `${found}^`
  const base = git(root, 'rev-parse', '--verify', '--quiet', `${before}^{commit}`)?.trim()
  if (base === undefined) throw new Error(`${newest} came with the first commit: nothing before it`)
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
  // The packages of both are the same: an upgrade of one is a change of its own.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
}
