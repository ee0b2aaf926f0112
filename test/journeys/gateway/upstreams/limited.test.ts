// An upstream's 429 limits one credential, one model and one path: it still serves other models,
// and messages after a limited token count. The gateway does not refuse a request while it can
// still try an upstream that asked to wait. Every test begins with a new gateway.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createTestGateway } from '../../../stages/gateway.ts'
import { createCaller } from '../caller.ts'
import { question } from '../client.ts'

const COUNT = '/v1/messages/count_tokens'
const MODELS = ['model-large', 'model-medium', 'model-small']

/** Two upstreams. The gateway tries the second only when the first cannot answer. */
async function create(t: TestContext) {
  const gateway = await createTestGateway({
    upstreams: [
      { name: 'first', priority: 1 },
      { name: 'second', priority: 2 },
    ],
  })
  const [poor, rich] = [await createCaller(gateway, 0), await createCaller(gateway)]
  t.after(async () => {
    poor.end()
    rich.end()
    await gateway.end()
  })
  const [first, second] = gateway.vendors as [typeof gateway.vendor, typeof gateway.vendor]
  return {
    first,
    second,
    /** Sends a message from an account with credits. */
    ask: (model: string, text = 'Hello') => rich.ask({ body: question(text, { model }) }),
    /** Sends a token count from an account without credits. */
    count: (model = 'model-large') =>
      poor.ask({ path: COUNT, body: question('Hello', { model, max_tokens: undefined }) }),
    /** How many requests each upstream got since the last call. */
    asked(): number[] {
      const counts = gateway.vendors.map((vendor) => vendor.requests.length)
      for (const vendor of gateway.vendors) vendor.clear()
      return counts
    },
    states: () => gateway.upstreams.views().map(({ state }) => state),
  }
}

test('every model is served at once while all upstreams limit count_tokens', async (t) => {
  const on = await create(t)
  for (const vendor of [on.first, on.second]) {
    vendor.mode({ path: COUNT, fault: 'status=429 retry-after=60' })
  }
  assert.equal((await on.count()).status, 529)
  assert.deepEqual(on.asked(), [1, 1])
  for (const model of MODELS) assert.equal((await on.ask(model)).status, 200, model)
  assert.deepEqual(
    [on.asked(), on.states()],
    [
      [3, 0],
      ['closed', 'closed'],
    ],
  )
})

test('count_tokens neither opens nor closes the breaker of messages', async (t) => {
  const on = await create(t)
  on.first.mode({ path: COUNT, fault: 'status=500' })
  for (let i = 0; i < 6; i++) assert.equal((await on.count()).status, 200)
  assert.deepEqual(on.states(), ['closed', 'closed'])
  on.first.mode({ path: '/v1/messages', fault: 'status=500' })
  for (let i = 0; i < 5; i++) assert.equal((await on.ask('model-small', `${i}`)).status, 200)
  assert.deepEqual(on.states(), ['open', 'closed'])
  for (let i = 0; i < 3; i++) assert.equal((await on.count()).status, 200)
  assert.deepEqual(on.states(), ['open', 'closed'])
})

test('a 429 for one model at every upstream leaves the other models where they are', async (t) => {
  const on = await create(t)
  for (const vendor of [on.first, on.second]) vendor.mode({ fault: 'status=429 retry-after=60' })
  assert.equal((await on.ask('model-large')).status, 529)
  assert.deepEqual(on.asked(), [1, 1])
  for (const vendor of [on.first, on.second]) vendor.mode()
  assert.equal((await on.ask('model-small')).status, 200)
  assert.deepEqual(
    [on.asked(), on.states()],
    [
      [1, 0],
      ['closed', 'closed'],
    ],
  )
})

test('a 429 or 529 with retry-after moves only its own model to the next upstream', async (t) => {
  for (const fault of ['status=429 retry-after=60', 'status=529 retry-after=60']) {
    const on = await create(t)
    on.first.mode({ fault })
    assert.equal((await on.ask('model-large')).status, 200)
    assert.deepEqual(on.asked(), [1, 1])
    on.first.mode()
    assert.equal((await on.ask('model-large')).status, 200)
    assert.deepEqual(on.asked(), [0, 1], fault)
    assert.equal((await on.ask('model-small')).status, 200)
    assert.deepEqual(
      [on.asked(), on.states()],
      [
        [1, 0],
        ['closed', 'closed'],
      ],
      fault,
    )
  }
})

test('while all cool down, one request a second asks the one that is free soonest', async (t) => {
  const on = await create(t)
  on.first.mode({ fault: 'status=429 retry-after=50' })
  on.second.mode({ fault: 'status=429 retry-after=30' })
  assert.equal((await on.ask('model-large')).status, 529)
  assert.deepEqual(on.asked(), [1, 1])
  const untilMs = performance.now() + 5_000
  on.second.mode()
  for (;;) {
    const answer = await on.ask('model-large')
    if (answer.status === 200) break
    assert.match(String(answer.headers['retry-after']), /^2\d|30$/)
    assert.ok(performance.now() < untilMs, 'it is asked within seconds')
  }
  assert.deepEqual(on.asked(), [0, 1], 'none of the refused ones was sent')
  assert.equal((await on.ask('model-large')).status, 200, 'and the pause is over')
})

test('a 429 whose body breaks off is still a 429: the next upstream answers', async (t) => {
  const on = await create(t)
  on.first.mode({ fault: 'status=429 reset-at=10' })
  assert.equal((await on.ask('model-large')).status, 200)
  assert.deepEqual(on.asked(), [1, 1])
  on.second.mode({ fault: 'status=429 retry-after=60 reset-at=10' })
  const { status, bytes } = await on.ask('model-large')
  assert.equal(status, 529, 'in our words')
  assert.match(bytes.toString(), /This model is overloaded/)
})
