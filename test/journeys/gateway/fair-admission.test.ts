// Accounts share the upstream's connections, the places of requests that wait, and the free
// endpoints: an account alone may use all of them, and another one gets its share at once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { TestGateway } from '../../stages/gateway.ts'
import { type Caller, openTwoCallers } from './caller.ts'
import { type Answer, question, refusalOf } from './client.ts'

const COUNT = '/v1/messages/count_tokens'
/** A stream that stays open after its first event. */
const OPEN_STREAM = question('[[fault: silence-after=1]]', { stream: true })

/** Waits, at most 10 s. */
async function until(check: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let i = 0; i < 1_000; i++) {
    if (await check()) return
    await wait(10)
  }
  assert.fail(what)
}

async function openStreams({ send }: Caller, count: number) {
  const streams = Array.from({ length: count }, () => send({ body: OPEN_STREAM }))
  await Promise.all(streams.map((one) => one.until((bytes) => bytes.includes('message_start'))))
  return streams
}

function assertRefused(answer: Answer, message: RegExp): void {
  assert.equal(answer.status, 529)
  assert.equal(answer.headers['retry-after'], '2')
  const { error } = refusalOf(answer)
  assert.equal(error.type, 'overloaded_error')
  assert.match(error.message, message)
}

/** How the requests of an account ended that were not charged. */
async function voidedOf({ database, ledger }: TestGateway, { book }: Caller): Promise<string[]> {
  await until(async () => (await ledger.balance(book))?.held === 0n, 'credits are still held')
  const { rows } = await database.db.query(
    `select ending::text from holds where book_id = $1 and state = 'voided'`,
    [book],
  )
  return (rows as { ending: string }[]).map(({ ending }) => ending)
}

test('an account that uses every connection loses its newest stream to another one', async (t) => {
  const { gateway, heavy, other } = await openTwoCallers(t, {
    upstreams: [{ name: 'only', connections: 4 }],
  })
  const streams = []
  for (let i = 0; i < 4; i++) streams.push(...(await openStreams(heavy, 1)))
  const { status } = await other.ask({ body: question() })
  assert.equal(status, 200)
  const answer = await (streams.at(-1) as (typeof streams)[number]).answer
  assert.match(answer.bytes.toString(), /event: error\ndata: .*"overloaded_error".*nothing was/)
  assert.equal(answer.brokenBy, null)
  // It does not take the connection back while the other account may return.
  const more = heavy.send({ body: question() })
  await until(async () => gateway.upstreams.waiting.totals.used === 1, 'the request waits')
  assert.equal((await other.ask({ body: question() })).status, 200)
  assert.equal(gateway.upstreams.waiting.totals.used, 1, 'no further stream was lost')
  assert.deepEqual(await gateway.metric('gateway_endings_total'), 3, 'two complete, one shed')
  for (const stream of streams) stream.disconnect()
  assert.equal((await more.answer).status, 200)
  const endings = await voidedOf(gateway, heavy)
  assert.deepEqual(
    endings.filter((one) => one === 'shed'),
    ['shed'],
  )
})

test('beyond the places to wait a request is refused at once: waiting_exhausted', async (t) => {
  const { gateway, heavy } = await openTwoCallers(t, {
    upstreams: [{ name: 'only', connections: 1 }],
    waitingMax: 4,
  })
  const [stream] = await openStreams(heavy, 1)
  const waiting = Array.from({ length: 4 }, () => heavy.send({ body: question() }))
  const { waiting: places } = gateway.upstreams
  await until(() => places.totals.used === 4, 'four requests wait')
  assertRefused(await heavy.ask({ body: question() }), /^The service is overloaded/)
  stream?.disconnect()
  const statuses = (await Promise.all(waiting.map((one) => one.answer))).map((one) => one.status)
  assert.deepEqual(statuses, [200, 200, 200, 200])
  await until(() => places.totals.used === 0, 'every place is returned')
  assert.equal((await voidedOf(gateway, heavy)).includes('upstream_failed'), false)
  const [target] = gateway.upstreams.views()
  assert.equal(target?.failed, 0, 'the upstream is not to blame')
})

test('a locked book takes places to wait; another account gets one: request_shed', async (t) => {
  const { gateway, heavy, other } = await openTwoCallers(t, { waitingMax: 4 })
  const released = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const lock = gateway.database.db.transaction(async (tx) => {
    await tx.query('select from books where id = $1 for update', [heavy.book])
    locked.resolve()
    await released.promise
  })
  await locked.promise
  const waiting = Array.from({ length: 4 }, () => heavy.send({ body: question() }))
  await until(() => gateway.upstreams.waiting.totals.used === 4, 'four requests wait')
  assertRefused(await heavy.ask({ body: question() }), /^The service is overloaded/)
  assert.equal((await other.ask({ body: question() })).status, 200)
  const shed = await Promise.race(waiting.map((one) => one.answer))
  assertRefused(shed, /more than its share/)
  released.resolve()
  await lock
  const statuses = (await Promise.all(waiting.map((one) => one.answer))).map((one) => one.status)
  assert.deepEqual(statuses.sort(), [200, 200, 200, 529])
  // The hold of the shed request came late, and was voided.
  assert.deepEqual(await voidedOf(gateway, heavy), ['shed'])
})

test('requests that wait for a pause to end take places; another account gets one', async (t) => {
  const clock = { ms: 1_000_000 }
  const upstreamClock = { nowMs: () => clock.ms, spanMs: () => clock.ms }
  const { gateway, heavy, other } = await openTwoCallers(t, { waitingMax: 4, upstreamClock })
  const { upstreams, vendor } = gateway
  vendor.mode({ fault: 'status=429 retry-after=1' })
  const waiting = []
  for (let i = 1; i <= 4; i++) {
    waiting.push(heavy.send({ body: question() }))
    await until(() => upstreams.waitingForTarget() === i, `${i} requests wait`)
  }
  assert.equal(upstreams.waiting.totals.used, 4)
  assertRefused(await heavy.ask({ body: question() }), /^The service is overloaded/)
  vendor.mode()
  assert.equal((await other.ask({ body: question() })).status, 200)
  assertRefused(await Promise.race(waiting.map((one) => one.answer)), /more than its share/)
  clock.ms += 1_000
  const statuses = (await Promise.all(waiting.map((one) => one.answer))).map((one) => one.status)
  assert.deepEqual(statuses.sort(), [200, 200, 200, 529])
  assert.deepEqual([upstreams.waiting.totals.used, upstreams.waitingForTarget()], [0, 0])
})

test('a flood of token counts leaves the free endpoints to others', async (t) => {
  const { gateway, heavy, other } = await openTwoCallers(t, { freeMax: 4 })
  gateway.vendor.mode({ fault: 'headers-ms=forever', path: COUNT })
  const body = JSON.stringify({ model: 'model-small', messages: [{ role: 'user', content: 'x' }] })
  const counts = Array.from({ length: 6 }, () => heavy.send({ path: COUNT, body }))
  await until(() => gateway.vendor.requests.length === 4, 'four counts run')
  const me = await other.ask({ path: '/v1/me', method: 'GET' })
  assert.equal(me.status, 200)
  assertRefused(await Promise.race(counts.map((one) => one.answer)), /more than its share/)
  const models = await other.ask({ path: '/v1/models', method: 'GET' })
  assert.match(models.bytes.toString(), /turns left/)
  for (const count of counts) count.disconnect()
})

test('a client library is told when the upstream wants the next token count', async (t) => {
  const { gateway, heavy } = await openTwoCallers(t, {})
  gateway.vendor.mode({ fault: 'status=429 retry-after=7', path: COUNT })
  const body = JSON.stringify({ model: 'model-small', messages: [{ role: 'user', content: 'x' }] })
  const { status, headers } = await heavy.ask({ path: COUNT, body })
  assert.deepEqual([status, headers['retry-after']], [529, '7'])
})

test('a body that waits for 100 Continue is asked for only when the key is known', async (t) => {
  const { gateway, heavy } = await openTwoCallers(t, {})
  const body = question()
  const exchange = async (key: string) => {
    const socket = connect(gateway.port, '127.0.0.1')
    t.after(() => socket.destroy())
    const lines = ['POST /v1/messages HTTP/1.1', 'host: gateway', 'expect: 100-continue']
    lines.push(`x-api-key: ${key}`, 'content-type: application/json')
    socket.write([...lines, `content-length: ${Buffer.byteLength(body)}`, '', ''].join('\r\n'))
    const [first] = await once(socket, 'data', { signal: AbortSignal.timeout(10_000) })
    return { socket, first: String(first) }
  }
  const stranger = await exchange('sk-vendor-api03-made-up')
  assert.match(stranger.first, /^HTTP\/1\.1 401 .*^connection: close\r$/ims)
  const known = await exchange(heavy.key)
  assert.equal(known.first, 'HTTP/1.1 100 Continue\r\n\r\n')
  known.socket.write(body)
  const [answer] = await once(known.socket, 'data', { signal: AbortSignal.timeout(10_000) })
  assert.match(String(answer), /^HTTP\/1\.1 200 /)
})
