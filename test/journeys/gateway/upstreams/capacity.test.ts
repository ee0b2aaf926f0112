// What one answer of an upstream says about the next requests: a credential without funds is left,
// an overloaded model blocks no other, and one customer's requests that make an upstream fail do
// not close it for others. Every test begins with a new gateway.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createTestGateway } from '../../../stages/gateway.ts'
import { createCaller } from '../caller.ts'
import { question, refusalOf } from '../client.ts'

const COUNT = '/v1/messages/count_tokens'
const UNPAID = 'status=400 message="Your credit balance is too low to access the API."'

/** Upstreams in the order in which the gateway tries them, and two customers. */
async function create(t: TestContext, names = ['first', 'second']) {
  const logLines: string[] = []
  const gateway = await createTestGateway({
    upstreams: names.map((name, i) => ({ name, priority: i + 1 })),
    logLines,
  })
  const [one, other] = [await createCaller(gateway), await createCaller(gateway)]
  t.after(async () => {
    one.end()
    other.end()
    await gateway.end()
  })
  const ask = (caller: typeof one, text: string, model = 'model-small') =>
    caller.ask({ body: question(text, { model }) })
  return {
    gateway,
    one: (text = 'Hello', model?: string) => ask(one, text, model),
    other: (text = 'Hello', model?: string) => ask(other, text, model),
    count: (text = 'Hello') =>
      one.ask({ path: COUNT, body: question(text, { max_tokens: undefined }) }),
    entries: one.entries,
    mode: (i: number, fault?: string) =>
      fault === undefined ? gateway.vendors[i]?.mode() : gateway.vendors[i]?.mode({ fault }),
    /** How many requests each upstream got since the last call. */
    asked(): number[] {
      const counts = gateway.vendors.map((vendor) => vendor.requests.length)
      for (const vendor of gateway.vendors) vendor.clear()
      return counts
    },
    errors: () => logLines.map((line) => JSON.parse(line)).filter((line) => line.level === 'error'),
  }
}

test('a credential without funds is left for all models and paths, with one alarm', async (t) => {
  const on = await create(t)
  on.mode(0, UNPAID)
  assert.equal((await on.one()).status, 200)
  assert.deepEqual(on.asked(), [1, 1], 'the request itself goes to the next upstream')
  for (const model of ['model-large', 'model-medium', 'model-small']) {
    assert.equal((await on.other('Hello', model)).status, 200)
  }
  assert.equal((await on.count()).status, 200)
  assert.deepEqual(on.asked(), [0, 4])
  assert.deepEqual(
    on.errors().map(({ target, why }) => [target, why]),
    [['first#1', 'unpaid']],
  )
  assert.deepEqual(
    (await on.entries()).map(({ kind, ending }) => `${kind} ${ending}`),
    ['charge complete'],
  )
})

test('a refused credential is left, and a model that is forbidden to it only there', async (t) => {
  for (const [fault, others] of [
    ['status=401', [0, 1]],
    ['status=402', [0, 1]],
    ['status=403', [1, 0]],
  ] as const) {
    const on = await create(t)
    on.mode(0, fault)
    assert.equal((await on.one()).status, 200)
    assert.equal((await on.other()).status, 200)
    on.mode(0)
    on.asked()
    assert.equal((await on.other()).status, 200)
    assert.deepEqual(on.asked(), [0, 1], fault)
    assert.equal((await on.other('Hello', 'model-large')).status, 200)
    assert.deepEqual(on.asked(), others, fault)
  }
})

test('requests are sent although every credential is refused', async (t) => {
  for (const names of [['only'], ['first', 'second']]) {
    const on = await create(t, names)
    for (const i of names.keys()) on.mode(i, UNPAID)
    for (let i = 0; i < 3; i++) assert.equal((await on.one()).status, 502)
    for (const i of names.keys()) on.mode(i)
    assert.equal((await on.one()).status, 200)
  }
})

test('a 529 of one model, however often, leaves the other models where they are', async (t) => {
  const on = await create(t)
  on.mode(0, 'status=529')
  for (let i = 0; i < 8; i++) {
    await on.one(`Hello ${i}`, 'model-large')
    await on.other(`Hello ${i}`, 'model-large')
  }
  on.mode(0)
  on.asked()
  assert.equal((await on.one('Hello', 'model-small')).status, 200)
  assert.deepEqual(on.asked(), [1, 0])
})

test('one customer’s failing requests do not move other customers', async (t) => {
  const on = await create(t)
  assert.equal((await on.other()).status, 200)
  for (let i = 0; i < 20; i++) {
    assert.equal((await on.one(`poison ${i} [[fault: status=500]]`)).status, 500)
  }
  on.asked()
  assert.equal((await on.other()).status, 200)
  assert.deepEqual(on.asked(), [1, 0])
})

test('one customer’s 429 does not move other customers, two customers’ does', async (t) => {
  const on = await create(t)
  const limited = 'too long [[fault: status=429 retry-after=60]]'
  assert.equal((await on.one(limited)).status, 529)
  on.asked()
  assert.equal((await on.other()).status, 200)
  assert.deepEqual(on.asked(), [1, 0])
  assert.equal((await on.other(limited)).status, 529)
  on.asked()
  const third = await createCaller(on.gateway)
  const refused = await third.ask({ body: question('Hello', { model: 'model-small' }) })
  third.end()
  assert.deepEqual([refused.status, on.asked()], [529, [0, 0]])
})

test('a sick upstream is left after failures of several requests of one customer', async (t) => {
  const on = await create(t)
  on.mode(0, 'status=500')
  for (let i = 0; i < 8; i++) assert.equal((await on.one(`Hello ${i}`)).status, 200)
  assert.deepEqual(on.asked(), [5, 8])
})

test('requests are sent although every upstream looks sick, one or several', async (t) => {
  for (const names of [['only'], ['first', 'second']]) {
    const on = await create(t, names)
    for (const i of names.keys()) on.mode(i, 'status=500')
    for (let i = 0; i < 12; i++) assert.equal((await on.one(`Hello ${i}`)).status, 500)
    for (const i of names.keys()) on.mode(i)
    const beganMs = performance.now()
    assert.equal((await on.one()).status, 200)
    assert.ok(performance.now() - beganMs < 900, 'without waiting for a probe')
  }
})

test('a limit of our account becomes 529 in our words, with a true wait', async (t) => {
  const on = await create(t)
  on.mode(0, 'status=429 retry-after=50')
  on.mode(1, 'status=429 retry-after=30')
  for (const ask of [on.one, on.other, on.one]) {
    const answer = await ask()
    const { error } = refusalOf(answer)
    assert.deepEqual([answer.status, error.type], [529, 'overloaded_error'])
    assert.doesNotMatch(error.message, /organization|rate limit/i)
    assert.match(String(answer.headers['retry-after']), /^(?:29|30)$/)
  }
  assert.deepEqual(on.asked(), [2, 2], 'the third request is not sent')
})
