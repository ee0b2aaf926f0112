// The files of deploy/patroni with the stage's addresses and folders in place of the example's. The
// stage changes nothing else but sizes: the three nodes share one small machine.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

const shipped = join(import.meta.dirname, '../../../deploy/patroni')
const read = (name: string) => readFileSync(join(shipped, name), 'utf8')

export type NodePlan = {
  readonly name: string
  /** Data, socket and password file of the node. */
  readonly folder: string
  /** Where PostgreSQL and Patroni's API listen. */
  readonly databasePort: number
  readonly apiPort: number
  /** Where the other nodes reach them: our proxies. */
  readonly databasePeerPort: number
  readonly apiPeerPort: number
  /** The way of this node to each etcd: our proxies. */
  readonly etcdPorts: readonly number[]
}

type Tree = Record<string, unknown>

/** The value at a path, which must be there: otherwise the file was rewritten. */
function treeAt(tree: Tree, ...path: string[]): Tree {
  return path.reduce((here, step) => {
    const next = here[step]
    if (typeof next !== 'object' || next === null) throw new Error(`no ${path.join('.')}`)
    return next as Tree
  }, tree)
}

function replace(tree: Tree, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (!(name in tree)) throw new Error(`deploy/patroni no longer has ${name}`)
    tree[name] = value
  }
}

const at = (port: number) => `127.0.0.1:${port}`

/** `settings` is the folder that replaces /etc/patroni; it has the certificates and roles.sh. */
export function patroniFile(plan: NodePlan, settings: string, archive: string): string {
  const text = read('patroni.yml')
    .replaceAll('/etc/patroni/', `${settings}/`)
    .replaceAll('/var/lib/postgresql/', `${plan.folder}/`)
    .replaceAll('10.0.0.0/24', '127.0.0.1/32')
  const file = parse(text) as Tree
  replace(file, { name: plan.name })
  replace(treeAt(file, 'restapi'), {
    listen: at(plan.apiPort),
    connect_address: at(plan.apiPeerPort),
  })
  replace(treeAt(file, 'etcd3'), { hosts: plan.etcdPorts.map(at) })
  // Otherwise Patroni asks etcd for its members and goes past our proxies.
  treeAt(file, 'etcd3').use_proxies = true
  replace(treeAt(file, 'bootstrap', 'dcs', 'postgresql', 'parameters'), {
    shared_buffers: '64MB',
    max_wal_size: '256MB',
    // pgBackRest has its own program; here a copy shows that archiving goes on after a failover.
    archive_command: `test -e ${archive}/%f || cp %p ${archive}/%f`,
  })
  replace(treeAt(file, 'postgresql'), {
    listen: at(plan.databasePort),
    connect_address: at(plan.databasePeerPort),
  })
  replace(treeAt(file, 'postgresql', 'parameters'), { unix_socket_directories: plan.folder })
  return stringify(file)
}

export function rolesScript(settings: string): string {
  return read('roles.sh').replaceAll('/etc/patroni/', `${settings}/`)
}

/** The text of the file with each first value replaced by the second. */
function swapped(name: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`deploy/patroni/${name} no longer has ${from}`)
    return text.replace(from, to)
  }, read(name))
}

export function diskGuard(plan: NodePlan, settings: string): string {
  return swapped('disk-guard.sh', [
    ['node=node-1', `node=${plan.name}`],
    ['10.0.0.1:8008', at(plan.apiPort)],
    ['/var/lib/postgresql/', `${plan.folder}/`],
    ['/etc/patroni/', `${settings}/`],
    // The same disk is filled again in the next round.
    ['pause_seconds=600', 'pause_seconds=20'],
  ])
}

export type EtcdPlan = {
  readonly name: string
  readonly folder: string
  readonly clientPort: number
  readonly peerPort: number
}

export function etcdFile(plan: EtcdPlan, all: readonly EtcdPlan[], settings: string): string {
  const file = parse(read('etcd.yml').replaceAll('/etc/etcd/', `${settings}/`)) as Tree
  const [client, peer] = [plan.clientPort, plan.peerPort].map((port) => `https://${at(port)}`)
  replace(file, {
    name: plan.name,
    'data-dir': plan.folder,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': all.map((one) => `${one.name}=https://${at(one.peerPort)}`).join(','),
  })
  return stringify(file)
}

type Behind = { readonly databasePort: number; readonly checkPort: number }

export function haproxyFile(port: number, nodes: readonly Behind[], ca: string): string {
  return swapped('haproxy.cfg', [
    ['127.0.0.1:6432', at(port)],
    ['/etc/haproxy/database-ca.pem', ca],
    ...nodes.map(
      ({ databasePort, checkPort }, i) =>
        [
          `10.0.0.${i + 1}:5432 check port 8008`,
          `${at(databasePort)} check port ${checkPort}`,
        ] as const,
    ),
  ])
}
