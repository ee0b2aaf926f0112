// A client leaves, or another account needs what its request uses: which of the two came first
// decides what the request costs, and a request of which nothing was sent upstream is free.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createTestGateway, type TestGatewayOptions } from '../../../stages/gateway.ts'
import { type Caller, createCaller } from '../caller.ts'
import { question } from '../client.ts'

/** A stream that stays open after its first event. */
const OPEN_STREAM = question('[[fault: silence-after=1]]', { stream: true })

async function setUp(t: TestContext, options: TestGatewayOptions) {
  const gateway = await createTestGateway(options)
  const [heavy, other] = [await createCaller(gateway), await createCaller(gateway)]
  t.after(async () => {
    heavy.end()
    other.end()
    await gateway.end()
  })
  return { gateway, heavy, other }
}

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
    const { gateway, heavy, other } = await setUp(t, {
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
