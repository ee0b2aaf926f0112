// The database cluster of deploy/patroni on one machine: three etcd, three PostgreSQL under Patroni
// and HAProxy, with TLS between all of them, and our fault proxies on every way.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, chown, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Agent, request } from 'undici'
import { databaseRoles } from '../../../src/platform/db/roles.ts'
import { unprivileged } from '../../../tools/postgres-binaries.ts'
import { createCertificates } from '../../support/certificates.ts'
import { sleep } from '../../support/drill.ts'
import { type EtcdPlan, etcdFile, haproxyFile, rolesScript } from './deployed.ts'
import { createNode, type Node, type Owner } from './node.ts'
import { type ClusterPrograms, installPrograms } from './packages.ts'
import { createProcess, reservedPorts, type Started } from './process.ts'
import { type Proxies, startProxies } from './proxies.ts'

const run = promisify(execFile)
/** Three initdb or base backups on two busy cores. */
const READY_MS_MAX = 90_000
/** A frozen node does not answer; a switchover takes seconds. */
const QUESTION_MS_MAX = 2_000
const CHANGE_MS_MAX = 60_000

export type Cluster = Awaited<ReturnType<typeof createCluster>>

type Member = { readonly name: string; readonly role: string; readonly state: string }

/** With `diskMegabytes` each node has a disk of its own, in memory, which a fault can fill. */
export async function createCluster(diskMegabytes?: number) {
  const programs = await installPrograms()
  const folder = await mkdtemp('/tmp/tollgate-cluster-')
  const settings = join(folder, 'etc')
  const { uid = 0, gid = 0 } = unprivileged()
  await chmod(folder, 0o755)
  const passwords = await writeSettings(settings, { uid, gid })
  const archive = join(folder, 'archive')
  await mkdir(archive)
  await chown(archive, uid, gid)
  const etcd = await startEtcd(folder, settings)
  const proxies = startProxies()
  const nodes = await createNodes({
    folder,
    proxies,
    settings,
    archive,
    programs,
    etcd,
    diskMegabytes,
    owner: { uid, gid },
  })
  const [port = 0] = await reservedPorts(1)
  const haproxy = await startHaproxy(port, nodes, settings)
  const agent = agentOf(settings)
  await untilAgreed(etcd, agent)
  for (const node of nodes) node.start()

  /** Asks Patroni of the node, past the proxies. */
  async function ask(node: Node, method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) {
    const { statusCode, body: answer } = await request(`https://127.0.0.1:${node.apiPort}${path}`, {
      dispatcher: agent,
      method,
      headersTimeout: method === 'GET' ? QUESTION_MS_MAX : CHANGE_MS_MAX,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: statusCode, text: await answer.text() }
  }

  /** The members as the node sees them; empty when it does not answer. */
  async function membersSeenBy(node: Node): Promise<readonly Member[]> {
    const answer = await ask(node, 'GET', '/cluster').catch(() => undefined)
    if (answer?.status !== 200) return []
    return (JSON.parse(answer.text) as { members: Member[] }).members
  }

  /** The members as most nodes see them: one that is cut off from etcd has an old list. */
  async function members(): Promise<readonly Member[]> {
    const lists = await Promise.all(nodes.map(membersSeenBy))
    const seen = lists.filter((list) => list.length > 0)
    const votes = (list: readonly Member[]) =>
      seen.filter((one) => leaderOf(one) === leaderOf(list)).length
    return seen.sort((a, b) => votes(b) - votes(a))[0] ?? []
  }

  const nodeOf = (role: string, list: readonly Member[]) =>
    nodes.find((node) => list.some((one) => one.name === node.name && one.role === role))

  return {
    folder,
    settings,
    nodes,
    etcd,
    haproxy,
    ask,
    patroniVersion: programs.patroniVersion,
    /** The database through HAProxy, as one of its roles. */
    urlAs: (role: string) =>
      `postgres://${role}:${passwords[role]}@127.0.0.1:${port}/tollgate` +
      `?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${join(settings, 'tls/ca.pem')}`,
    async primary(): Promise<Node> {
      const found = nodeOf('leader', await members())
      if (found === undefined) throw new Error('the cluster has no primary')
      return found
    },
    /** Undefined while there is none. */
    leaderName: async () => leaderOf(await members()),
    async standbys(): Promise<Node[]> {
      const primary = nodeOf('leader', await members())
      return nodes.filter((node) => node !== primary)
    },
    /** Waits until every node sees a primary and two streaming standbys of the quorum. */
    async untilWhole(limitMs = READY_MS_MAX): Promise<void> {
      const deadline = performance.now() + limitMs
      for (;;) {
        const lists = await Promise.all(nodes.map(membersSeenBy))
        if (lists.every(isWhole) && new Set(lists.map(leaderOf)).size === 1) return
        if (performance.now() > deadline) {
          throw new Error(`the cluster is not whole: ${JSON.stringify(lists)}, logs in ${settings}`)
        }
        await sleep(200)
      }
    },
    members,
    async end(): Promise<void> {
      await haproxy.end('SIGKILL')
      await Promise.all(nodes.map((node) => node.end()))
      await Promise.all(etcd.map((one) => one.process.end('SIGKILL')))
      await agent.destroy()
      await proxies.end()
      if (diskMegabytes !== undefined) {
        for (const node of nodes) await run('umount', ['--lazy', node.folder])
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const leaderOf = (list: readonly Member[]) => list.find((one) => one.role === 'leader')?.name

function isWhole(list: readonly Member[]): boolean {
  const isQuorum = ({ role, state }: Member) => role === 'quorum_standby' && state === 'streaming'
  return leaderOf(list) !== undefined && list.filter(isQuorum).length === 2
}

/** Certificates, the script that makes the roles, and everybody's password. */
async function writeSettings(settings: string, owner: Owner) {
  await mkdir(join(settings, 'tls'), { recursive: true })
  await mkdir(join(settings, 'roles'))
  const certificates = await createCertificates()
  const files = { 'ca.pem': 'ca.pem', 'node.pem': 'server.pem', 'node.key': 'server.key' }
  for (const [name, made] of Object.entries(files)) {
    await copyFile(certificates.file(made), join(settings, 'tls', name))
  }
  await chmod(join(settings, 'tls/node.key'), 0o600)
  await certificates.remove()
  await writeFile(join(settings, 'roles.sh'), rolesScript(settings), { mode: 0o755 })
  const password = () => randomBytes(16).toString('hex')
  const passwords: Record<string, string> = { tollgate_migrate: password() }
  for (const role of databaseRoles) passwords[role] = password()
  for (const [role, value] of Object.entries(passwords)) {
    await writeFile(join(settings, 'roles', role), value, { mode: 0o600 })
  }
  await run('chown', ['-R', `${owner.uid}:${owner.gid}`, settings])
  return passwords
}

export type Etcd = { readonly plan: EtcdPlan; readonly process: Started }

async function startEtcd(folder: string, settings: string): Promise<Etcd[]> {
  const ports = await reservedPorts(6)
  const plans = [0, 1, 2].map((i) => ({
    name: `etcd-${i + 1}`,
    folder: join(folder, `etcd-${i + 1}`),
    clientPort: ports[i] ?? 0,
    peerPort: ports[i + 3] ?? 0,
  }))
  const members: Etcd[] = []
  for (const plan of plans) {
    const file = join(settings, `${plan.name}.yml`)
    await writeFile(file, etcdFile(plan, plans, settings))
    const process = createProcess({
      command: ['/usr/bin/etcd', '--config-file', file],
      log: join(settings, `${plan.name}.log`),
      cwd: folder,
    })
    process.start()
    members.push({ plan, process })
  }
  return members
}

/** Connects as a node does: with its certificate, and only to servers of our authority. */
function agentOf(settings: string): Agent {
  const tls = (name: string) => readFileSync(join(settings, 'tls', name))
  const own = { ca: tls('ca.pem'), cert: tls('node.pem'), key: tls('node.key') }
  return new Agent({ connect: { ...own, timeout: QUESTION_MS_MAX } })
}

/**
 * A new etcd names version 3.0.0 until its members have agreed on theirs. Patroni behind proxies
 * asks once, and would call the API of that version for ever.
 */
async function untilAgreed(etcd: readonly Etcd[], agent: Agent): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX
  for (const { plan } of etcd) {
    const agreed = async () => {
      const at = `https://127.0.0.1:${plan.clientPort}/version`
      const { body } = await request(at, { dispatcher: agent })
      const { etcdcluster = '' } = (await body.json()) as { etcdcluster?: string }
      return /^3\.[4-9]/.test(etcdcluster)
    }
    while (!(await agreed().catch(() => false))) {
      if (performance.now() > deadline) throw new Error(`${plan.name} does not answer`)
      await sleep(100)
    }
  }
}

async function mountDisk(folder: string, megabytes: number): Promise<void> {
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
}

async function createNodes(given: {
  readonly folder: string
  readonly settings: string
  readonly archive: string
  readonly programs: ClusterPrograms
  readonly etcd: readonly Etcd[]
  readonly proxies: Proxies
  readonly owner: Owner
  readonly diskMegabytes: number | undefined
}): Promise<Node[]> {
  const { folder, settings, archive, etcd, owner, programs, proxies } = given
  const ports = await reservedPorts(6)
  const secret = () => randomBytes(16).toString('hex')
  const passwords = {
    PATRONI_SUPERUSER_PASSWORD: secret(),
    PATRONI_REPLICATION_PASSWORD: secret(),
    PATRONI_REWIND_PASSWORD: secret(),
  }
  return Promise.all(
    [0, 1, 2].map(async (i) => {
      const name = `node-${i + 1}`
      const own = join(folder, name)
      await mkdir(own)
      if (given.diskMegabytes !== undefined) await mountDisk(own, given.diskMegabytes)
      return createNode({
        ...{ name, folder: own, settings, archive, owner, passwords, proxies },
        ports: { database: ports[i] ?? 0, api: ports[i + 3] ?? 0 },
        etcdPorts: etcd.map((one) => one.plan.clientPort),
        patroniPath: programs.patroniPath,
      })
    }),
  )
}

async function startHaproxy(port: number, nodes: readonly Node[], settings: string) {
  const file = join(settings, 'haproxy.cfg')
  const behind = nodes.map(({ clientPorts }) => ({
    databasePort: clientPorts.database,
    checkPort: clientPorts.check,
  }))
  await writeFile(file, haproxyFile(port, behind, join(settings, 'tls/ca.pem')))
  const haproxy = createProcess({
    command: ['/usr/sbin/haproxy', '-db', '-f', file],
    log: join(settings, 'haproxy.log'),
    cwd: '/',
  })
  haproxy.start()
  return haproxy
}
