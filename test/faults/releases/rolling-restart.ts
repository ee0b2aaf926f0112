// Deploys. After SIGTERM all open streams complete and are charged, also replies whose clients have
// left. During rolling restarts under load no request fails. After restarts that overlap while
// processes are killed, there are as many processes as before.
import { Agent, Pool } from 'undici'
import { startVendor, type Vendor } from '../../../stand-ins/vendor/vendor.ts'
import { createGatewayStage } from '../../stages/served/gateway.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import { call } from '../support/gateway-caller.ts'
import { describe, startLoad } from '../support/gateway-load.ts'

const STREAMS = 200
const LEFT = 10
const PER_SECOND = 200
/** Enough for the load, but few, so that each keep-alive connection is used often. */
const CONNECTIONS = 100
const PROCESSES = 2

type Stage = Awaited<ReturnType<typeof createGatewayStage>>
type Place = { stage: Stage; vendor: Vendor; numbers: { last: number } }

export const drill: Drill = async ({ isFull, seed, say }) => {
  const stage = await createGatewayStage(20)
  const vendor = await startVendor({ requestsMax: 100_000 })
  const place = { stage, vendor, numbers: { last: 0 } }
  try {
    const drained = await drain(place)
    say(`SIGTERM: ${STREAMS} streams completed in ${drained.drainMs} ms; ${LEFT} clients had left`)
    const rolled = await roll(place, isFull, random(seed))
    say(`${rolled.restarts} rolling restarts under ${rolled.requests} requests: none failed`)
    const stumbled = await stumble(place)
    say(`${stumbled.killed} processes killed during overlapping restarts: ${PROCESSES} run again`)
    const { swept } = await stage.check()
    ensure(swept === 0, `the sweep finds no open hold (${swept})`)
    return { ...drained, ...rolled, ...stumbled }
  } finally {
    await vendor.close()
    await stage.end()
  }
}

const settings = (vendor: Vendor) => ({
  GATEWAY_PROCESSES: String(PROCESSES),
  UPSTREAM_URL: vendor.url,
})

async function drain({ stage, vendor, numbers }: Place) {
  const serving = await stage.serve(settings(vendor))
  const agent = new Agent()
  const open = { count: 0 }
  const keyOf = (i: number) => stage.keys[i % stage.keys.length] as string
  const streams = Array.from({ length: STREAMS }, (_, i) => {
    numbers.last += 1
    const reply = `text ${8 + (i % 16)}`
    const asked = { number: numbers.last, key: keyOf(i), isStream: true, reply }
    return call(agent, serving.url, { ...asked, fault: 'pace-ms=200' }, () => {
      open.count += 1
    })
  })
  const left = await leaveSome(serving.url, keyOf, numbers, vendor)
  while (open.count < STREAMS) await sleep(5)
  const signalledMs = performance.now()
  const exited = serving.stop()
  const answers = await Promise.all(streams)
  await agent.close()
  ensure((await exited) === 0, 'the gateway exits with 0 after SIGTERM')
  const drainMs = Math.round(performance.now() - signalledMs)
  const broken = answers.filter((answer) => !answer.isWhole)
  ensure(broken.length === 0, `streams complete after SIGTERM (${describe(broken)})`)
  const charges = await stage.charges()
  for (const number of [...answers.keys()].map((i) => i + 1)) {
    ensure(charges.get(number)?.ending === 'complete', `the stream ${number} is charged`)
  }
  for (const number of left) {
    ensure(charges.has(number), `a plain reply is settled though its client left (${number})`)
  }
  const held = await stage.openHolds()
  ensure(held === 0, `every hold is closed when the process has exited (${held} are open)`)
  return { drainStreams: STREAMS, drainMs }
}

/** Sends plain requests and disconnects while the upstream works; returns their numbers. */
async function leaveSome(
  url: string,
  keyOf: (i: number) => string,
  numbers: { last: number },
  vendor: Vendor,
): Promise<number[]> {
  const agent = new Agent()
  const first = numbers.last + 1
  const asked = Array.from({ length: LEFT }, (_, i) => {
    numbers.last += 1
    const plain = { number: numbers.last, key: keyOf(i), isStream: false, reply: 'text 5' }
    return call(agent, url, { ...plain, fault: 'headers-ms=3000' })
  })
  await vendor.until((all) => all.length >= STREAMS + LEFT, 20_000)
  await agent.destroy()
  await Promise.all(asked)
  return Array.from({ length: LEFT }, (_, i) => first + i)
}

async function roll({ stage, vendor, numbers }: Place, isFull: boolean, draw: () => number) {
  const restarts = isFull ? 20 : 3
  const serving = await stage.serve({
    ...settings(vendor),
    // Three restarts of two processes would last a minute longer with the default of 10 s.
    ...(!isFull && { GATEWAY_DRAIN_IDLE_SECONDS: '5' }),
  })
  const pool = new Pool(serving.url, { connections: CONNECTIONS, pipelining: 1 })
  const load = startLoad({
    ...{ dispatcher: pool, url: serving.url, keys: stage.keys, numbers, draw },
    perSecond: PER_SECOND,
  })
  await sleep(1_000)
  for (let i = 1; i <= restarts; i++) {
    serving.parent.kill('SIGHUP')
    await serving.until('every process was replaced', i)
    await sleep(draw() * 1_000)
  }
  await sleep(1_000)
  const { failed, ...figures } = await load.stop()
  await pool.close()
  ensure(failed.length === 0, `no request fails in ${restarts} restarts (${describe(failed)})`)
  ensure(serving.said('serving') === PROCESSES * (restarts + 1), 'each process was replaced by one')
  ensure(serving.said('a process died; starting another') === 0, 'no process died')
  ensure((await serving.stop()) === 0, 'the gateway exits with 0')
  const { perSecond } = figures
  ensure(
    !isFull || perSecond > PER_SECOND * 0.95,
    `the load kept its pace (${perSecond} requests a second)`,
  )
  const charges = await stage.charges()
  ensure(
    charges.size === numbers.last,
    `each request is charged (${charges.size} of ${numbers.last})`,
  )
  return { restarts, ...figures, failed: failed.length }
}

/** Starts restarts that overlap, and kills a process during each. */
async function stumble({ stage, vendor, numbers }: Place) {
  const serving = await stage.serve({ ...settings(vendor), GATEWAY_DRAIN_IDLE_SECONDS: '0' })
  const restarts = 3
  for (let i = 0; i < restarts; i++) {
    const before = serving.members()
    serving.parent.kill('SIGHUP')
    await sleep(100)
    // The process that is replaced last, so that it dies before its turn.
    process.kill(before.at(-1) as number, 'SIGKILL')
    serving.parent.kill('SIGHUP')
    await serving.until('every process was replaced', 2 * (i + 1))
    const deadline = performance.now() + 20_000
    while (serving.members().length !== PROCESSES) {
      ensure(
        performance.now() < deadline,
        `there are as many processes as before (${serving.members().length})`,
      )
      await sleep(20)
    }
    const agent = new Agent() // connections to the killed process are dead
    numbers.last += 1
    const asked = { number: numbers.last, key: stage.keys[0] as string, isStream: true }
    const answer = await call(agent, serving.url, asked)
    ensure(answer.isWhole, `requests succeed after the kill (${answer.error})`)
    await agent.close()
  }
  await sleep(1_500) // a process that was started late would run by now
  ensure(serving.members().length === PROCESSES, 'there are exactly as many processes as before')
  ensure((await serving.stop()) === 0, 'the parent exits with 0')
  return { killed: restarts }
}
