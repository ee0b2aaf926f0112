// The faults of a failover. Each breaks the cluster that it gets, and returns how to mend it.
import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../support/drill.ts'
import type { NetworkFault } from '../../support/fault-proxy.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Links, Node } from '../cluster/node.ts'

export type Fault = {
  /** For --only. */
  readonly name: string
  /** For reports. */
  readonly title: string
  /** The longest time in which no request is admitted; none where it is only reported. */
  readonly gapMsMax?: number
  /** Breaks the cluster; resolves when all faults are played, with how to mend them. */
  play(cluster: Cluster, draw: () => number): Promise<() => Promise<void>>
}

const BLACK_HOLE = { kind: 'black-hole' } as const
const GAP_MS_MAX = 25_000
const SWITCHOVER_MS_MAX = 5_000
/** The lease of a dead primary lasts 20 s; two busy cores may take as long again. */
const TAKEOVER_MS_MAX = 60_000
/** Longer than the lease, so that the stopped primary wakes up as a former one. */
const STOPPED_MS = 27_000
/** The guard looks every few seconds. */
const DISK_MS_MAX = 60_000

/** A dead node that starts before its lease ends becomes the primary again: no failover. */
async function untilAnotherLeads(cluster: Cluster, former: Node): Promise<void> {
  const deadline = performance.now() + TAKEOVER_MS_MAX
  for (;;) {
    const leader = await cluster.leaderName()
    if (leader !== undefined && leader !== former.name) return
    if (performance.now() > deadline) throw new Error(`no node takes over from ${former.name}`)
    await sleep(100)
  }
}

const KILL: Fault = {
  name: 'kill',
  title: 'primary killed',
  gapMsMax: GAP_MS_MAX,
  async play(cluster) {
    const primary = await cluster.primary()
    await primary.kill()
    await untilAnotherLeads(cluster, primary)
    return async () => primary.start()
  },
}

const SWITCHOVER: Fault = {
  name: 'switchover',
  title: 'switchover',
  gapMsMax: SWITCHOVER_MS_MAX,
  async play(cluster) {
    const primary = await cluster.primary()
    const [standby] = await cluster.standbys()
    const task = { leader: primary.name, candidate: standby?.name }
    const { status, text } = await cluster.ask(primary, 'POST', '/switchover', task)
    if (status !== 200) throw new Error(`no switchover: ${status} ${text}`)
    return async () => undefined
  },
}

/** The short form plays these. */
export const SHORT: readonly Fault[] = [KILL, SWITCHOVER]

/** Plays a fault of the network on one way to or from the primary, for a time. */
function network(
  [name, title]: readonly [string, string],
  [link, fault]: readonly [keyof Links, NetworkFault],
  ms: number,
  gapMsMax?: number,
): Fault {
  return {
    name,
    title,
    ...(gapMsMax && { gapMsMax }),
    async play(cluster) {
      const primary = await cluster.primary()
      primary.play(link, fault)
      await sleep(ms)
      return async () => primary.heal()
    },
  }
}

/** Patroni's API answers, so HAProxy keeps sending sessions to this node. */
const RESET: Fault = {
  name: 'reset',
  title: "the primary's sessions reset",
  gapMsMax: GAP_MS_MAX,
  async play(cluster) {
    const primary = await cluster.primary()
    primary.play('sessions', { kind: 'reset' })
    await sleep(2_000)
    primary.heal()
    return async () => undefined
  },
}

const STOP: Fault = {
  name: 'stop',
  title: 'primary stopped',
  gapMsMax: GAP_MS_MAX,
  async play(cluster) {
    const primary = await cluster.primary()
    primary.freeze()
    await sleep(STOPPED_MS)
    return async () => primary.thaw()
  },
}

const STANDBY: Fault = {
  name: 'standby',
  title: 'standby killed',
  gapMsMax: GAP_MS_MAX,
  async play(cluster, draw) {
    const standbys = await cluster.standbys()
    const standby = standbys[Math.floor(draw() * standbys.length)] as Node
    await standby.kill()
    await sleep(5_000)
    return async () => standby.start()
  },
}

/** Kills members of etcd for a time. */
function etcdLost([name, title]: readonly [string, string], count: number, ms: number): Fault {
  return {
    name,
    title,
    gapMsMax: GAP_MS_MAX,
    async play({ etcd }, draw) {
      const first = Math.floor(draw() * etcd.length)
      const lost = [...etcd, ...etcd].slice(first, first + count)
      await Promise.all(lost.map((one) => one.process.end('SIGKILL')))
      await sleep(ms)
      return async () => {
        for (const one of lost) one.process.start()
      }
    },
  }
}

/** Fills the primary's disk. PostgreSQL stays the primary there until the disk guard acts. */
const DISK: Fault = {
  name: 'disk',
  title: 'disk of the primary full',
  gapMsMax: GAP_MS_MAX,
  async play(cluster) {
    const primary = await cluster.primary()
    const filler = join(primary.folder, 'filler')
    const deadline = performance.now() + DISK_MS_MAX
    // Again and again: a checkpoint frees old WAL.
    while ((await cluster.leaderName()) === primary.name && performance.now() < deadline) {
      await fill(filler)
      await sleep(200)
    }
    return () => rm(filler)
  },
}

async function fill(file: string): Promise<void> {
  const chunk = Buffer.alloc(1 << 20)
  for (;;) {
    const isWritten = await appendFile(file, chunk).then(
      () => true,
      () => false,
    )
    if (!isWritten) return
  }
}

const HAPROXY: Fault = {
  name: 'haproxy',
  title: 'HAProxy killed',
  async play({ haproxy }) {
    await haproxy.end('SIGKILL')
    // systemd starts it again sooner.
    await sleep(3_000)
    haproxy.start()
    return async () => undefined
  },
}

const TWO: Fault = {
  name: 'two',
  title: 'two at once',
  async play(cluster, draw) {
    const primary = await cluster.primary()
    const standbys = await cluster.standbys()
    const standby = standbys[Math.floor(draw() * standbys.length)] as Node
    const member = cluster.etcd[Math.floor(draw() * cluster.etcd.length)]
    // With a standby gone no node may take over from a killed primary until one of them is back.
    const isStandby = draw() < 0.5
    if (isStandby) await standby.kill()
    else await member?.process.end('SIGKILL')
    await primary.kill()
    await sleep(isStandby ? 5_000 : 25_000)
    return async () => {
      primary.start()
      if (isStandby) standby.start()
      else member?.process.start()
    }
  },
}

/** The full form plays each of these three times. */
export const MATRIX: readonly Fault[] = [
  KILL,
  STOP,
  network(['etcd-cut', 'primary cut off from etcd'], ['etcd', BLACK_HOLE], 25_000, GAP_MS_MAX),
  network(
    ['standby-cut', 'primary cut off from its standbys'],
    ['peers', BLACK_HOLE],
    25_000,
    GAP_MS_MAX,
  ),
  network(['client-cut', 'primary cut off from clients'], ['clients', BLACK_HOLE], 10_000),
  RESET,
  network(
    ['half-close', "the primary's sessions half-closed"],
    ['sessions', { kind: 'half-close' }],
    5_000,
    GAP_MS_MAX,
  ),
  network(
    ['latency', 'WAL to the standbys 100 ms late'],
    ['wal', { kind: 'latency', ms: 100 }],
    10_000,
    GAP_MS_MAX,
  ),
  SWITCHOVER,
  etcdLost(['etcd-member', 'an etcd member lost'], 1, 10_000),
  etcdLost(['etcd-majority', 'the majority of etcd lost'], 2, 25_000),
  STANDBY,
  DISK,
  HAPROXY,
  TWO,
]
