// One database node: Patroni and the PostgreSQL that it starts, with a fault proxy on each way to
// it and from it. A node is killed, stopped and continued as a whole, as a machine is.
import { readFileSync, writeFileSync } from 'node:fs'
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { atExit } from '../../support/at-exit.ts'
import type { NetworkFault } from '../../support/fault-proxy.ts'
import { diskGuard, type NodePlan, patroniFile } from './deployed.ts'
import { POSTGRES_BIN } from './packages.ts'
import { createProcess, familyOf, signalAll } from './process.ts'
import type { ClusterProxy, Proxies } from './proxies.ts'

export type Owner = { readonly uid: number; readonly gid: number }

/** What a node reaches, and what reaches it. */
export type Links = {
  /** From the other nodes: replication, pg_rewind, and questions to Patroni. */
  readonly peers: readonly ClusterProxy[]
  /** Of these, PostgreSQL's alone. */
  readonly wal: readonly ClusterProxy[]
  /** From HAProxy: sessions and checks. */
  readonly clients: readonly ClusterProxy[]
  /** Of these, the sessions alone. */
  readonly sessions: readonly ClusterProxy[]
  /** To the members of etcd. */
  readonly etcd: readonly ClusterProxy[]
}

export type Node = Awaited<ReturnType<typeof createNode>>

export async function createNode(options: {
  readonly name: string
  readonly folder: string
  readonly ports: { readonly database: number; readonly api: number }
  readonly etcdPorts: readonly number[]
  readonly proxies: Proxies
  /** The folder in place of /etc/patroni, and the archive of WAL. */
  readonly settings: string
  readonly archive: string
  readonly patroniPath: string
  readonly owner: Owner
  readonly passwords: Readonly<Record<string, string>>
}) {
  const { name, folder, ports, settings } = options
  const startProxy = options.proxies.start
  await mkdir(folder, { recursive: true })
  await chown(folder, options.owner.uid, options.owner.gid)
  const [databasePeers, apiPeers, databaseClients, apiClients, ...etcd] = await Promise.all([
    startProxy(ports.database),
    startProxy(ports.api),
    startProxy(ports.database),
    startProxy(ports.api),
    ...options.etcdPorts.map((port) => startProxy(port)),
  ])
  const plan: NodePlan = {
    name,
    folder,
    databasePort: ports.database,
    apiPort: ports.api,
    databasePeerPort: databasePeers.port,
    apiPeerPort: apiPeers.port,
    etcdPorts: etcd.map(({ port }) => port),
  }
  const file = join(settings, `${name}.yml`)
  writeFileSync(file, patroniFile(plan, settings, options.archive))
  const log = join(settings, `${name}.log`)
  const patroni = patroniProcess(file, log, options)
  const guard = startDiskGuard(plan, settings)
  const proxies = [databasePeers, apiPeers, databaseClients, apiClients, ...etcd]
  const links: Links = {
    peers: [databasePeers, apiPeers],
    wal: [databasePeers],
    clients: [databaseClients, apiClients],
    sessions: [databaseClients],
    etcd,
  }
  const postmaster = () => postmasterOf(join(folder, 'tollgate'))
  const all = () => [...familyOf(patroni.pid()), ...familyOf(postmaster())]
  const withdraw = atExit(() => signalAll(all(), 'SIGKILL'))
  const kill = async () => {
    signalAll(all(), 'SIGKILL')
    await patroni.end('SIGKILL')
  }

  return {
    name,
    folder,
    links,
    databasePort: ports.database,
    apiPort: ports.api,
    /** Where HAProxy reaches it. */
    clientPorts: { database: databaseClients.port, check: apiClients.port },
    log,
    isRunning: patroni.isRunning,
    start: patroni.start,
    /** SIGKILL of everything at once, as when the machine loses its power. */
    kill,
    /** SIGSTOP, as when the hypervisor pauses the machine. */
    freeze: () => signalAll(all(), 'SIGSTOP'),
    thaw: () => signalAll(all(), 'SIGCONT'),
    play(link: keyof Links, fault: NetworkFault): void {
      for (const proxy of links[link]) proxy.play(fault)
    },
    heal(): void {
      for (const proxy of proxies) proxy.heal()
    },
    async end(): Promise<void> {
      await kill()
      await guard.end('SIGKILL')
      withdraw()
    },
  }
}

function startDiskGuard(plan: NodePlan, settings: string) {
  const file = join(settings, `${plan.name}-disk-guard.sh`)
  writeFileSync(file, diskGuard(plan, settings))
  const guard = createProcess({
    ...{ command: ['/bin/bash', file], log: `${file}.log`, cwd: '/', user: 'postgres' },
  })
  guard.start()
  return guard
}

function patroniProcess(
  file: string,
  log: string,
  { patroniPath, passwords }: Pick<Parameters<typeof createNode>[0], 'patroniPath' | 'passwords'>,
) {
  const path = `${POSTGRES_BIN}:/usr/bin:/bin`
  return createProcess({
    command: ['/usr/bin/python3', '-m', 'patroni', file],
    log,
    cwd: '/',
    user: 'postgres',
    env: { PATH: path, PYTHONPATH: patroniPath, LC_ALL: 'C', ...passwords },
  })
}

/** From the file that PostgreSQL keeps while it runs; 0 without one. */
function postmasterOf(data: string): number {
  try {
    const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    const isServer = readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')
    return isServer ? pid : 0
  } catch {
    return 0
  }
}
