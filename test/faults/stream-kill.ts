// Kills the gateway process with SIGKILL while hundreds of streams are open, many times. Each reply
// that a client received to its end is charged exactly once. A cut reply is charged only if the
// upstream had sent it to its end. Every hold is closed, the audit is empty, and the parent starts
// a new process.
import { Agent } from 'undici'
import { startVendor, type Vendor } from '../../stand-ins/vendor/vendor.ts'
import { createGatewayStage, type Serving } from '../stages/served/gateway.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, percentile, random, sleep } from '../support/drill.ts'
import { call } from './support/gateway-caller.ts'

/** Clients per wanted stream: some clients are always between two streams. */
const SPARE = 1.2
/** Streams last 2 to 5 seconds, so that kills hit them at every stage. */
const PACE_MS = 250
const CALM_MS_MAX = 4_000

type Client = {
  readonly finished: Set<number>
  /** Streams that have sent their headers and not their end. */
  readonly open: Set<number>
  /** Streams that were cut after their headers. */
  readonly cut: Set<number>
  readonly state: { sent: number; unanswered: number; isEnding: boolean }
}

export const drill: Drill = async ({ isFull, seed, say }) => {
  const streams = isFull ? 500 : 100
  const kills = isFull ? 20 : 1
  const draw = random(seed)
  const stage = await createGatewayStage(20)
  const vendor = await startVendor({ requestsMax: 1_000_000 })
  const agent = new Agent({ connect: { timeout: 2_000 } })
  const client: Client = {
    finished: new Set(),
    open: new Set(),
    cut: new Set(),
    state: { sent: 0, unanswered: 0, isEnding: false },
  }
  try {
    const serving = await stage.serve({
      GATEWAY_PROCESSES: '1',
      UPSTREAM_URL: vendor.url,
      UPSTREAM_CONNECTIONS: '4096',
    })
    const lanes = Array.from({ length: Math.ceil(streams * SPARE) }, (_, lane) => {
      const key = stage.keys[lane % stage.keys.length] as string
      return runLane({ agent, url: serving.url, key, client, draw })
    })
    const backMs: number[] = []
    for (let i = 0; i < kills; i++) backMs.push(await killOnce(serving, client, streams, draw))
    await untilOpen(client, streams)
    client.state.isEnding = true
    await Promise.all(lanes)
    await agent.close()
    ensure((await serving.stop()) === 0, 'the gateway exits with 0 after the kills')
    say(`${kills} kills, ${client.finished.size} replies finished, ${client.cut.size} cut`)
    const { swept } = await stage.check()
    const counted = await judge(client, vendor, await stage.charges())
    const backP50Ms = Math.round(percentile(backMs, 0.5))
    const { sent, unanswered } = client.state
    return { streams, kills, sent, unanswered, ...counted, swept, backP50Ms }
  } finally {
    client.state.isEnding = true
    await agent.destroy()
    await vendor.close()
    await stage.end()
  }
}

/** Opens one stream after the other until `isEnding`; pauses after a failure. */
async function runLane(p: {
  agent: Agent
  url: string
  key: string
  client: Client
  draw: () => number
}): Promise<void> {
  const { client, draw } = p
  while (!client.state.isEnding) {
    client.state.sent += 1
    const number = client.state.sent
    const reply = `text ${4 + Math.floor(draw() * 12)}`
    const asked = { number, key: p.key, isStream: true, reply, fault: `pace-ms=${PACE_MS}` }
    const answer = await call(p.agent, p.url, asked, () => client.open.add(number))
    client.open.delete(number)
    if (answer.isWhole) client.finished.add(number)
    else {
      if (answer.status === 200) client.cut.add(number)
      else client.state.unanswered += 1
      await sleep(300 + draw() * 900)
    }
  }
}

async function untilOpen(client: Client, streams: number): Promise<void> {
  const deadline = performance.now() + 30_000
  while (client.open.size < streams) {
    ensure(
      performance.now() < deadline,
      `${streams} streams open again within 30 s (${client.open.size})`,
    )
    await sleep(5)
  }
}

/** Kills the process while streams are open; returns the ms until a new one answers a client. */
async function killOnce(
  serving: Serving,
  client: Client,
  streams: number,
  draw: () => number,
): Promise<number> {
  await untilOpen(client, streams)
  await sleep(draw() * CALM_MS_MAX)
  await untilOpen(client, streams)
  const [member] = serving.members()
  ensure(member !== undefined && serving.members().length === 1, 'one process serves')
  const started = serving.said('serving')
  process.kill(member, 'SIGKILL')
  const killedMs = performance.now()
  await serving.until('serving', started + 1)
  client.open.clear() // these streams are cut, even if `runLane` has not noticed yet
  while (client.open.size === 0) {
    ensure(performance.now() - killedMs < 20_000, 'new requests succeed within 20 s of a kill')
    await sleep(5)
  }
  return performance.now() - killedMs
}

async function judge(
  client: Client,
  vendor: Vendor,
  charges: Awaited<ReturnType<Awaited<ReturnType<typeof createGatewayStage>>['charges']>>,
) {
  const sentWhole = new Set(
    vendor.requests
      .filter((one) => one.isMessageStopSent)
      .map((one) => one.usage?.output_tokens ?? Number.NaN),
  )
  for (const number of client.finished) {
    const charge = charges.get(number)
    ensure(charge !== undefined, `a complete reply is charged (${number})`)
    ensure(charge.ending === 'complete', `it is charged as complete (${number}: ${charge.ending})`)
  }
  let chargedWithoutEnd = 0
  for (const { output, count } of charges.values()) {
    ensure(count === 1, `a reply is charged once (${output}: ${count} times)`)
    if (client.finished.has(output)) continue
    ensure(
      sentWhole.has(output),
      `a charged cut reply was sent to its end by the upstream (${output})`,
    )
    chargedWithoutEnd += 1
  }
  ensure(client.cut.size > 0, 'the kills cut replies')
  return {
    finished: client.finished.size,
    cut: client.cut.size,
    charged: charges.size,
    chargedWithoutEnd,
  }
}
