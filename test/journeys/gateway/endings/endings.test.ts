// Complete replies, charged as the upstream reported, and requests refused before the first byte,
// which are free; and the statement that each leaves.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../../stages/gateway.ts'
import { type Caller, createCaller } from '../caller.ts'
import { question, refusalOf } from '../client.ts'
import { chargeLine, estimatedOutput, eventsOf, priceOf, text } from '../expected-charges.ts'

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())

/** Runs the same journey with a plain reply and with a stream, each with its own customer. */
function bothWays(promise: string, journey: (caller: Caller, stream: boolean) => Promise<void>) {
  for (const stream of [false, true]) {
    test(`${promise} (${stream ? 'stream' : 'plain'})`, async () => {
      const caller = await createCaller(gateway)
      await journey(caller, stream).finally(() => caller.end())
    })
  }
}

describe('a complete reply is charged as reported', () => {
  const replies = [
    ['text', '[[reply: text 30]]'],
    ['characters of several bytes', '[[reply: unicode 30]]'],
    ['thinking before the answer', '[[reply: thinking 20 text 10]]'],
    ['a tool call', '[[reply: text 5 tool add {"a":1,"b":[2,3]}]]'],
    ['redacted thinking and citations', '[[reply: redacted citations text 4]]'],
    ['a block of an unknown kind', '[[reply: unknown text 4]]'],
    ['events and fields of tomorrow', '[[fault: unknown-event unknown-field]]'],
    ['two message_delta', '[[reply: text 30]] [[fault: double-delta]]'],
    ['all counters at the start', '[[reply: text 30]] [[fault: usage-in-start]]'],
    ['CRLF, comments and pings', '[[reply: text 9]] [[fault: crlf comments pings]]'],
    ['records without an event line', '[[reply: text 9]] [[fault: no-event-line]]'],
    ['compressed though not asked', '[[reply: unicode 40]] [[fault: gzip]]'],
    ['torn into random chunks', '[[reply: unicode 40]] [[fault: chunk=random seed=7]]'],
  ] as const
  for (const [what, words] of replies) {
    bothWays(what, async (caller, stream) => {
      const answer = await caller.ask({ body: question(words, { stream }) })
      const { usage } = caller.last()
      assert.equal(answer.status, 200)
      assert.equal(answer.brokenBy, null)
      assert.deepEqual(await caller.statement(), [chargeLine('complete', priceOf(usage ?? {}))])
      if (stream) assert.equal(eventsOf(answer.bytes).at(-1)?.type, 'message_stop')
      else assert.deepEqual(JSON.parse(answer.bytes.toString()).usage, usage)
    })
  }

  bothWays('cached tokens at their own weights', async (caller, stream) => {
    const system = [
      { type: 'text', text: 'a '.repeat(400), cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'b '.repeat(300), cache_control: { type: 'ephemeral' } },
    ]
    // The stand-in caches prefixes by model and key, so each variant needs its own prefix.
    const body = question('cached', { system: [{ type: 'text', text: `${stream}` }, ...system] })
    const asking = { body: stream ? body.replace('{', '{"stream":true,') : body }
    await caller.ask(asking)
    await caller.ask(asking)
    const [first, second] = caller.received().map(({ usage }) => usage)
    assert.ok((first?.cache_creation.ephemeral_1h_input_tokens ?? 0) > 0)
    assert.ok((first?.cache_creation.ephemeral_5m_input_tokens ?? 0) > 0)
    assert.ok((second?.cache_read_input_tokens ?? 0) > 0)
    assert.deepEqual(await caller.statement(), [
      chargeLine('complete', priceOf(first ?? {})),
      chargeLine('complete', priceOf(second ?? {})),
    ])
  })

  bothWays('no output at all costs its input', async (caller, stream) => {
    await caller.ask({ body: question('Hello', { max_tokens: 0, stream }) })
    const { usage } = caller.last()
    assert.equal(usage?.output_tokens, 0)
    assert.deepEqual(await caller.statement(), [chargeLine('complete', priceOf(usage ?? {}))])
  })

  test('a plain reply reports its cost and the remaining balance', async () => {
    const caller = await createCaller(gateway, 10_000)
    const { headers } = await caller.ask({ body: question() })
    const price = priceOf(caller.last().usage ?? {})
    assert.equal(headers['x-credit-charged'], text(price))
    assert.equal(headers['x-credit-balance'], text(10_000_000_000n - price))
    caller.end()
  })
})

describe('an impossible usage never costs the customer more', () => {
  // The body is ASCII, so its bytes bound its input tokens; the hold adds the maximum output.
  const holdOf = (body: string) => BigInt(body.length) * 1_000_000n + 1_000n * 5_000_000n

  for (const claimed of [1_000_000, 99_999_999_999, Number.MAX_SAFE_INTEGER]) {
    bothWays(`${claimed} tokens are capped at the hold`, async (caller, stream) => {
      const body = question(`[[reply: text 9]] [[fault: usage=${claimed}]]`, { stream })
      const answer = await caller.ask({ body })
      assert.equal(answer.status, 200)
      assert.equal(answer.brokenBy, null)
      const [entry] = await caller.entries()
      assert.equal(entry?.kind, 'charge')
      assert.equal(entry?.ending, 'complete')
      assert.equal(text(entry?.amount ?? 0n), text(-holdOf(body)))
      assert.equal((entry?.priced ?? 0n) + (entry?.amount ?? 0n), entry?.writtenOff)
      assert.ok((entry?.writtenOff ?? 0n) > 0n)
      // Beyond a thousand million tokens the count is cut, and with it the write-off.
      if (claimed <= 1e9) {
        const price = priceOf({ input_tokens: claimed, output_tokens: claimed })
        assert.equal(text(entry?.priced ?? 0n), text(price))
      }
      assert.deepEqual(await gateway.ledger.audit('new'), [])
    })
  }

  test('a stream without counters is estimated by its payload', async () => {
    const caller = await createCaller(gateway)
    const words = '[[reply: unicode 30]] [[fault: no-usage]]'
    const answer = await caller.ask({ body: question(words, { stream: true }) })
    const output_tokens = estimatedOutput(eventsOf(answer.bytes))
    const price = priceOf({ output_tokens })
    assert.deepEqual(await caller.statement(), [chargeLine('complete', price, 'estimated')])
    caller.end()
  })

  test('a stream whose last counters are in a record too long to read is estimated', async () => {
    const caller = await createCaller(gateway, 10_000_000)
    // The vendor repeats the stop sequence in the record that carries the final counters.
    const stop = '-'.repeat(262_200)
    const words = `[[reply: say ${JSON.stringify(`${'some words '.repeat(200)}${stop}`)}]]`
    const body = question(words, {
      stream: true,
      max_tokens: 128_000,
      stop_sequences: [stop],
      model: 'model-large',
    })
    const answer = await caller.ask({ body })
    const events = eventsOf(answer.bytes)
    assert.equal(events.at(-1)?.type, 'message_stop')
    const input_tokens = caller.last().usage?.input_tokens ?? 0
    const price = priceOf({ input_tokens, output_tokens: estimatedOutput(events) })
    assert.deepEqual(await caller.statement(), [chargeLine('complete', price, 'estimated')])
    caller.end()
  })

  test('a plain reply without counters is estimated by its bytes', async () => {
    const caller = await createCaller(gateway)
    const answer = await caller.ask({ body: question('[[reply: text 30]] [[fault: no-usage]]') })
    const price = priceOf({ output_tokens: Math.ceil(answer.bytes.length / 4) })
    assert.deepEqual(await caller.statement(), [chargeLine('complete', price, 'estimated')])
    caller.end()
  })
})

describe('a request that we refuse leaves no entry and is not counted', () => {
  const plain = { 'content-type': 'text/plain' }
  const cases = [
    ['a field missing', 400, { body: question('Hello', { max_tokens: undefined }) }],
    ['a field of a wrong type', 400, { body: question('Hello', { stream: 'yes' }) }],
    ['a body that is not JSON', 400, { body: '{"model":' }],
    ['a compressed body', 400, { body: question(), headers: { 'content-encoding': 'gzip' } }],
    ['a wrong key', 401, { body: question(), headers: { 'x-api-key': 'sk-vendor-03-no' } }],
    ['more than the balance', 402, { body: question('x'.repeat(150_000)) }],
    ['an unknown model', 404, { body: question('Hello', { model: 'nobody' }) }],
    ['a body too large', 413, { body: Buffer.alloc(33_554_433, 0x20) }],
    ['another content type', 415, { body: question(), headers: plain }],
  ] as const
  for (const [what, status, asking] of cases) {
    test(`${what}: ${status}`, async () => {
      const caller = await createCaller(gateway, 50_000)
      const answer = await caller.ask(asking)
      assert.equal(answer.status, status)
      assert.equal(refusalOf(answer).type, 'error')
      assert.equal(refusalOf(answer).request_id, answer.headers['request-id'])
      assert.deepEqual(await caller.statement(), [])
      assert.equal(await caller.requestCount(), 0)
      const messages = caller.received().filter(({ url }) => !url.includes('count_tokens'))
      assert.equal(messages.length, 0)
      caller.end()
    })
  }
})

describe('a refusal of the upstream is passed on with our request id and is free', () => {
  for (const status of [400, 404, 408, 409, 413, 422, 500, 502, 503, 504, 529]) {
    bothWays(`${status}`, async (caller, stream) => {
      const fault = `status=${status} error-type=odd_error message="Odd: ${status}" retry-after=1`
      const body = question(`[[fault: ${fault} should-retry=false]]`, { stream })
      const { headers, ...answer } = await caller.ask({ body })
      const { requestId } = caller.last()
      assert.equal(answer.status, status)
      assert.equal(
        answer.bytes.toString(),
        `{"type":"error","error":{"type":"odd_error","message":"Odd: ${status}"},` +
          `"request_id":"${headers['request-id']}"}`,
      )
      assert.match(String(headers['request-id']), /^req_[0-9a-f]{32}$/)
      const [entry] = await caller.entries()
      assert.equal(entry?.details.vendorRequestId, requestId, "the vendor's id is kept")
      assert.equal(headers['content-type'], 'application/json')
      assert.equal(headers['retry-after'], '1')
      assert.equal(headers['x-should-retry'], 'false')
      // No header that names our account at the upstream or its edge.
      const foreign = Object.keys(headers).filter((name) => /anthropic|cookie|^cf-|via/.test(name))
      assert.deepEqual(foreign, [])
      assert.deepEqual(await caller.statement(), [`void refused 0 upstream ${status} odd_error`])
      assert.equal(await caller.requestCount(), 0)
    })
  }

  const aboutUs = [
    ['our key is refused', 'status=401'],
    ['our bill is unpaid', 'status=402'],
    ['we lack permission', 'status=403'],
    ['our key is echoed', 'echo-key'],
    ['our balance is empty', 'status=400 message="Your credit balance is too low to access"'],
  ] as const
  for (const [what, fault] of aboutUs) {
    bothWays(`${what}: the customer is not told it is theirs`, async (caller, stream) => {
      const answer = await caller.ask({ body: question(`[[fault: ${fault}]]`, { stream }) })
      assert.equal(answer.status, 502)
      assert.equal(refusalOf(answer).error.type, 'api_error')
      assert.doesNotMatch(answer.bytes.toString(), /stand-in-key|credit balance|invalid x-api-key/)
      const status = fault.startsWith('status=') ? fault.slice(7, 10) : '401'
      const [line] = await caller.statement()
      assert.match(line ?? '', new RegExp(`^void refused 0 upstream ${status} \\w+_error$`))
    })
  }

  test('removes our key from the text of an upstream error', async () => {
    const caller = await createCaller(gateway)
    const answer = await caller.ask({ body: question('[[fault: echo-key status=500]]') })
    assert.equal(answer.status, 500)
    assert.equal(refusalOf(answer).error.message, 'invalid x-api-key: ***')
    caller.end()
  })
})
