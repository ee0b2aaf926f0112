// Hostile clients send and never read, send their headers byte by byte, stop in the middle of a
// body or pipeline thousands of requests. The gateway's memory grows by at most 64 MiB, and paying
// customers are answered as fast as without them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Agent } from 'undici'
import { startVendor } from '../../stand-ins/vendor/vendor.ts'
import { createGatewayStage } from '../stages/served/gateway.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, percentile, sleep } from '../support/drill.ts'
import { call } from './support/gateway-caller.ts'
import { residentBytes } from './support/resident.ts'

/** Covers the buffers of 600 connections and a late garbage collection. */
const GROWTH_BYTES_MAX = 64 * 2 ** 20
/** What other load on the machine adds to a 99th percentile. */
const NOISE_MS = 25
const PAYER_PAUSE_MS = 10

type Measured = { readonly tookMs: number[]; readonly failed: string[]; bytes: number }

export const drill: Drill = async ({ isFull, say }) => {
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
    ensure(
      member !== undefined && payer !== undefined && stranger !== undefined,
      'the stage has a gateway process and two keys',
    )

    const pay = createPayer({
      agent,
      url: serving.url,
      key: payer as string,
      member: member as number,
    })

    // At 50 requests a second a new process grows by 45 MiB within its first minute: compiled code
    // and the heap. Sixteen customers at once make it grow before we measure.
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
    const output: string[] = []
    clients.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text))
    const attacked = await pay(once(clients, 'exit'))
    const after = await pay(sleep(calmMs))
    ensure((await serving.stop()) === 0, 'the gateway exits with 0 afterwards')
    say(`hostile clients: ${output.join('').trim()}`)
    const failed = [before, attacked, after].flatMap((one) => one.failed)
    ensure(failed.length === 0, `paying customers are served (${failed.length}: ${failed[0]})`)
    const grown = attacked.bytes - before.bytes
    const calmP99Ms = percentile([...before.tookMs, ...after.tookMs], 0.99)
    const p99Ms = percentile(attacked.tookMs, 0.99)
    const figures = {
      ...(JSON.parse(output.join('')) as Record<string, number>),
      seconds,
      calmMiB: Math.round(before.bytes / 2 ** 20),
      grownMiB: Math.round(grown / 2 ** 20),
      paid: attacked.tookMs.length,
      calmP99Ms: Math.round(calmP99Ms),
      p99Ms: Math.round(p99Ms),
    }
    say(JSON.stringify(figures))
    ensure(grown <= GROWTH_BYTES_MAX, `memory grows by at most 64 MiB (${figures.grownMiB})`)
    if (isFull)
      ensure(
        p99Ms <= calmP99Ms + NOISE_MS,
        `p99 is at most 25 ms above the calm one (${p99Ms}, calm ${calmP99Ms} ms)`,
      )
    return figures
  } finally {
    await agent.destroy()
    await vendor.close()
    await stage.end()
  }
}

/** Sends one request after the other until the promise settles; samples the memory. */
function createPayer(p: { agent: Agent; url: string; key: string; member: number }) {
  const numbers = { last: 0 }
  return async (until: Promise<unknown>): Promise<Measured> => {
    const seen: Measured = { tookMs: [], failed: [], bytes: 0 }
    const state = { isOver: false }
    void until.finally(() => {
      state.isOver = true
    })
    while (!state.isOver) {
      numbers.last += 1
      const fromMs = performance.now()
      const request = { number: numbers.last, key: p.key, isStream: false }
      const { isWhole, error } = await call(p.agent, p.url, request)
      seen.tookMs.push(performance.now() - fromMs)
      if (!isWhole) seen.failed.push(error ?? 'cut')
      seen.bytes = Math.max(seen.bytes, await residentBytes(p.member))
      await sleep(PAYER_PAUSE_MS)
    }
    return seen
  }
}
