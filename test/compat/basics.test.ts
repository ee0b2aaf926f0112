// Plain requests of the real client libraries: the key in either header, the address as people
// write it, and bodies that arrive at the upstream exactly as the client wrote them.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { Anthropic as Sdk1x8 } from '@anthropic-ai/sdk'
import { generateText } from 'ai'
import { Anthropic as Sdk0x137 } from 'anthropic-sdk-0-137'
import { OpenAI } from 'openai'
import { ask, officials, sdk0x137, sdk1x8, textOf } from './clients.ts'
import { createStage, headerOf, jsonOf, thrownBy, usageOf } from './stage.ts'

const stage = await createStage()
after(() => stage.end())
beforeEach(() => stage.clear())

const { url } = stage

test('01 the newest official library gets its message, with our request id', async () => {
  const account = await stage.account(1_000_000)
  const reply = await sdk1x8({ url, key: account.key }).messages.create(
    ask('Hello [[reply: say "Good day"]]'),
  )
  assert.equal(textOf(reply), 'Good day')
  assert.equal(reply.stop_reason, 'end_turn')
  assert.match(reply._request_id ?? '', /^req_/)
  const upstream = stage.upstream()
  assert.notEqual(reply._request_id, upstream.requestId, 'the upstream has an id of its own')
  assert.equal(headerOf(upstream, 'anthropic-version'), '2026-10-21')
  assert.match(headerOf(upstream, 'user-agent') ?? '', /^Anthropic\/JS 1\.8\.0$/)
  assert.equal(stage.arrivals[0]?.headers.authorization, `Bearer ${account.key}`)
  assert.deepEqual(reply.usage, usageOf(upstream))
  await stage.assertCharged(account)
})

test('02 older majors of the official library are served by x-api-key', async () => {
  const account = await stage.account(1_000_000)
  const [, ...older] = officials({ url, key: account.key })
  for (const library of older) {
    const reply = await library.create(ask(`Hello from ${library.name} [[reply: text 7]]`))
    assert.equal(reply.usage.output_tokens, 7)
  }
  assert.deepEqual(
    stage.arrivals.map(({ headers }) => [headers['x-api-key'], headers.authorization]),
    [
      [account.key, undefined],
      [account.key, undefined],
    ],
  )
  const versions = stage.vendor.requests.map((one) => headerOf(one, 'anthropic-version'))
  assert.deepEqual(versions, ['2023-06-01', '2023-06-01'])
  await stage.assertCharged(account)
})

test('03 a key given to an older major as its bearer token is served', async () => {
  const account = await stage.account(1_000_000)
  const client = new Sdk0x137({ baseURL: url, apiKey: null, authToken: account.key })
  const reply = await client.messages.create(ask('Hello [[reply: say "by bearer"]]'))
  assert.equal(textOf(reply), 'by bearer')
  assert.equal(stage.arrivals[0]?.headers['x-api-key'], undefined)
  await stage.assertCharged(account)
})

test('04 of two different keys the one in our format counts, then x-api-key', async () => {
  const account = await stage.account(1_000_000)
  const foreign = 'sk-elsewhere-0123456789'
  const unknown = `${account.key.slice(0, -1)}${account.key.endsWith('A') ? 'B' : 'A'}`
  const call = (apiKey: string, authToken: string) =>
    new Sdk0x137({ baseURL: url, apiKey, authToken }).messages.create(ask('Hello'))
  await call(account.key, foreign)
  await call(foreign, account.key)
  await call(account.key, unknown)
  const refused = await thrownBy<InstanceType<typeof Sdk0x137.APIError>>(call(unknown, account.key))
  assert.equal(refused.status, 401)
  for (const { headers } of stage.arrivals) {
    assert.ok(headers['x-api-key'] !== undefined && headers.authorization !== undefined)
  }
  assert.equal(stage.vendor.requests.length, 3)
  await stage.assertCharged(account)
})

test('05 an empty x-api-key beside a good bearer is no key', async () => {
  const account = await stage.account(1_000_000)
  const reply = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': '',
      authorization: `bearer ${account.key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(ask('Hello')),
  })
  assert.equal(reply.status, 200)
  assert.equal(stage.arrivals[0]?.headers['x-api-key'], '')
  // The client named no version, so the gateway sends the one that every client knows.
  assert.equal(headerOf(stage.upstream(), 'anthropic-version'), '2023-06-01')
  await stage.assertCharged(account)
})

test('07 issued and imported keys are both accepted', async () => {
  const issued = await stage.account(1_000_000)
  assert.match(issued.key, /^sk-vendor-api03-/)
  await sdk1x8({ url, key: issued.key }).messages.create(ask('Hello'))
  await stage.assertCharged(issued)
  stage.clear()
  const book = await stage.ledger.createBook(stage.database.db)
  await stage.topUp(book, 1_000_000)
  const key = 'sk-vendor-03-Zm9yLXRlc3RzLW9ubHktMDEyMzQ1Njc4OWFiY2RlZg'
  const { keyId } = await stage.database.db.transaction((tx) => stage.keys.importKey(tx, book, key))
  await sdk1x8({ url, key }).messages.create(ask('Hello'))
  await stage.assertCharged({ book, key, keyId })
})

test('08 the base address works with and without /v1 and slashes', async () => {
  const account = await stage.account(1_000_000)
  const apiKey = account.key
  for (const baseURL of [url, `${url}/`, `${url}//`, `${url}/v1`, `${url}/v1/`]) {
    await new Sdk1x8({ baseURL, apiKey }).messages.create(ask('Hello'))
    const model = createAnthropic({ baseURL, apiKey })('claude-opus-4-6')
    await generateText({ model, prompt: 'Hello' })
    const listed = await new OpenAI({ baseURL, apiKey }).models.list()
    assert.ok(listed.data.length > 0, baseURL)
  }
  const paths = new Set(stage.arrivals.map((arrival) => arrival.url))
  for (const path of ['/messages', '/v1/messages', '/v1/v1/messages', '//v1/messages']) {
    assert.ok(paths.has(path), `${path} of ${[...paths]}`)
  }
  const seen = new Set(stage.vendor.requests.map((one) => one.url))
  assert.deepEqual([...seen], ['/v1/messages'])
  await stage.assertCharged(account)
})

test('09 ?beta=true and the list of betas reach the upstream', async () => {
  const account = await stage.account(1_000_000)
  await sdk0x137({ url, key: account.key }).beta.messages.create({
    ...ask('Hello'),
    betas: ['first-2026-01-01', 'second-2026-02-02'],
  })
  const upstream = stage.upstream()
  assert.equal(upstream.url, '/v1/messages?beta=true')
  assert.equal(headerOf(upstream, 'anthropic-beta'), 'first-2026-01-01,second-2026-02-02')
  await stage.assertCharged(account)
})

test('10 an unknown field and an unknown beta pass through untouched', async () => {
  const account = await stage.account(1_000_000)
  const extra = { ...ask('Hello'), future_option: { depth: [1, { two: null }] } }
  await sdk1x8({ url, key: account.key }).messages.create(extra, {
    headers: { 'anthropic-beta': 'never-heard-of-2031-01-01', 'anthropic-future': 'yes' },
  })
  const upstream = stage.upstream()
  assert.deepEqual(jsonOf(upstream).future_option, extra.future_option)
  assert.deepEqual(upstream.body, stage.arrivals[0]?.body())
  assert.equal(headerOf(upstream, 'anthropic-beta'), 'never-heard-of-2031-01-01')
  assert.equal(headerOf(upstream, 'anthropic-future'), 'yes')
  await stage.assertCharged(account)
})

test('11 every byte of a body arrives as the client wrote it', async () => {
  const account = await stage.account(1_000_000)
  const body = [
    '{ "model" :\t"claude-opus-4-6",\r\n "max_tokens": 1e2, "stop_sequences":null,',
    ' "future_integer": 9007199254740993, "future_float": 1.0, "future_zero": -0.0,',
    ' "messages" : [ {"role":"user" , "content":"caf\\u00e9 \\ud800 é 😀  two  spaces \\/"} ] ,',
    ' "metadata":{"user_id":"{\\"device\\":\\"x\\"}"}  }\n',
  ].join('')
  const reply = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json; charset=utf-8' },
    body,
  })
  assert.equal(reply.status, 200, await reply.text())
  assert.equal(String(stage.upstream().body), body)
  await stage.assertCharged(account)
})
