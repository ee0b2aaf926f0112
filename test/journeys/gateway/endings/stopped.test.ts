// The gateway stops before a reply is complete, because its drain limit has passed. The clients did
// not disconnect, so they pay nothing, and their statements name the gateway as the cause.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createTestGateway, type TestGateway } from '../../../stages/gateway.ts'
import { installCommitFaults, SLOW_COMMIT_MS } from '../../../support/commit-faults.ts'
import { type Caller, createCaller } from '../caller.ts'
import { question } from '../client.ts'
import { chargeLine, eventsOf, priceAfterDisconnect, priceOf } from '../expected-charges.ts'

const STOPPED = ['void drained 0 the gateway was stopped before the reply ended']
const LIMIT_MS = 300
assert.ok(SLOW_COMMIT_MS > LIMIT_MS)

type Travel = (caller: Caller, drain: () => Promise<void>, gateway: TestGateway) => Promise<void>

/** The statement of a customer whose gateway was drained and stopped. */
async function stopped(travel: Travel): Promise<string[]> {
  const gateway = await createTestGateway()
  const caller = await createCaller(gateway)
  try {
    await travel(caller, () => gateway.drain({ idleMs: 0, limitMs: LIMIT_MS }), gateway)
    const lines = await caller.statement()
    assert.deepEqual(await gateway.ledger.audit('all'), [])
    return lines
  } finally {
    caller.end()
    await gateway.end()
  }
}

test('a stream under way at the drain limit is free and has no clean end', async () => {
  const lines = await stopped(async (caller, drain) => {
    const body = question('[[reply: text 40]] [[fault: pace-ms=100]]', { stream: true })
    const sent = caller.send({ body })
    await sent.until((bytes) => eventsOf(bytes).length >= 3)
    await drain()
    const { brokenBy, bytes } = await sent.answer
    assert.equal(brokenBy, 'ECONNRESET')
    assert.doesNotMatch(bytes.toString(), /message_stop/)
    await caller.upstream(({ outcome }) => outcome === 'aborted')
  })
  assert.deepEqual(lines, STOPPED)
})

test('a client that disconnects from a stream before the drain limit pays as usual', async () => {
  let price = 0n
  const lines = await stopped(async (caller, drain) => {
    const body = question('[[reply: text 40]] [[fault: silence-after=5]]', { stream: true })
    const sent = caller.send({ body })
    await sent.until((bytes) => {
      price = priceAfterDisconnect(eventsOf(bytes))
      return eventsOf(bytes).length >= 5
    })
    sent.disconnect()
    await wait(50)
    await drain()
  })
  assert.deepEqual(lines, [chargeLine('client_left', price, 'estimated')])
})

for (const stream of [false, true]) {
  const kind = stream ? 'stream' : 'plain reply'

  test(`a ${kind} that the upstream has not begun is free`, async () => {
    const lines = await stopped(async (caller, drain) => {
      const sent = caller.send({ body: question('[[fault: headers-ms=forever]]', { stream }) })
      await caller.upstream(() => true)
      await drain()
      await assert.rejects(sent.answer)
      await caller.upstream(({ outcome }) => outcome === 'aborted')
    })
    assert.deepEqual(lines, STOPPED)
  })

  test(`a ${kind} that comes just after the drain limit is free`, async () => {
    const lines = await stopped(async (caller, drain) => {
      const late = `[[fault: headers-ms=${LIMIT_MS + 500}]]`
      const sent = caller.send({ body: question(late, { stream }) })
      await caller.upstream(() => true)
      await drain()
      await assert.rejects(sent.answer)
    })
    assert.deepEqual(lines, STOPPED)
  })
}

test('a plain reply passed on in pieces is free', async () => {
  const lines = await stopped(async ({ key }, drain, { port, vendor }) => {
    const body = question('[[fault: huge=24000000]]')
    const socket = connect(port, '127.0.0.1')
    socket.pause() // so that it is not over before the limit
    const head = ['POST /v1/messages HTTP/1.1', 'host: gateway', `x-api-key: ${key}`]
    const more = ['content-type: application/json', `content-length: ${body.length}`]
    socket.write([...head, ...more, '', body].join('\r\n'))
    await vendor.until((all) => all[0]?.outcome === 'open')
    await drain()
    socket.destroy()
  })
  assert.deepEqual(lines, STOPPED)
})

for (const stream of [false, true]) {
  const kind = stream ? 'stream' : 'plain reply'

  test(`a ${kind} that is being charged at the drain limit still reaches its client`, async () => {
    let price = 0n
    const lines = await stopped(async (caller, drain, { database, ledger }) => {
      const commits = await installCommitFaults(database.db)
      const sent = caller.send({ body: question('[[fault: headers-ms=100]]', { stream }) })
      await caller.upstream(() => true)
      await commits.set('slow')
      await caller.upstream(({ outcome }) => outcome === 'finished')
      // The commit takes longer than the drain may.
      assert.ok(((await ledger.balance(caller.book))?.held ?? 0n) > 0n)
      await drain()
      const { status, brokenBy, bytes } = await sent.answer
      assert.deepEqual([status, brokenBy], [200, null])
      assert.match(bytes.toString(), stream ? /message_stop/ : /"usage"/)
      price = priceOf(caller.last().usage ?? {})
    })
    assert.deepEqual(lines, [chargeLine('complete', price)])
  })
}
