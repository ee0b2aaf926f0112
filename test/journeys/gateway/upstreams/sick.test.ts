// Every upstream of a model is sick or drained: a request waits briefly for one to recover, and is
// refused with retry-after if none does. A sick one gets one request per second, however many wait.
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
    codeOf({ headers }: Answer): string {
      const line = logLines.findLast((one) => one.includes(String(headers['request-id'])))
      return JSON.parse(line ?? '{}').code
    },
  }
}

function assertRare(asked: number, tookMs: number): void {
  assert.ok(asked <= 1 + tookMs / 1_000, `a sick upstream was asked ${asked} times in ${tookMs} ms`)
}

test('a request that comes while all are sick is served as soon as one recovers', async (t) => {
  const on = await create(t)
  await on.openBreakers('status=500')
  on.gateway.vendors[1]?.mode()
  const { answers, tookMs } = await on.askAtOnce(20)
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  const [sick = 0, well] = on.counts()
  assert.equal(well, 20)
  assertRare(sick, tookMs)
})

test('when none recovers, 529 says when to retry: upstream_unavailable', async (t) => {
  const on = await create(t)
  await on.openBreakers('status=500')
  const { answers, tookMs } = await on.askAtOnce(12)
  for (const asked of on.counts()) assertRare(asked, tookMs)
  // A request that reached a sick upstream passes on that upstream's answer.
  const refused = answers.filter(({ status }) => status !== 500)
  assert.ok(refused.length >= 12 - on.counts().reduce((sum, one) => sum + one, 0))
  for (const answer of refused) {
    assert.deepEqual([answer.status, on.codeOf(answer)], [529, 'upstream_unavailable'])
    const { error } = refusalOf(answer)
    assert.equal(error.type, 'overloaded_error')
    assert.equal(error.message, 'No upstream is available right now.')
    assert.equal(answer.headers['retry-after'], '1')
  }
  assert.ok((await on.caller.statement()).every((line) => line.startsWith('void ')))
})

test('clients get the retry-after of sick upstreams that ask for half a minute', async (t) => {
  const on = await create(t)
  await on.openBreakers('status=503 retry-after=30')
  const { answers, tookMs } = await on.askAtOnce(12)
  for (const asked of on.counts()) assertRare(asked, tookMs)
  const refused = answers.filter(({ status }) => status !== 503)
  assert.ok(refused.length >= 12 - on.counts().reduce((sum, one) => sum + one, 0))
  for (const { status, headers } of refused) {
    assert.equal(status, 529)
    assert.match(String(headers['retry-after']), /^(?:2\d|30)$/)
  }
})

test('both refuse while drained, until the operator readmits one', async (t) => {
  const on = await create(t)
  const { upstreams } = on.gateway
  for (const name of ['north', 'south']) {
    await upstreams.change({ name, weight: null, isDrained: true, by: 'test' })
  }
  await upstreams.start()
  const answer = await on.ask('Hello')
  assert.deepEqual([answer.status, answer.headers['retry-after']], [529, '30'])
  await upstreams.change({ name: 'south', weight: null, isDrained: false, by: 'test' })
  await upstreams.start()
  assert.equal((await on.ask('Hello')).status, 200)
  assert.deepEqual(on.counts(), [0, 1])
})

test('no upstream is tried for a client that disconnected; its hold is voided', async (t) => {
  const on = await create(t)
  await on.openBreakers('status=500')
  const { caller, gateway } = on
  const sent = caller.send({ body: question() })
  const held = async () => (await gateway.ledger.balance(caller.book))?.held ?? 0n
  const untilMs = performance.now() + 5_000
  while ((await held()) === 0n && performance.now() < untilMs) await wait(1)
  sent.disconnect()
  // Its void follows those of the requests that made the targets sick.
  const last = async () => (await caller.entries()).at(-1)?.ending
  while ((await last()) !== 'given_up' && performance.now() < untilMs + 5_000) await wait(5)
  assert.equal(await last(), 'given_up')
  assert.deepEqual(on.counts(), [0, 0])
})
