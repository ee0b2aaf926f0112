// A request whose small reply does not fit the balance by the bound of bytes: the upstream counts
// its input, free of charge, and the request is served if the count fits. The call is made only
// then, only once for a body, and never changes what is charged.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { agentConversations } from '../../support/agent-conversations.ts'
import { createCaller } from './caller.ts'
import { question, refusalOf } from './client.ts'

const COUNT = '/v1/messages/count_tokens'

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())
afterEach(() => {
  gateway.vendor.mode()
  gateway.vendor.clear()
})

/** The paths that the upstream was asked, in order. */
function asked(): string[] {
  return gateway.vendor.requests.map(({ url }) => url.split('?')[0] ?? '')
}

/** Serves one request with a balance of its own; the status, and the paths asked upstream. */
async function ask(balance: number, body: string, headers: Record<string, string> = {}) {
  gateway.vendor.clear()
  const caller = await createCaller(gateway, balance)
  const answer = await caller.ask({ body, headers })
  await gateway.settled(caller.book)
  caller.end()
  return { answer, caller, status: answer.status, paths: asked() }
}

const FLOOR = 4_096 * 5

/** A question whose bound by bytes is far above its count. */
function longQuestion(mark: string, more: Record<string, unknown> = {}): string {
  return question(`${mark} ${'a word in between '.repeat(1_000)}`, { max_tokens: 8_000, ...more })
}

test('is not made while a small reply fits by bytes, whatever else happens', async () => {
  const body = longQuestion('fits')
  const before = await gateway.metric('gateway_input_counts_total')
  assert.deepEqual((await ask(Buffer.byteLength(body) + FLOOR, body)).paths, ['/v1/messages'])
  assert.deepEqual((await ask(1_000_000, body)).paths, ['/v1/messages'])
  assert.equal(await gateway.metric('gateway_input_counts_total'), before)
})

test('is made once when a small reply does not fit by bytes; the request is served', async () => {
  const body = longQuestion('served', { metadata: { user_id: 'u' }, stop_sequences: ['###'] })
  const before = await gateway.metric('gateway_input_counts_total')
  const { status, paths, caller } = await ask(Buffer.byteLength(body) + FLOOR - 1, body)
  assert.equal(status, 200)
  assert.deepEqual(paths, [COUNT, '/v1/messages'])
  assert.equal(await gateway.metric('gateway_input_counts_total'), before + 1)
  const [counted] = gateway.vendor.requests
  const { messages, model } = JSON.parse(body)
  assert.deepEqual(JSON.parse(counted?.body?.toString() ?? ''), { model, messages })
  assert.equal((await gateway.statement(caller.book)).length, 2, 'a purchase and one charge')
})

/** The paths that each of these requests of one poor account asks upstream, and its status. */
async function inTurn(body: string, ...each: { fault?: string; beta?: string }[]) {
  const caller = await createCaller(gateway, Buffer.byteLength(body) + FLOOR - 1)
  const seen: string[] = []
  for (const { fault, beta } of each) {
    gateway.vendor.clear()
    gateway.vendor.mode(...(fault === undefined ? [] : [{ path: COUNT, fault }]))
    const headers = beta === undefined ? {} : { 'anthropic-beta': beta }
    const { status } = await caller.ask({ body, headers })
    await gateway.settled(caller.book)
    seen.push([status, ...asked()].join(' '))
  }
  caller.end()
  return seen
}

const SERVED = '200 /v1/messages'
const COUNTED = `200 ${COUNT} /v1/messages`

test('is remembered for the account and the body', async () => {
  const body = longQuestion('again')
  assert.deepEqual(await inTurn(body, {}, {}), [COUNTED, SERVED])
  // Otherwise the time to an answer would tell whether another account has sent this body.
  assert.deepEqual(await inTurn(body, {}, {}), [COUNTED, SERVED])
})

test('is asked for again for more than 1 MiB, whose digest would delay others', async () => {
  const caller = await createCaller(gateway, FLOOR + 10_000)
  for (const [bytes, calls] of [
    [1_000_000, 1],
    [1_100_000, 2],
  ] as const) {
    gateway.vendor.clear()
    const body = question('a'.repeat(bytes), { max_tokens: 8_000 })
    for (const _ of [1, 2]) assert.equal((await caller.ask({ body })).status, 402)
    assert.deepEqual(asked(), Array(calls).fill(COUNT))
  }
  caller.end()
})

test('a refusal is remembered for the same headers only', async () => {
  const refused = `402 ${COUNT}`
  const wrong = { fault: 'status=400', beta: 'no-such-beta' }
  const asked = await inTurn(longQuestion('beta'), wrong, { beta: 'no-such-beta' }, {}, {})
  assert.deepEqual(asked, [refused, '402', COUNTED, SERVED])
})

test('is asked for again when the upstream refused our own account', async () => {
  const empty = { fault: 'status=400 message="Your credit balance is too low to access"' }
  assert.deepEqual(await inTurn(longQuestion('ours'), empty, {}), [`402 ${COUNT}`, COUNTED])
})

test('is made again for the same body with another beta, which may change the input', async () => {
  const short = { beta: 'shorter-tools-2026-01-01' }
  const asked = await inTurn(longQuestion('shorter'), short, {}, short)
  assert.deepEqual(asked, [COUNTED, COUNTED, SERVED])
})

test('holds the bytes of a member that the endpoint may not know', async () => {
  const briefing = 'a word in between '.repeat(1_000)
  const body = question('briefed', { max_tokens: 8_000, briefing })
  // Without the briefing the count is a few tokens, and half of this balance would do.
  assert.equal((await ask(briefing.length / 2 + FLOOR, body)).status, 402)
})

test('is not made for an account that could not pay a small reply to no question', async () => {
  assert.deepEqual((await ask(FLOOR - 1, longQuestion('poor'))).paths, [])
  assert.deepEqual((await ask(0, longQuestion('poor'))).paths, [])
})

test('is not made for what the endpoint does not see', async () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
  const messages = [{ role: 'user', content: [image] }]
  const linked = JSON.stringify({ model: 'model-small', max_tokens: 8_000, messages })
  assert.deepEqual((await ask(FLOOR + 2_000, linked)).paths, [])
  assert.deepEqual((await ask(FLOOR + 2_000, longQuestion('box', { container: 'c' }))).paths, [])
})

for (const [name, fault] of Object.entries({
  'refuses to count': 'status=400',
  fails: 'status=529',
  'breaks off': 'drop',
  'answers with a page': 'html status=200',
  'answers after 2 s': 'headers-ms=2500',
})) {
  test(`the bound by bytes stays when the upstream ${name}`, async () => {
    const body = longQuestion(name)
    gateway.vendor.mode({ path: COUNT, fault })
    const startedMs = Date.now()
    const { status, answer, paths } = await ask(Buffer.byteLength(body) + FLOOR - 1, body)
    assert.equal(status, 402)
    assert.equal(refusalOf(answer).error.type, 'billing_error')
    assert.deepEqual(paths, [COUNT])
    assert.ok(Date.now() - startedMs < 2_500 + 2_000)
    // Messages are not affected: the upstream's outcomes are kept apart by path.
    assert.equal((await ask(1_000_000, body)).status, 200)
  })
}

test('charges what was held when a reply costs more than its count, and counts it', async () => {
  const body = longQuestion('dishonest')
  gateway.vendor.mode({ path: '/v1/messages', fault: 'usage-input=90000' })
  const beyond = await gateway.metric('gateway_usage_beyond_hold_total')
  const balance = Buffer.byteLength(body) + FLOOR - 1
  const { status, caller } = await ask(balance, body)
  assert.equal(status, 200)
  assert.equal(await gateway.metric('gateway_usage_beyond_hold_total'), beyond + 1)
  const charge = (await gateway.statement(caller.book)).at(-1)
  assert.ok((charge?.writtenOff ?? 0n) > 0n)
  assert.ok(-(charge?.amount ?? 0n) <= BigInt(balance) * 1_000_000n)
  assert.equal((await gateway.ledger.audit('all')).length, 0)
})

test('with x-credit-clamp: off it is made when the whole worst case does not fit', async () => {
  const body = longQuestion('whole')
  const worst = Buffer.byteLength(body) + 8_000 * 5
  const off = { 'x-credit-clamp': 'off' }
  assert.deepEqual((await ask(worst, body, off)).paths, ['/v1/messages'])
  const { status, paths, answer } = await ask(worst - 1, body, off)
  assert.equal(status, 200)
  assert.deepEqual(paths, [COUNT, '/v1/messages'])
  assert.equal(answer.headers['x-credit-max-tokens'], undefined)
})

test('one account has at most four counts under way, and equal bodies share one', async () => {
  gateway.vendor.mode({ path: COUNT, fault: 'headers-ms=1500' })
  const before = await gateway.metric('gateway_input_counts_total')
  const bodies = Array.from({ length: 6 }, (_, i) => longQuestion(`parallel ${i}`))
  const balance = Buffer.byteLength(bodies[0] ?? '') + FLOOR - 1
  const caller = await createCaller(gateway, balance)
  const answers = await Promise.all(
    [...bodies, bodies[0] ?? ''].map((body) => caller.ask({ body })),
  )
  assert.equal(asked().filter((path) => path === COUNT).length, 4)
  assert.equal(await gateway.metric('gateway_input_counts_total'), before + 6, '4 made, 2 capped')
  for (const { status } of answers) assert.ok(status === 200 || status === 402, `${status}`)
  caller.end()
})

/** What a small reply needs: all input written to the cache, and the tools' own prompt. */
const needed = (input: number) => Math.ceil(input * 1.25) + FLOOR
const TOOLS_TOKENS = 1_024

test('serves agent conversations with less than half of the balance', async (t) => {
  const ratios: number[] = []
  for (const [name, body] of Object.entries(agentConversations)) {
    const growth = Buffer.byteLength(body.normalize('NFKC')) - Buffer.byteLength(body)
    const byBytes = Buffer.byteLength(body) + Math.max(0, growth) + TOOLS_TOKENS
    gateway.vendor.mode({ path: COUNT, fault: 'status=529' })
    const before = await smallest(body, needed(byBytes))
    gateway.vendor.mode()
    const counting = await createCaller(gateway, 1)
    const counted = await counting.ask({ path: COUNT, body: withoutLimit(body) })
    counting.end()
    const count = JSON.parse(counted.bytes.toString()).input_tokens as number
    const after = await smallest(body, needed(count + Math.ceil(count * 0.05) + TOOLS_TOKENS))
    ratios.push(after / before)
    t.diagnostic(
      `${name}: ${Buffer.byteLength(body)} bytes, ${count} tokens; smallest balance ` +
        `${before} by bytes, ${after} by the count (${(after / before).toFixed(2)})`,
    )
  }
  const median = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 1
  t.diagnostic(`median ${median.toFixed(2)}`)
  assert.ok(ratios.length >= 5)
  assert.ok(median <= 0.5, `the median is ${median}`)
})

/** Checks that this is the smallest balance with which the body is served. */
async function smallest(body: string, balance: number): Promise<number> {
  assert.equal((await ask(balance, body)).status, 200)
  assert.equal((await ask(balance - 1, body)).status, 402)
  return balance
}

function withoutLimit(body: string): string {
  const { max_tokens: _, metadata: __, ...rest } = JSON.parse(body)
  return JSON.stringify(rest)
}
