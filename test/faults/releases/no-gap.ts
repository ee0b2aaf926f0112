// Restarts, reloads and an upgrade without a gap, under load. Gateway and cabinet get their sockets
// as systemd passes them, and a restart is what deploy/systemd/tollgate-restart does: the next
// instance accepts from the same socket before the old one gets SIGTERM, and nothing waits for its
// drain. An upgrade is a restart into another version. No request fails, each open stream ends
// whole, and no owner loses a session. The full form also restarts the same version, and once
// without a kept socket, where requests fail.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Agent, Pool } from 'undici'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { createGatewayStage } from '../../stages/served/gateway.ts'
import { childEnvironment } from '../../support/child-environment.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import {
  type KeptSocket,
  keepSocket,
  type RunningProgram,
  startProgram,
} from '../../support/program.ts'
import { call } from '../support/gateway-caller.ts'
import { describe, SHORT_IDLE, startLoad } from '../support/gateway-load.ts'
import { CABINET_SETTINGS, enrol, startVisits } from '../support/owners.ts'
import { createReleases, releaseAt } from './releases.ts'

const run = promisify(execFile)

const CONNECTIONS = 50
const READY = { serve: 'the fleet is ready', cabinet: 'serving the cabinet' } as const
/** New connections per check: enough that each of two processes very likely answers one. */
const LOOKS = 8

/** `words`: of the longest stream, at five a second. `owners`: an even number. */
type Size = {
  readonly perSecond: number
  readonly streams: number
  readonly words: number
  readonly owners: number
  readonly processes: number
  /** Besides the upgrade, which restarts into another version. */
  readonly restarts: number
}
const SIZES: Record<'full' | 'short', Size> = {
  full: { perSecond: 100, streams: 50, words: 25, owners: 10, processes: 2, restarts: 3 },
  short: { perSecond: 30, streams: 20, words: 8, owners: 2, processes: 1, restarts: 0 },
}

type Command = keyof typeof READY
type Stage = Awaited<ReturnType<typeof createGatewayStage>>

export const drill: Drill = async ({ isFull, seed, say }) => {
  const size = SIZES[isFull ? 'full' : 'short']
  // Of this commit, because older versions do not take a socket. `faults -- upgrade` crosses
  // migrations.
  const [releases, stage] = await Promise.all([createReleases('HEAD'), createGatewayStage(5)])
  const vendor = await startVendor({ requestsMax: 100_000 })
  const sockets = { serve: await keepSocket(), cabinet: await keepSocket() }
  const url = urlOf(sockets.serve)
  const env = {
    ...{ ...stage.settings, ...CABINET_SETTINGS, UPSTREAM_URL: vendor.url },
    GATEWAY_PROCESSES: String(size.processes),
    ...(!isFull && { GATEWAY_DRAIN_IDLE_SECONDS: String(SHORT_IDLE.drainSeconds) }),
  }
  const unit = (command: Command) => createUnit(command, env, releases.current, sockets[command])
  const [gateway, cabinet] = [unit('serve'), unit('cabinet')]
  const numbers = { last: 0 }
  try {
    await Promise.all([gateway.start(), cabinet.start()])
    const agent = new Agent()
    const visits = startVisits(await enrolAll(stage, urlOf(sockets.cabinet), agent, size))
    const pool = new Pool(url, {
      ...{ connections: CONNECTIONS, pipelining: 1 },
      ...(!isFull && { keepAliveMaxTimeout: SHORT_IDLE.clientMs }),
    })
    const load = startLoad({
      ...{ dispatcher: pool, url, keys: stage.keys, numbers, draw: random(seed) },
      perSecond: size.perSecond,
    })
    /** Does this while streams are open, and waits for their ends. */
    const besideStreams = async (what: string, act: () => Promise<unknown>) => {
      await endsWhole(stage, { ...size, url, numbers, what, act })
      say(`${what}: ${size.streams} streams ended whole`)
    }
    const restart = async (what: string) => {
      await Promise.all([gateway.startNext(), cabinet.startNext()])
      await besideStreams(what, async () => {
        gateway.stopOld()
        cabinet.stopOld()
      })
    }
    const reload = () =>
      besideStreams('reload', () => Promise.all([gateway.reload(), cabinet.reload()]))
    ensure((await releaseAt(url)) === 'old', 'the old version answers before the upgrade')
    await releases.select(releases.fresh)
    await migrate(releases.current, stage)
    await restart('upgrade')
    await ensureNew(url)
    await reload()
    for (let i = 1; i <= size.restarts; i++) {
      await restart('restart')
      await reload()
    }
    const [{ failed, ...figures }, visited] = await Promise.all([load.stop(), visits.stop()])
    await Promise.all([pool.close(), agent.close()])
    ensure(failed.length === 0, `no request fails (${describe(failed)})`)
    await Promise.all([gateway.end(), cabinet.end()])
    await checkCharges(stage, numbers.last)
    const gap = isFull ? await restartWithGap(stage, env, random(seed)) : undefined
    const { swept } = await stage.check()
    ensure(swept === 0, `the sweep finds no open hold (${swept})`)
    return {
      ...{ restarts: size.restarts, reloads: size.restarts + 1, upgrades: 1, ...figures },
      ...{ failed: 0, streams: size.streams * (2 * size.restarts + 2), ...visited },
      ...(gap !== undefined && { failedWithGap: gap }),
    }
  } finally {
    await Promise.all([gateway.kill(), cabinet.kill()])
    await vendor.close()
    await Promise.all([sockets.serve.close(), sockets.cabinet.close()])
    await stage.end()
    await releases.remove()
  }
}

async function ensureNew(url: string): Promise<void> {
  const looks = await Promise.all(Array.from({ length: LOOKS }, () => releaseAt(url)))
  ensure(!looks.includes('old'), 'the new version answers')
}

/** Half of the owners keep their connections; the kernel queues the others between instances. */
async function enrolAll({ database }: Stage, url: string, keeping: Agent, { owners }: Size) {
  const address = (i: number) => ({ url: () => url, ...(i % 2 === 0 && { dispatcher: keeping }) })
  return Promise.all(
    Array.from({ length: owners }, (_, i) => enrol(address(i), database, `owner-${i}`)),
  )
}

async function checkCharges(stage: Stage, asked: number): Promise<void> {
  const charges = await stage.charges()
  ensure(charges.size === asked, `each request is charged (${charges.size} of ${asked})`)
  const twice = [...charges.values()].filter(({ count }) => count !== 1)
  ensure(twice.length === 0, `each request is charged once (${twice.length} are not)`)
}

const urlOf = ({ port }: KeptSocket) => `http://127.0.0.1:${port}`

/** A unit with instances, as systemd and tollgate-restart run it. */
function createUnit(
  command: Command,
  env: Readonly<Record<string, string>>,
  tree: string,
  socket: KeptSocket,
) {
  const instances: RunningProgram[] = []
  const stopping: ReturnType<RunningProgram['stop']>[] = []
  const newest = () => instances.at(-1) as RunningProgram

  async function start(): Promise<void> {
    const [metricsPort = 0] = await freePorts(1)
    const ports = {
      METRICS_PORT: String(metricsPort),
      METRICS_CABINET_PORT: String(metricsPort),
    }
    const next = startProgram(command, { ...env, ...ports }, { socket, tree })
    instances.push(next)
    await next.until(READY[command])
  }

  return {
    start,
    /** tollgate-restart has three instances, so at most one still drains when the next starts. */
    async startNext(): Promise<void> {
      await stopping.at(-2)
      await start()
    },
    stopOld: () => void stopping.push((instances.at(-2) as RunningProgram).stop()),
    async reload(): Promise<void> {
      const said = { serve: 'every process was replaced', cabinet: 'the settings were read again' }
      newest().signal('SIGHUP')
      await newest().until(said[command], newest().said(said[command]) + 1)
      ensure(newest().said('a process died; starting another') === 0, 'no process dies')
    },
    /** Resolves when all have drained. */
    async end(): Promise<void> {
      const codes = await Promise.all([...stopping, newest().stop()])
      ensure(
        codes.every((code) => code === 0),
        `${command} exits with 0 after each drain (${codes})`,
      )
    },
    kill: () => Promise.all(instances.map((one) => one.stop('SIGKILL'))),
  }
}

/** Opens streams, acts when each has begun, and ensures that each ends whole. */
async function endsWhole(
  { keys }: Stage,
  options: Pick<Size, 'streams' | 'words'> & {
    readonly url: string
    readonly numbers: { last: number }
    readonly what: string
    readonly act: () => Promise<unknown>
  },
): Promise<void> {
  const { numbers, what } = options
  const agent = new Agent()
  const open = { count: 0 }
  const streams = Array.from({ length: options.streams }, (_, i) => {
    numbers.last += 1
    const asked = { number: numbers.last, key: keys[i % keys.length] as string, isStream: true }
    const slow = { reply: `text ${options.words - (i % 5)}`, fault: 'pace-ms=200' }
    return call(agent, options.url, { ...asked, ...slow }, () => {
      open.count += 1
    })
  })
  while (open.count < options.streams) await sleep(5)
  const [answers] = await Promise.all([Promise.all(streams), options.act()])
  await agent.close()
  const broken = answers.filter(({ isWhole }) => !isWhole)
  ensure(broken.length === 0, `${what}: streams end whole (${describe(broken)})`)
}

async function migrate(tree: string, { settings }: Stage): Promise<void> {
  const env = { ...childEnvironment, ...settings }
  await run(process.execPath, [join(tree, 'src/main.ts'), 'migrate'], { cwd: tree, env })
}

/** SIGTERM, then a start on a port of its own, as before sockets were kept. */
async function restartWithGap(
  stage: Stage,
  env: Readonly<Record<string, string>>,
  draw: () => number,
): Promise<number> {
  const [port = 0, metricsPort = 0] = await freePorts(2)
  const ports = { GATEWAY_PORT: String(port), METRICS_PORT: String(metricsPort) }
  const start = async () => {
    const program = startProgram('serve', { ...env, ...ports })
    await program.until(READY.serve)
    return program
  }
  const first = await start()
  const url = `http://127.0.0.1:${port}`
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 })
  // Numbers of their own, far from those that must be charged.
  const numbers = { last: 1_000_000 }
  const { perSecond } = SIZES.full
  const load = startLoad({ dispatcher: pool, url, keys: stage.keys, numbers, draw, perSecond })
  await sleep(1_000)
  await first.stop()
  const second = await start()
  const { failed } = await load.stop()
  await pool.close()
  await second.stop()
  ensure(failed.length > 0, 'the load notices a gap')
  return failed.length
}
