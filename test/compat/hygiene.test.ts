// What must not be lost or let through: every counter of cached tokens, compressed replies that
// stay readable, and headers and keys that must not reach the other side.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { Anthropic } from '@anthropic-ai/sdk'
import { APICallError, generateText, streamText } from 'ai'
import { aiSdk, ask, post, sdk1x8, textOf } from './clients.ts'
import { createStage, thrownBy, usageOf } from './stage.ts'

const stage = await createStage()
after(() => stage.end())
beforeEach(() => stage.clear())

const { url } = stage

/** A conversation whose first part is to be cached, as agents mark theirs. */
const marked = (text: string, ttl: '5m' | '1h') => ({
  ...ask('And now?', 'claude-sonnet-4-6'),
  system: [
    { type: 'text' as const, text, cache_control: { type: 'ephemeral' as const, ttl } },
    { type: 'text' as const, text: 'Be brief.' },
  ],
})

test('45 cached tokens are counted for the client and charged by their weights', async () => {
  const account = await stage.account(1_000_000)
  const { messages } = sdk1x8({ url, key: account.key })
  for (const ttl of ['5m', '1h'] as const) {
    const question = marked(`A long text to be kept for ${ttl}. `.repeat(200), ttl)
    const written = await messages.create(question)
    const read = await messages.stream(question).finalMessage()
    const kept = written.usage.cache_creation
    assert.ok((written.usage.cache_creation_input_tokens ?? 0) > 1_000)
    assert.equal(
      ttl === '5m' ? kept?.ephemeral_5m_input_tokens : kept?.ephemeral_1h_input_tokens,
      written.usage.cache_creation_input_tokens,
    )
    assert.equal(read.usage.cache_read_input_tokens, written.usage.cache_creation_input_tokens)
    assert.equal(read.usage.input_tokens, written.usage.input_tokens)
  }
  assert.equal(stage.vendor.requests.length, 4)
  await stage.assertCharged(account)
})

test('45 the AI SDK receives the cached tokens of a stream', async () => {
  const account = await stage.account(1_000_000)
  const model = aiSdk({ url, key: account.key })('claude-sonnet-4-6')
  const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }
  const content = 'Something to keep. '.repeat(300)
  const messages = [{ role: 'user' as const, content, providerOptions }]
  const first = streamText({ model, messages, maxOutputTokens: 500 })
  const written = (await first.usage).inputTokenDetails.cacheWriteTokens
  const second = await generateText({ model, messages, maxOutputTokens: 500 })
  assert.ok((written ?? 0) > 1_000)
  assert.equal(second.usage.inputTokenDetails.cacheReadTokens, written)
  await stage.assertCharged(account)
})

test('46 a reply that the upstream compressed unasked is readable', async () => {
  const account = await stage.account(1_000_000)
  const target = { url, key: account.key }
  stage.vendor.mode({ fault: 'gzip', reply: 'say "Good day"' })
  const plain = await sdk1x8(target).messages.create(ask('Hello'))
  assert.equal(textOf(plain), 'Good day')
  const stream = await sdk1x8(target).messages.stream(ask('Hello')).finalMessage()
  assert.equal(textOf(stream), 'Good day')
  const model = aiSdk(target)('claude-opus-4-6')
  assert.equal((await generateText({ model, prompt: 'Hello' })).text, 'Good day')
  assert.equal(await streamText({ model, prompt: 'Hello' }).text, 'Good day')
  const raw = await post(target, JSON.stringify(ask('Hello')))
  assert.equal(raw.headers.get('content-encoding'), null)
  const text = await raw.text()
  assert.equal(raw.headers.get('content-length'), String(Buffer.byteLength(text)))
  await stage.assertCharged(account)
})

test('46 an error that the upstream compressed unasked is readable', async () => {
  const account = await stage.account(1_000_000)
  const target = { url, key: account.key }
  stage.vendor.mode({ fault: 'gzip status=400 message="prompt is too long: 9 tokens > 8 maximum"' })
  const error = await thrownBy(sdk1x8(target).messages.create(ask('Hello')))
  assert.ok(error instanceof Anthropic.BadRequestError)
  assert.match(error.message, /prompt is too long: 9 tokens > 8 maximum/)
  const model = aiSdk(target)('claude-opus-4-6')
  const aiError = await thrownBy(generateText({ model, prompt: 'Hello' }))
  assert.ok(APICallError.isInstance(aiError))
  assert.equal(aiError.message, 'prompt is too long: 9 tokens > 8 maximum')
  assert.equal(stage.arrivals.length, 2)
  await stage.assertFree(account)
})

// What the stand-in sends and a client is meant to see; everything else names our account or edge.
const ALLOWED = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'request-id',
  'retry-after',
  'transfer-encoding',
  'x-credit-balance',
  'x-credit-charged',
  'x-should-retry',
])

test('52 the client sees nothing of our upstream account', async () => {
  const account = await stage.account(1_000_000)
  const target = { url, key: account.key }
  const upstreamKey = stage.vendor.keys[0] as string
  for (const [prompt, stream] of [
    ['Hello', false],
    ['Hello', true],
    ['[[fault: status=400]]', false],
    ['[[fault: status=529 retry-after=3]]', true],
    ['[[fault: echo-key]]', false],
    ['[[fault: echo-key status=400]]', true],
    ['[[fault: html]]', false],
    ['[[fault: status=402]]', false],
  ] as const) {
    const reply = await post(target, JSON.stringify({ ...ask(prompt), stream }))
    const text = await reply.text()
    const unexpected = [...reply.headers.keys()].filter((name) => !ALLOWED.has(name))
    assert.deepEqual(unexpected, [], prompt)
    assert.notEqual(reply.headers.get('request-id'), stage.vendor.requests.at(-1)?.requestId)
    assert.ok(!text.includes(upstreamKey), prompt)
    assert.ok(reply.status !== 401 && reply.status !== 402, 'our account is not the customer’s')
  }
})

test('52 the upstream sees nothing of the customer but the request', async () => {
  const account = await stage.account(1_000_000)
  const body = JSON.stringify(ask('Hello'))
  const reply = await post({ url, key: account.key }, body, {
    authorization: `Bearer ${account.key}`,
    cookie: 'session=secret',
    'x-forwarded-for': '203.0.113.9',
    'anthropic-workspace-id': 'wrkspc_customer',
    'anthropic-user-profile-id': 'profile_customer',
    'x-claude-code-session-id': 'session-of-the-customer',
    'x-credit-clamp': 'off',
    'x-stand-in': 'never',
  })
  assert.equal(reply.status, 200)
  const upstream = stage.upstream()
  const names = upstream.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
  // `connection: keep-alive` is undici's, which carries requests through proxies.
  const ofRequest = names.filter((name) => name !== 'connection')
  assert.deepEqual(ofRequest.sort(), [
    'accept',
    'accept-encoding',
    'anthropic-version',
    'content-length',
    'content-type',
    'host',
    'user-agent',
    'x-api-key',
  ])
  const all = upstream.rawHeaders.join('\n') + upstream.body
  assert.ok(!all.includes(account.key) && !all.includes('customer') && !all.includes('secret'))
  assert.equal(usageOf(upstream).cache_read_input_tokens, 0)
  await stage.assertCharged(account)
})
