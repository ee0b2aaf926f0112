// Every upstream of a model is sick, cools down or is drained. Sick ones are asked all the same;
// while another one is well, a sick one gets one request a second.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createTestGateway } from '../../../stages/gateway.ts'
import { createCaller } from '../caller.ts'
import { type Answer, question, refusalOf } from '../client.ts'

/** A gateway with two upstreams and new breakers. */
async function create(t: TestContext) {
  const logLines: string[] = []
  const upstreams = [{ name: 'north' }, { name: 'south' }]
  const gateway = await createTestGateway({ upstreams, logLines })
  const caller = await createCaller(gateway)
  t.after(async () => {
    caller.end()
    await gateway.end()
  })
  const ask = (text: string) => caller.ask({ body: question(text) })

  /** Makes both refuse until their breakers open; requests are counted from then on. */
  async function openBreakers(fault: string): Promise<void> {
    for (const vendor of gateway.vendors) vendor.mode({ fault })
    const isOver = () => gateway.upstreams.views().every(({ state }) => state === 'open')
    // Each question begins a new conversation, so that both upstreams come first for some.
    for (let i = 0; i < 200 && !isOver(); i++) await ask(`Hello ${i}`)
    assert.ok(isOver(), 'both breakers are open')
    for (const vendor of gateway.vendors) vendor.clear()
  }

  return {
    gateway,
    caller,
    openBreakers,
    ask,
    /** Sends `count` requests at once and measures how long the last one took. */
    async askAtOnce(count: number): Promise<{ answers: Answer[]; tookMs: number }> {
      const beganMs = performance.now()
      const answers = await Promise.all(Array.from({ length: count }, (_, i) => ask(`Hello ${i}`)))
      return { answers, tookMs: performance.now() - beganMs }
    },
    counts: () => gateway.vendors.map((vendor) => vendor.requests.length),
    codeOf({ headers }: Answer): string | undefined {
      const line = logLines.findLast((one) => one.includes(String(headers['request-id'])))
      return JSON.parse(line ?? '{}').code
    },
  }
}

function assertRare(asked: number, tookMs: number): void {
  assert.ok(asked <= 1 + tookMs / 1_000, `a sick upstream was asked ${asked} times in ${tookMs} ms`)
}

test('a request that comes while all look sick is served by the one that is well', async (t) => {
  const on = await create(t)
  await on.openBreakers('status=500')
  on.gateway.vendors[1]?.mode()
  const { answers } = await on.askAtOnce(20)
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(on.counts()[1], 20)
})

test('one sick upstream of two is asked once a second, however many requests come', async (t) => {
  const on = await create(t)
  await on.openBreakers('status=500')
  on.gateway.vendors[1]?.mode()
  while (on.gateway.upstreams.views()[1]?.state !== 'closed') await on.ask('Hello')
  for (const vendor of on.gateway.vendors) vendor.clear()
  const { answers, tookMs } = await on.askAtOnce(30)
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assertRare(on.counts()[0] ?? 0, tookMs)
})

test('when all fail, the client gets the upstream’s own answer for free', async (t) => {
  const on = await create(t)
  await on.openBreakers('status=500')
  const { answers } = await on.askAtOnce(12)
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([500]))
  assert.ok((await on.caller.statement()).every((line) => line.startsWith('void ')))
})

test('overloaded upstreams that ask for half a minute are asked once a second', async (t) => {
  const on = await create(t)
  for (const vendor of on.gateway.vendors) vendor.mode({ fault: 'status=529 retry-after=30' })
  await on.ask('Hello')
  for (const vendor of on.gateway.vendors) vendor.clear()
  const { answers, tookMs } = await on.askAtOnce(12)
  for (const asked of on.counts()) assertRare(asked, tookMs)
  const refused = answers.filter((answer) => on.codeOf(answer) !== undefined)
  assert.ok(refused.length >= 12 - on.counts().reduce((sum, one) => sum + one, 0))
  for (const answer of refused) {
    assert.deepEqual([answer.status, on.codeOf(answer)], [529, 'upstream_limited'])
    assert.equal(refusalOf(answer).error.type, 'overloaded_error')
    assert.match(String(answer.headers['retry-after']), /^(?:2\d|30)$/)
  }
})

test('both refuse while drained, until the operator readmits one', async (t) => {
  const on = await create(t)
  const { upstreams, database } = on.gateway
  for (const name of ['north', 'south']) {
    await upstreams.change({ name, weight: null, isDrained: true, by: 'test' }, database.db)
  }
  await upstreams.start()
  const answer = await on.ask('Hello')
  assert.deepEqual([answer.status, answer.headers['retry-after']], [529, '30'])
  assert.equal(on.codeOf(answer), 'upstream_unavailable')
  const readmitted = { name: 'south', weight: null, isDrained: false, by: 'test' }
  await upstreams.change(readmitted, database.db)
  await upstreams.start()
  assert.equal((await on.ask('Hello')).status, 200)
  assert.deepEqual(on.counts(), [0, 1])
})

test('no upstream is tried for a client that disconnected; its hold is voided', async (t) => {
  const on = await create(t)
  const { caller, gateway } = on
  for (const vendor of gateway.vendors) vendor.mode({ fault: 'status=429' })
  await Promise.all([on.ask('Hello'), on.ask('Hello')])
  for (const vendor of gateway.vendors) vendor.clear()
  const sent = caller.send({ body: question() })
  const held = async () => (await gateway.ledger.balance(caller.book))?.held ?? 0n
  const untilMs = performance.now() + 5_000
  while ((await held()) === 0n && performance.now() < untilMs) await wait(1)
  sent.disconnect()
  // Its void follows those of the requests that got the pauses.
  const last = async () => (await caller.entries()).at(-1)?.ending
  while ((await last()) !== 'given_up' && performance.now() < untilMs + 5_000) await wait(5)
  assert.equal(await last(), 'given_up')
  assert.deepEqual(on.counts(), [0, 0])
})
