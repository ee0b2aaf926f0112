// Kills one of two gateway nodes behind the shipped nginx configuration. Only requests that were in
// flight at that moment fail; nginx sends the others to the node that is left, none of them twice.
// The full form kills the nodes in turn, and each takes requests again when it is back.
import { once } from 'node:events'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { createGatewayStage, type Serving } from '../../stages/served/gateway.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, percentile, sleep } from '../../support/drill.ts'
import { call } from '../support/gateway-caller.ts'
import { type Edge, startEdge } from './stage.ts'

const CLIENTS = 32
/** Requests that are sent after each kill, none of which may fail. */
const REQUESTS = 1_000
/** The kernel refuses connections to a dead process at once; this is for a busy machine. */
const DETECTED_MS = 1_000
/** fail_timeout in upstreams.conf, and one more request that finds the node again. */
const BACK_MS_MAX = 20_000

type Node = { readonly port: number; serving: Serving }

/** What clients saw. */
type Seen = {
  sent: number
  failed: number
  readonly inFlight: Set<number>
  /** Begun and finished after the last kill was detected. */
  after: number
  failedAfter: number
  readonly afterMs: number[]
  detectedMs: number
  isEnding: boolean
}

export const drill: Drill = async ({ isFull, say }) => {
  const stage = await createGatewayStage(4)
  const vendor = await startVendor({ requestsMax: 1_000_000 })
  const ports = await freePorts(2)
  const start = (port: number) =>
    stage.serve({
      GATEWAY_PORT: String(port),
      GATEWAY_PROCESSES: '1',
      GATEWAY_ADDRESS_HEADER: 'x-real-ip',
      UPSTREAM_URL: vendor.url,
    })
  const nodes: Node[] = await Promise.all(
    ports.map(async (port) => ({ port, serving: await start(port) })),
  )
  const edge = await startEdge(ports)
  const seen = nothingSeen()
  const lanes = Array.from({ length: CLIENTS }, (_, i) =>
    runLane(edge, stage.keys[i % stage.keys.length] as string, seen),
  )
  const lost: number[] = []
  try {
    for (let round = 0; round < (isFull ? 4 : 1); round += 1) {
      const node = nodes[round % 2] as Node
      await until(() => areUsed(edge, nodes), 'both nodes take requests')
      lost.push(await killNode(node, seen))
      say(`node ${node.port} killed: ${lost.at(-1)} requests lost, then ${seen.after} without loss`)
      if (isFull) node.serving = await start(node.port)
    }
    seen.isEnding = true
    await Promise.all(lanes)
    const generated = vendor.requests.length
    ensure(generated <= seen.sent, `no request was sent twice (${generated} of ${seen.sent})`)
    await stage.check()
    for (const [output, { count }] of await stage.charges()) {
      ensure(count === 1, `request ${output} was charged once, not ${count} times`)
    }
    const p99Ms = Math.round(percentile(seen.afterMs, 0.99))
    if (isFull) ensure(p99Ms <= 1_000, `requests after a kill do not wait (p99 ${p99Ms} ms)`)
    const lostTotal = lost.reduce((sum, one) => sum + one, 0)
    return { kills: lost.length, sent: seen.sent, lost: lostTotal, clients: CLIENTS, p99Ms }
  } finally {
    seen.isEnding = true
    await Promise.allSettled(lanes)
    await edge.stop()
    for (const { serving } of nodes) if (serving.parent.signalCode === null) await serving.stop()
    await vendor.close()
    await stage.end()
  }
}

function nothingSeen(): Seen {
  return {
    sent: 0,
    failed: 0,
    inFlight: new Set(),
    after: 0,
    failedAfter: 0,
    afterMs: [],
    detectedMs: Number.POSITIVE_INFINITY,
    isEnding: false,
  }
}

/** One request after the other, streams and plain replies in turn. */
async function runLane(edge: Edge, key: string, seen: Seen): Promise<void> {
  const agent = edge.agent(1)
  while (!seen.isEnding) {
    seen.sent += 1
    const number = seen.sent
    const isStream = number % 2 === 0
    const beganMs = performance.now()
    const isAfter = beganMs > seen.detectedMs
    seen.inFlight.add(number)
    const asked = { number, key, isStream, reply: 'text 3', fault: 'headers-ms=20' }
    const { isWhole } = await call(agent, edge.url, asked)
    seen.inFlight.delete(number)
    if (!isWhole) seen.failed += 1
    if (isAfter) {
      seen.after += 1
      seen.afterMs.push(performance.now() - beganMs)
      if (!isWhole) seen.failedAfter += 1
    }
  }
  await agent.destroy()
}

/** Kills the whole node while requests run; returns how many were lost. */
async function killNode({ serving }: Node, seen: Seen): Promise<number> {
  const failedBefore = seen.failed
  const exited = once(serving.parent, 'exit')
  const members = serving.members()
  const inFlight = seen.inFlight.size
  serving.parent.kill('SIGKILL')
  for (const pid of members) process.kill(pid, 'SIGKILL')
  await exited
  await sleep(DETECTED_MS)
  const lost = seen.failed - failedBefore
  ensure(lost <= inFlight, `only requests in flight are lost (${lost} of ${inFlight})`)
  seen.after = 0
  seen.failedAfter = 0
  seen.detectedMs = performance.now()
  await until(async () => seen.after >= REQUESTS, `${REQUESTS} requests are answered`)
  seen.detectedMs = Number.POSITIVE_INFINITY
  const { after, failedAfter } = seen
  ensure(failedAfter === 0, `no request fails afterwards (${failedAfter} of ${after})`)
  return lost
}

/** nginx has sent a request to each of them lately, and got an answer. */
async function areUsed(edge: Edge, nodes: readonly Node[]): Promise<boolean> {
  const latest = (await edge.logged()).slice(-200).filter(({ answered }) => answered === '200')
  return nodes.every(({ port }) => latest.some(({ behind }) => behind === `127.0.0.1:${port}`))
}

async function until(isSo: () => Promise<boolean>, promise: string): Promise<void> {
  const deadline = performance.now() + BACK_MS_MAX
  while (!(await isSo())) {
    ensure(performance.now() < deadline, promise)
    await sleep(100)
  }
}
