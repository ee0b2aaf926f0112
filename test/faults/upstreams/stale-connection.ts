// An upstream that closes or resets kept connections whenever it likes: while they are idle, just
// as a request arrives, in the middle of a body, and after a whole request. Through our own client
// and through undici. No message reaches the upstream twice, each complete reply is charged once,
// nothing else is charged, and a closed connection fails one request at most.
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent } from 'undici'
import { createTestGateway } from '../../stages/gateway.ts'
import { type Drill, ensure, random } from '../../support/drill.ts'
import { startConnectProxy } from '../../support/proxies.ts'
import { startRawUpstream } from '../../support/raw-upstream.ts'
import { ask } from './callers.ts'

/** What becomes of a connection; most are simply kept. */
const FATES = [
  'kept',
  'kept',
  'kept',
  'closed idle',
  'reset idle',
  'closed unread',
  'lost',
] as const
type Fate = (typeof FATES)[number]

/** Larger than a socket takes at once, so that a connection can fail in the middle of it. */
const LARGE_BYTES = 3_000_000
const WORKERS = 8

type Got = { readonly number: number; fate: Fate }

export const drill: Drill = async ({ isFull, seed, say }) => {
  const figures: Record<string, number> = {}
  for (const carrier of ['direct', 'proxied'] as const) {
    const seen = await run(carrier, isFull ? 1_500 : 150, random(seed))
    for (const [name, value] of Object.entries(seen)) figures[`${carrier} ${name}`] = value
    say(`${carrier}: ${JSON.stringify(seen)}`)
  }
  return figures
}

async function run(carrier: 'direct' | 'proxied', requests: number, draw: () => number) {
  const got: Got[] = []
  const upstream = await startRawUpstream((socket, { body }) => {
    const number = Number(/number (\d+)/.exec(String(body))?.[1])
    const fate = FATES[Math.floor(draw() * FATES.length)] ?? 'kept'
    got.push({ number, fate })
    if (fate === 'lost') socket.resetAndDestroy()
    else answer(socket, number, fate, draw)
  })
  const proxy = await startConnectProxy()
  const gateway = await createTestGateway({
    upstreamUrl: upstream.url,
    upstreams: [{ name: 'only', ...(carrier === 'proxied' ? { proxy: proxy.url } : {}) }],
  })
  const agent = new Agent({ connections: WORKERS })
  try {
    const { key, book } = await gateway.account(10_000_000_000n)
    const statuses = new Map<number, number>()
    let next = 0
    const work = async () => {
      while (next < requests) {
        const number = next++
        const isLarge = number % 10 === 9
        const text = `number ${number} ${'x'.repeat(isLarge ? LARGE_BYTES : 20)}`
        statuses.set(number, (await ask(agent, gateway, key, text)).status)
        // Long enough for the upstream's ends to arrive, or to be on their way.
        await delay(draw() * 8)
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
    return { ...check(got, statuses, requests), ...(await checkCharges(gateway, book, statuses)) }
  } finally {
    await agent.close()
    await gateway.end()
    await proxy.close()
    await upstream.close()
  }
}

function answer(socket: Socket, number: number, fate: Fate, draw: () => number): void {
  const message = JSON.stringify({
    ...{ id: `msg_${number}`, type: 'message', role: 'assistant', model: 'model-large' },
    ...{ content: [], stop_reason: 'end_turn', stop_sequence: null },
    usage: { input_tokens: 1, output_tokens: 1 },
  })
  const head = ['HTTP/1.1 200 OK', 'content-type: application/json']
  head.push(`content-length: ${message.length}`, '', message)
  socket.write(head.join('\r\n'))
  const ms = draw() * 6
  if (fate === 'closed idle') setTimeout(() => socket.end(), ms)
  if (fate === 'reset idle') setTimeout(() => socket.resetAndDestroy(), ms)
  // The next request is not read: the connection ends while its body is on the way.
  if (fate === 'closed unread') {
    socket.removeAllListeners('data')
    socket.once('data', () => socket.resetAndDestroy())
  }
}

function check(got: readonly Got[], statuses: ReadonlyMap<number, number>, requests: number) {
  const byNumber = Map.groupBy(got, (one) => one.number)
  let failed = 0
  for (const [number, status] of statuses) {
    const times = byNumber.get(number)?.length ?? 0
    ensure(times <= 1, `no message reaches the upstream twice (${number}: ${times})`)
    ensure(
      status === 200 || status === 502,
      `a request succeeds or is a 502 (${number}: ${status})`,
    )
    const isLost = byNumber.get(number)?.[0]?.fate === 'lost'
    if (status === 200)
      ensure(times === 1 && !isLost, `a reply comes from the upstream (${number})`)
    if (isLost) ensure(status === 502, `a lost reply is a 502 (${number}: ${status})`)
    if (status !== 200) failed += 1
  }
  const lost = got.filter((one) => one.fate === 'lost').length
  const closed = got.filter((one) => one.fate !== 'kept' && one.fate !== 'lost').length
  const unsure = failed - lost
  ensure(statuses.size === requests, 'every request is answered')
  ensure(unsure <= closed, `a closed connection fails one request at most (${unsure}, ${closed})`)
  return { requests, failed, lost, unsure, closed }
}

async function checkCharges(
  gateway: Awaited<ReturnType<typeof createTestGateway>>,
  book: Parameters<typeof gateway.statement>[0],
  statuses: ReadonlyMap<number, number>,
) {
  const complete = [...statuses.values()].filter((status) => status === 200).length
  await gateway.settled(book)
  const { rows } = await gateway.database.db.query(
    `select count(*)::int4 as charges from entries where kind = 'charge' and book_id = $1`,
    [book],
  )
  const { charges } = rows[0] as { charges: number }
  ensure(charges === complete, `complete replies are charged, no others (${charges}, ${complete})`)
  const [target] = gateway.upstreams.views()
  ensure(target?.underWay === 0, `no request is left under way (${target?.underWay})`)
  return { charges }
}
