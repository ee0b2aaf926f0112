// Installs the programs of a database cluster: etcd, HAProxy, nginx and what Patroni needs come
// from this Debian, Patroni itself from Debian 13, because the version of Debian 12 loses commits.
// It is unpacked into a cache folder and not installed, and apt's own configuration stays as it is.
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const PACKAGES = [
  ...['etcd-server', 'etcd-client', 'haproxy', 'nginx-light', 'openssl', 'curl'],
  'postgresql-15',
  // What Debian 12's package of Patroni depends on.
  ...['python3-etcd', 'python3-psycopg2', 'python3-yaml', 'python3-click', 'python3-dateutil'],
  ...['python3-prettytable', 'python3-psutil', 'python3-urllib3', 'python3-cdiff'],
  'python3-pkg-resources',
]
const PROGRAMS = [
  '/usr/bin/etcd',
  '/usr/sbin/haproxy',
  '/usr/sbin/nginx',
  '/usr/bin/openssl',
  '/usr/bin/curl',
]
export const POSTGRES_BIN = '/usr/lib/postgresql/15/bin'
/** The release whose package of Patroni is new enough. */
const NEWER_RELEASE = 'trixie'
const PATRONI_MIN = [4, 0, 7]
const CACHE = '/var/cache/tollgate-faults'
/** Keeps a package from starting its service, where a machine has no such file yet. */
const POLICY = '/usr/sbin/policy-rc.d'

export type ClusterPrograms = { readonly patroniPath: string; readonly patroniVersion: string }

/** Why the programs cannot be had here; undefined where they can. */
export function whyNot(): string | undefined {
  if (process.platform !== 'linux' || !existsSync('/etc/debian_version')) {
    return 'the cluster needs the packages of Debian'
  }
  if (process.getuid?.() !== 0) return 'only root may install packages and start the cluster'
  return undefined
}

/** Installs what is missing; the second call takes a second. */
export async function installPrograms(): Promise<ClusterPrograms> {
  await installPackages()
  const patroniPath = join(CACHE, 'patroni')
  const modules = join(patroniPath, 'usr/lib/python3/dist-packages')
  if (!existsSync(modules)) await unpackPatroni(patroniPath)
  const { stdout } = await run('/usr/bin/python3', ['-m', 'patroni', '--version'], {
    env: { PYTHONPATH: modules },
  })
  const patroniVersion = /(\d+(?:\.\d+)+)/.exec(stdout)?.[1] ?? ''
  const numbers = patroniVersion.split('.').map(Number)
  const differing = PATRONI_MIN.findIndex((least, i) => numbers[i] !== least)
  if (differing >= 0 && (numbers[differing] ?? 0) < (PATRONI_MIN[differing] ?? 0)) {
    throw new Error(`Patroni ${patroniVersion} loses commits; ${PATRONI_MIN.join('.')} is needed`)
  }
  return { patroniPath: modules, patroniVersion }
}

async function installPackages(): Promise<void> {
  const hasModules = await run('/usr/bin/python3', ['-c', 'import etcd, psycopg2, psutil, cdiff'])
    .then(() => true)
    .catch(() => false)
  if (hasModules && [...PROGRAMS, `${POSTGRES_BIN}/postgres`].every((one) => existsSync(one)))
    return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const hadPolicy = existsSync(POLICY)
  if (!hadPolicy) {
    writeFileSync(POLICY, '#!/bin/sh\nexit 101\n')
    chmodSync(POLICY, 0o755)
  }
  try {
    await run('apt-get', ['update', '-q'], { env })
    const install = ['install', '-q', '-y', '--no-install-recommends', ...PACKAGES]
    await run('apt-get', install, { env, maxBuffer: 1 << 24 })
  } finally {
    if (!hadPolicy) rmSync(POLICY)
  }
}

/**
 * The package of the newer release, from the mirror that this machine's apt already uses. apt gets
 * lists of its own for it, so that no other package of that release can be installed by mistake.
 */
async function unpackPatroni(to: string): Promise<void> {
  const work = join(CACHE, `work-${process.pid}`)
  mkdirSync(join(work, 'lists/partial'), { recursive: true })
  try {
    const { mirror, keyring } = await mirrorOf()
    const source = join(work, 'newer.list')
    writeFileSync(source, `deb [signed-by=${keyring}] ${mirror} ${NEWER_RELEASE} main\n`)
    const own = [
      ...['-o', `Dir::Etc::sourcelist=${source}`, '-o', 'Dir::Etc::sourceparts=-'],
      ...['-o', `Dir::State::lists=${join(work, 'lists')}`, '-o', 'Acquire::Languages=none'],
      ...['-o', 'Dir::Cache::pkgcache=', '-o', 'Dir::Cache::srcpkgcache='],
      ...['-o', 'APT::Sandbox::User=root'],
    ]
    await run('apt-get', [...own, 'update', '-q'])
    await run('apt-get', [...own, 'download', '-q', 'patroni'], { cwd: work })
    await run('sh', ['-c', 'dpkg -x patroni_*.deb unpacked'], { cwd: work })
    // Another run may have been faster; its result is the same.
    await rename(join(work, 'unpacked'), to).catch(() => undefined)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The archive from which this machine gets the packages of its own release. */
async function mirrorOf(): Promise<{ mirror: string; keyring: string }> {
  const own = /^VERSION_CODENAME=(\S+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  const format = '$(REPO_URI) $(CODENAME) $(COMPONENT)'
  const list = ['indextargets', '--format', format, 'Created-By: Packages']
  const { stdout } = await run('apt-get', list)
  const found = stdout.split('\n').find((line) => line.endsWith(` ${own} main`))
  if (found === undefined) throw new Error('apt names no archive of this release')
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
  return { mirror: found.split(' ')[0] ?? '', keyring }
}
