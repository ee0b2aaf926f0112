// Clients that send and never read, send their heads byte by byte, stop in the middle of a body or
// pipeline thousands of requests. The gateway's memory stays within 64 MiB of calm, and customers
// who pay are answered as if nobody else were there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Agent } from 'undici'
import { startVendor } from '../../stand-ins/vendor/vendor.ts'
import { createGatewayStage } from '../stages/served/gateway.ts'
import type { Fault } from '../support/fault.ts'
import { hold, percentile, sleep } from '../support/fault.ts'
import { call } from './support/gateway-caller.ts'
import { residentBytes } from './support/resident.ts'

/** What the buffers of 600 connections and a collection that comes late may add. */
const GROWTH_BYTES_MAX = 64 * 2 ** 20
/** What the machine's own noise adds to a 99th percentile. */
const NOISE_MS = 25
const PAYER_PAUSE_MS = 10

type Watched = { readonly tookMs: number[]; readonly failed: string[]; bytes: number }

export const fault: Fault = async ({ isFull, say }) => {
  const connections = isFull ? [400, 100, 50, 50] : [150, 30, 30, 30]
  const seconds = isFull ? 60 : 8
  const calmMs = isFull ? 15_000 : 3_000
  const stage = await createGatewayStage(2)
  const vendor = await startVendor({ requestsMax: 1_000_000 })
  const agent = new Agent()
  try {
    const serving = await stage.serve({ GATEWAY_PROCESSES: '1', UPSTREAM_URL: vendor.url })
    const [member] = serving.members()
    const [payer, stranger] = stage.keys
    hold(member !== undefined && payer !== undefined && stranger !== undefined, 'all are there')

    const pay = createPayer({
      agent,
      url: serving.url,
      key: payer as string,
      member: member as number,
    })

    // Alone, a process that serves 50 requests a second grows by 45 MiB within its first minute:
    // compiled code and the heap. Sixteen customers at once have it grown up before it is measured.
    const warm = sleep(2 * calmMs)
    await Promise.all(Array.from({ length: 16 }, () => pay(warm)))
    const before = await pay(sleep(calmMs))
    const clients = spawn(
      '/usr/bin/python3',
      [
        join(import.meta.dirname, 'support/unread-clients.py'),
        new URL(serving.url).port,
        stranger,
        ...[seconds, ...connections].map(String),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const told: string[] = []
    clients.stdout.setEncoding('utf8').on('data', (text: string) => told.push(text))
    const under = await pay(once(clients, 'exit'))
    const after = await pay(sleep(calmMs))
    hold((await serving.stop()) === 0, 'the gateway ends cleanly after all that')
    say(`the clients: ${told.join('').trim()}`)
    const failed = [before, under, after].flatMap((one) => one.failed)
    hold(failed.length === 0, `paying customers are served (${failed.length}: ${failed[0]})`)
    const grown = under.bytes - before.bytes
    const calmP99Ms = percentile([...before.tookMs, ...after.tookMs], 0.99)
    const p99Ms = percentile(under.tookMs, 0.99)
    const figures = {
      ...(JSON.parse(told.join('')) as Record<string, number>),
      seconds,
      calmMiB: Math.round(before.bytes / 2 ** 20),
      grownMiB: Math.round(grown / 2 ** 20),
      paid: under.tookMs.length,
      calmP99Ms: Math.round(calmP99Ms),
      p99Ms: Math.round(p99Ms),
    }
    say(JSON.stringify(figures))
    hold(grown <= GROWTH_BYTES_MAX, `memory stays within 64 MiB of calm (${figures.grownMiB})`)
    if (isFull) hold(p99Ms <= calmP99Ms + NOISE_MS, `p99 ${p99Ms} ms, calm ${calmP99Ms}`)
    return figures
  } finally {
    await agent.destroy()
    await vendor.close()
    await stage.end()
  }
}

/** One customer after the other asks, until the given promise ends; memory is watched. */
function createPayer(p: { agent: Agent; url: string; key: string; member: number }) {
  const numbers = { last: 0 }
  return async (until: Promise<unknown>): Promise<Watched> => {
    const seen: Watched = { tookMs: [], failed: [], bytes: 0 }
    const state = { isOver: false }
    void until.finally(() => {
      state.isOver = true
    })
    while (!state.isOver) {
      numbers.last += 1
      const fromMs = performance.now()
      const asked = { number: numbers.last, key: p.key, isStream: false }
      const { isWhole, error } = await call(p.agent, p.url, asked)
      seen.tookMs.push(performance.now() - fromMs)
      if (!isWhole) seen.failed.push(error ?? 'cut')
      seen.bytes = Math.max(seen.bytes, await residentBytes(p.member))
      await sleep(PAYER_PAUSE_MS)
    }
    return seen
  }
}
