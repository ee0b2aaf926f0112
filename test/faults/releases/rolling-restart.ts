// Deploys: SIGTERM under open streams, which all complete and settle, with those of clients that
// have left; one rolling restart after the other under load, in which no request fails; and
// restarts that overlap while processes are killed, after which there are as many as before.
import { Agent, Pool } from 'undici'
import { startVendor, type Vendor } from '../../../stand-ins/vendor/vendor.ts'
import { createGatewayStage } from '../../stages/served/gateway.ts'
import type { Fault } from '../../support/fault.ts'
import { hold, random, sleep } from '../../support/fault.ts'
import { call } from '../support/gateway-caller.ts'
import { describe, startLoad } from '../support/gateway-load.ts'

const STREAMS = 200
const LEFT = 10
const PER_SECOND = 200
/** Enough for the load, and few enough that each is used often: they are kept alive throughout. */
const CONNECTIONS = 100
const PROCESSES = 2

type Stage = Awaited<ReturnType<typeof createGatewayStage>>
type Place = { stage: Stage; vendor: Vendor; numbers: { last: number } }

export const fault: Fault = async ({ isFull, seed, say }) => {
  const stage = await createGatewayStage(20)
  const vendor = await startVendor({ requestsMax: 100_000 })
  const place = { stage, vendor, numbers: { last: 0 } }
  try {
    const drained = await drain(place)
    say(`SIGTERM: ${STREAMS} streams completed in ${drained.drainMs} ms, ${LEFT} for nobody`)
    const rolled = await roll(place, isFull ? 20 : 3, random(seed))
    say(`${rolled.restarts} rolling restarts under ${rolled.requests} requests: none failed`)
    const stumbled = await stumble(place)
    say(`${stumbled.killed} killed during overlapping restarts: ${PROCESSES} processes again`)
    const { swept } = await stage.check()
    hold(swept === 0, `nothing was left to the sweeper (${swept} holds)`)
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
  const toldMs = performance.now()
  const exited = serving.stop()
  const answers = await Promise.all(streams)
  await agent.close()
  hold((await exited) === 0, 'SIGTERM ends the gateway cleanly')
  const drainMs = Math.round(performance.now() - toldMs)
  const broken = answers.filter((answer) => !answer.isWhole)
  hold(broken.length === 0, `streams complete after SIGTERM (${describe(broken)})`)
  const charges = await stage.charges()
  for (const number of [...answers.keys()].map((i) => i + 1)) {
    hold(charges.get(number)?.ending === 'complete', `the stream ${number} is charged`)
  }
  for (const number of left) {
    hold(charges.has(number), `a plain reply is settled though its client left (${number})`)
  }
  const held = await stage.openHolds()
  hold(held === 0, `everything is settled when the process is gone (${held} are open)`)
  return { drainStreams: STREAMS, drainMs }
}

/** Plain requests whose clients go away while the upstream works; their numbers. */
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

async function roll({ stage, vendor, numbers }: Place, restarts: number, draw: () => number) {
  const serving = await stage.serve(settings(vendor))
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
  hold(failed.length === 0, `no request fails in ${restarts} restarts (${describe(failed)})`)
  hold(serving.said('serving') === PROCESSES * (restarts + 1), 'each was replaced by one')
  hold(serving.said('a process died; starting another') === 0, 'and none died')
  hold((await serving.stop()) === 0, 'the gateway ends cleanly')
  const { perSecond } = figures
  hold(perSecond > PER_SECOND * 0.95, `the load was kept up (${perSecond} requests a second)`)
  const charges = await stage.charges()
  hold(charges.size === numbers.last, `each is charged (${charges.size} of ${numbers.last})`)
  return { restarts, ...figures, failed: failed.length }
}

/** Restarts on top of each other, with a kill in each. */
async function stumble({ stage, vendor, numbers }: Place) {
  const serving = await stage.serve({ ...settings(vendor), GATEWAY_DRAIN_IDLE_SECONDS: '0' })
  const restarts = 3
  for (let i = 0; i < restarts; i++) {
    const before = serving.members()
    serving.parent.kill('SIGHUP')
    await sleep(100)
    // The one that is replaced last: it dies while its turn has not come.
    process.kill(before.at(-1) as number, 'SIGKILL')
    serving.parent.kill('SIGHUP')
    await serving.until('every process was replaced', 2 * (i + 1))
    const deadline = performance.now() + 20_000
    while (serving.members().length !== PROCESSES) {
      hold(performance.now() < deadline, `as many as before (${serving.members().length})`)
      await sleep(20)
    }
    const agent = new Agent() // what was kept alive with the killed one is of no use
    numbers.last += 1
    const asked = { number: numbers.last, key: stage.keys[0] as string, isStream: true }
    const answer = await call(agent, serving.url, asked)
    hold(answer.isWhole, `requests succeed after the kill (${answer.error})`)
    await agent.close()
  }
  await sleep(1_500) // whatever was started late would be there by now
  hold(serving.members().length === PROCESSES, 'as many processes as before, and no more')
  hold((await serving.stop()) === 0, 'the parent has lived through it')
  return { killed: restarts }
}
