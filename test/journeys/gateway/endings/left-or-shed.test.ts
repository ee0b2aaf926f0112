// A client leaves, or another account needs what its request uses: which of the two came first
// decides what the request costs, and a request of which nothing was sent upstream is free.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '../../../../src/platform/clock.ts'
import { type Caller, openTwoCallers } from '../caller.ts'
import { question } from '../client.ts'
import { chargeLine, eventsOf, priceAfterDisconnect } from '../expected-charges.ts'

/** A stream that stays open after its first event. */
const OPEN_STREAM = question('[[fault: silence-after=1]]', { stream: true })

/** Waits at most 5 s, half as long as the gateway waits for a stream whose client has left. */
async function until(check: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (check()) return
    await wait(10)
  }
  assert.fail(what)
}

async function openStream({ send }: Caller) {
  const stream = send({ body: OPEN_STREAM })
  await stream.until((bytes) => bytes.includes('message_start'))
  return stream
}

for (const stream of [false, true]) {
  const kind = stream ? 'stream' : 'plain reply'

  test(`a ${kind} whose client leaves while it waits for a connection is free`, async (t) => {
    const { gateway, heavy, other } = await openTwoCallers(t, {
      upstreams: [{ name: 'only', connections: 1 }],
    })
    const { totals } = gateway.upstreams.waiting
    const busy = await openStream(heavy)
    const sent = other.send({ body: question('Hello', { stream }) })
    await until(() => totals.used === 1, 'the request waits')
    sent.disconnect()
    await until(() => totals.used === 0, 'the request has left the queue')
    busy.disconnect()
    assert.deepEqual(await other.statement(), [
      'void given_up 0 the client left before the reply began',
    ])
    assert.deepEqual(other.received(), [], 'nothing was sent upstream')
  })
}

test('a stream whose client has left is charged, also if another account ends it', async (t) => {
  const { gateway, heavy, other } = await openTwoCallers(t, {
    upstreams: [{ name: 'only', connections: 4 }],
  })
  const streams = []
  for (let i = 0; i < 4; i++) streams.push(await openStream(heavy))
  const newest = streams.at(-1)
  let price = 0n
  await newest?.until((bytes) => {
    price = priceAfterDisconnect(eventsOf(bytes))
    return true
  })
  newest?.disconnect()
  await wait(50)
  assert.equal((await other.ask({ body: question() })).status, 200)
  const entries = await gateway.ledger.statement({ book: heavy.book, beforeSeq: null, limit: 9 })
  assert.equal(entries.filter(({ ending }) => ending === 'shed').length, 0)
  for (const stream of streams) stream.disconnect()
  const charged = chargeLine('client_left', price, 'estimated')
  assert.deepEqual(await heavy.statement(), [charged, charged, charged, charged])
})

test('a stream of more than ten seconds is not shed: younger ones are', async (t) => {
  const turned = { ms: 0 }
  const clock = { ...systemClock, spanMs: () => systemClock.spanMs() + turned.ms }
  const { gateway, heavy, other } = await openTwoCallers(t, {
    upstreams: [{ name: 'only', connections: 4 }],
    clock,
  })
  const { waiting } = gateway.upstreams
  const old = []
  for (let i = 0; i < 3; i++) old.push(await openStream(heavy))
  turned.ms += 11_000
  await wait(1_500) // the gateway looks at its streams every second
  const young = await openStream(heavy)
  const fromOther = await openStream(other)
  assert.match((await young.answer).bytes.toString(), /event: error\ndata: .*"overloaded_error"/)
  const next = other.send({ body: question() })
  await until(() => waiting.totals.used === 1, 'the next request of the other account waits')
  assert.equal(waiting.totals.used, 1)
  old[0]?.disconnect()
  assert.equal((await next.answer).status, 200)
  for (const stream of [...old, fromOther]) stream.disconnect()
  const endings = (await heavy.statement()).map((line) => line.split(' ')[1])
  assert.deepEqual(endings.sort(), ['client_left', 'client_left', 'client_left', 'shed'])
})
