// Restarts, reloads and an upgrade without a gap, under load. Gateway and cabinet get their sockets
// as systemd passes them, and a restart is what deploy/systemd/tollgate-restart does: the next
// instance accepts from the same socket before the old one gets SIGTERM. No request fails, and each
// open stream ends whole. The full form also restarts without a kept socket, where requests fail.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Agent, Pool } from 'undici'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { createGatewayStage, freePorts } from '../../stages/served/gateway.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import {
  type KeptSocket,
  keepSocket,
  type RunningProgram,
  startProgram,
} from '../../support/program.ts'
import { call } from '../support/gateway-caller.ts'
import { describe, startLoad } from '../support/gateway-load.ts'
import { createReleases, releaseAt } from './releases.ts'

const run = promisify(execFile)

const PER_SECOND = 100
const STREAMS = 50
const CONNECTIONS = 50
const PROCESSES = 2
/** Half of them on new connections, which the kernel queues between two instances. */
const VISITS_PER_SECOND = 20
const READY = { serve: 'the fleet is ready', cabinet: 'serving the cabinet' } as const
/** Each of the two processes very likely answers one of so many new connections. */
const LOOKS = 8

type Command = keyof typeof READY
type Stage = Awaited<ReturnType<typeof createGatewayStage>>

export const drill: Drill = async ({ isFull, seed, say }) => {
  // Of this commit, because older versions do not take a socket. `faults -- upgrade` crosses
  // migrations.
  const releases = await createReleases('HEAD')
  const stage = await createGatewayStage(10)
  const vendor = await startVendor({ requestsMax: 100_000 })
  const sockets = { serve: await keepSocket(), cabinet: await keepSocket() }
  const urls = { serve: urlOf(sockets.serve), cabinet: urlOf(sockets.cabinet) }
  const env = {
    ...stage.settings,
    ...{ GATEWAY_PROCESSES: String(PROCESSES), UPSTREAM_URL: vendor.url },
    // The default is 10 s, which three drains would wait for one after the other.
    ...(!isFull && { GATEWAY_DRAIN_IDLE_SECONDS: '2' }),
  }
  const unit = (command: Command) => createUnit(command, env, releases.current, sockets[command])
  const [gateway, cabinet] = [unit('serve'), unit('cabinet')]
  const numbers = { last: 0 }
  const streams = { opened: 0 }
  try {
    await Promise.all([gateway.start(), cabinet.start()])
    const pool = new Pool(urls.serve, { connections: CONNECTIONS, pipelining: 1 })
    const load = startLoad({
      ...{ dispatcher: pool, url: urls.serve, keys: stage.keys, numbers, draw: random(seed) },
      perSecond: PER_SECOND,
    })
    const visits = startVisits(urls.cabinet)
    /** Does this while streams are open, and waits for their ends. */
    const besideStreams = async (what: string, act: () => Promise<unknown>) => {
      await endsWhole(stage, urls.serve, numbers, what, act)
      streams.opened += STREAMS
      say(`${what}: ${STREAMS} streams ended whole`)
    }
    const restart = async (what: string) => {
      await Promise.all([gateway.startNext(), cabinet.startNext()])
      await besideStreams(what, async () => Promise.all([gateway.stopOld(), cabinet.stopOld()]))
    }
    const rounds = isFull ? 10 : 1
    for (let round = 1; round <= rounds; round++) {
      await restart('restart')
      await besideStreams('reload', () => Promise.all([gateway.reload(), cabinet.reload()]))
    }
    ensure((await releaseAt(urls.serve)) === 'old', 'the old version answers before the upgrade')
    await releases.select(releases.fresh)
    await migrate(releases.current, stage)
    await restart('upgrade')
    const looks = await Promise.all(Array.from({ length: LOOKS }, () => releaseAt(urls.serve)))
    ensure(!looks.includes('old'), 'the new version answers')
    const { failed, ...figures } = await load.stop()
    const visited = await visits.stop()
    await pool.close()
    ensure(failed.length === 0, `no request fails (${describe(failed)})`)
    ensure(visited.failed.length === 0, `no visit fails (${visited.failed[0]})`)
    await Promise.all([gateway.end(), cabinet.end()])
    await checkCharges(stage, numbers.last)
    const lost = isFull ? await restartWithGap(stage, env, random(seed)) : undefined
    if (lost !== undefined) say(`the twin without a kept socket: ${lost} requests failed`)
    const { swept } = await stage.check()
    ensure(swept === 0, `the sweep finds no open hold (${swept})`)
    return {
      ...{ restarts: rounds, reloads: rounds, upgrades: 1, ...figures, failed: 0 },
      ...{ streams: streams.opened, visits: visited.count },
      ...(lost !== undefined && { failedWithGap: lost }),
    }
  } finally {
    await Promise.all([gateway.kill(), cabinet.kill()])
    await vendor.close()
    await Promise.all([sockets.serve.close(), sockets.cabinet.close()])
    await stage.end()
    await releases.remove()
  }
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
    startNext: start,
    /** Resolves when it has drained. */
    async stopOld(): Promise<void> {
      const code = await (instances.at(-2) as RunningProgram).stop()
      ensure(code === 0, `${command} exits with 0 after its drain (${code})`)
    },
    async reload(): Promise<void> {
      const said = { serve: 'every process was replaced', cabinet: 'the settings were read again' }
      newest().signal('SIGHUP')
      await newest().until(said[command], newest().said(said[command]) + 1)
      ensure(newest().said('a process died; starting another') === 0, 'no process dies')
    },
    end: () => newest().stop(),
    kill: () => Promise.all(instances.map((one) => one.stop('SIGKILL'))),
  }
}

/** Opens streams, acts when each has begun, and ensures that each ends whole. */
async function endsWhole(
  { keys }: Stage,
  url: string,
  numbers: { last: number },
  what: string,
  act: () => Promise<unknown>,
): Promise<void> {
  const agent = new Agent()
  const open = { count: 0 }
  const streams = Array.from({ length: STREAMS }, (_, i) => {
    numbers.last += 1
    const asked = { number: numbers.last, key: keys[i % keys.length] as string, isStream: true }
    const slow = { reply: `text ${8 + (i % 8)}`, fault: 'pace-ms=200' }
    return call(agent, url, { ...asked, ...slow }, () => {
      open.count += 1
    })
  })
  while (open.count < STREAMS) await sleep(5)
  const [answers] = await Promise.all([Promise.all(streams), act()])
  await agent.close()
  const broken = answers.filter(({ isWhole }) => !isWhole)
  ensure(broken.length === 0, `${what}: streams end whole (${describe(broken)})`)
}

/** Asks the cabinet at a steady pace, on new and on kept connections in turn. */
function startVisits(url: string) {
  const state = { isEnding: false, count: 0 }
  const failed: string[] = []
  const agent = new Agent({ connections: 4, pipelining: 1 })
  const visiting = (async () => {
    const asks: Promise<void>[] = []
    while (!state.isEnding) {
      state.count += 1
      asks.push(visit(state.count % 2 === 0 ? { connection: 'close' } : {}))
      await sleep(1_000 / VISITS_PER_SECOND)
    }
    await Promise.all(asks)
  })()

  async function visit(headers: Record<string, string>): Promise<void> {
    const asked = { origin: url, path: '/readyz', method: 'GET', headers } as const
    try {
      const { statusCode, body } = await agent.request(asked)
      await body.dump()
      if (statusCode !== 200) failed.push(`${statusCode}`)
    } catch (error) {
      failed.push(String(error))
    }
  }

  return {
    async stop() {
      state.isEnding = true
      await visiting
      await agent.close()
      return { count: state.count, failed }
    },
  }
}

async function migrate(tree: string, { settings }: Stage): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', ...settings }
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
  const perSecond = PER_SECOND
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
