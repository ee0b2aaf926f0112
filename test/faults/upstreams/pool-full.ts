// All connections to the upstream are in use. Further requests wait in the gateway's own queue:
// those within the bound are served when a connection becomes free, those beyond it get 529 with
// retry-after at once. None of that counts against the upstream, and the upstream never has more
// connections than allowed. Through our own client and through undici.
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent } from 'undici'
import { createTestGateway } from '../../stages/gateway.ts'
import { type Drill, ensure } from '../../support/drill.ts'
import { startConnectProxy } from '../../support/proxies.ts'
import { startRawUpstream } from '../../support/raw-upstream.ts'
import { ask } from './callers.ts'

const SHORT = { connections: 4, waiting: 16, beyond: 10 }
const FULL = { connections: 64, waiting: 512, beyond: 200 }
const MESSAGE = JSON.stringify({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'model-large', content: [] },
  ...{ stop_reason: 'end_turn', stop_sequence: null },
  usage: { input_tokens: 1, output_tokens: 1 },
})
const REPLY =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n' +
  `content-length: ${MESSAGE.length}\r\n\r\n${MESSAGE}`

type Size = typeof SHORT

export const drill: Drill = async ({ isFull, say }) => {
  const size = isFull ? FULL : SHORT
  const figures: Record<string, number> = {}
  for (const carrier of ['direct', 'proxied'] as const) {
    const { servedMs, refused } = await run(carrier, size)
    say(`${carrier}: ${refused} refused, all others served within ${servedMs} ms`)
    Object.assign(figures, { [`${carrier} refused`]: refused, [`${carrier} servedMs`]: servedMs })
  }
  return figures
}

async function run(carrier: 'direct' | 'proxied', size: Size) {
  const held: Socket[] = []
  const upstream = await startRawUpstream((socket) => void held.push(socket))
  const proxy = await startConnectProxy()
  const { connections, waiting, beyond } = size
  const gateway = await createTestGateway({
    upstreamUrl: upstream.url,
    upstreams: [
      { name: 'only', connections, ...(carrier === 'proxied' ? { proxy: proxy.url } : {}) },
    ],
    waitingMax: waiting,
  })
  const agent = new Agent()
  try {
    const { key } = await gateway.account(10_000_000_000n)
    const send = () => ask(agent, gateway, key, 'x')
    // The last quarter of the connections, and of the places, is for accounts within their share:
    // this one is alone and may use all.
    const first = Array.from({ length: connections }, send)
    await until(() => held.length === connections)
    const second = Array.from({ length: waiting }, send)
    await until(() => gateway.upstreams.waiting.totals.used === waiting)
    const third = await Promise.all(Array.from({ length: beyond }, send))
    for (const { status, retryAfter } of third) {
      ensure(status === 529 && Number(retryAfter) >= 1, `beyond the bound: 529 (${status})`)
    }
    const [target] = gateway.upstreams.views()
    ensure(target?.failed === 0 && target.state === 'closed', 'the upstream is not blamed')
    ensure(held.length === connections, `at most ${connections} connections (${held.length})`)
    const fromMs = performance.now()
    const answering = setInterval(() => {
      for (const socket of held.splice(0)) socket.write(REPLY)
    }, 5)
    const served = await Promise.all([...first, ...second])
    clearInterval(answering)
    const statuses = new Set(served.map(({ status }) => status))
    ensure(
      statuses.size === 1 && statuses.has(200),
      `all that waited are served (${[...statuses]})`,
    )
    return { servedMs: Math.round(performance.now() - fromMs), refused: third.length }
  } finally {
    await agent.close()
    await gateway.end()
    await proxy.close()
    await upstream.close()
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 1_000 && !isTrue(); i++) await delay(10)
  ensure(isTrue(), 'the requests arrive within ten seconds')
}
