// Everything beside a plain message: counting, models, tool runners, limits, and the small paths
// that agents and people try. Where we have a rule of our own, the row says what it is.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { Anthropic } from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { APICallError, generateText } from 'ai'
import { aiSdk, ask, openAi, post, sdk0x137, sdk1x8, textOf } from './clients.ts'
import { modelIds } from './prices.ts'
import { createStage, headerOf, jsonOf, thrownBy, usageOf } from './stage.ts'

const stage = await createStage()
after(() => stage.end())
beforeEach(() => stage.clear())

const { url } = stage
type Failure = InstanceType<typeof Anthropic.APIError>

test('36 counting tokens answers the upstream’s number and costs nothing', async () => {
  const account = await stage.account(1)
  const { max_tokens: _, ...question } = ask('How many tokens is this?')
  const newest = await sdk1x8({ url, key: account.key }).messages.countTokens(question)
  const direct = await sdk1x8({
    url: stage.vendor.url,
    key: stage.vendor.keys[0] as string,
  }).messages.countTokens(question)
  assert.ok(newest.input_tokens > 0)
  assert.equal(newest.input_tokens, direct.input_tokens)
  const older = sdk0x137({ url, key: account.key }).beta.messages
  const counted = await older.countTokens({ ...question, betas: ['token-counting-2024-11-01'] })
  assert.equal(counted.input_tokens, direct.input_tokens)
  const last = stage.vendor.requests.at(-1) ?? assert.fail()
  assert.equal(last.url, '/v1/messages/count_tokens?beta=true')
  assert.match(headerOf(last, 'anthropic-beta') ?? '', /token-counting-2024-11-01/)
  const kinds = (await stage.statement(account.book)).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['purchase'])
})

test('37 models are listed page by page, each once, and found by their ids', async () => {
  const { key } = await stage.account(1)
  const { models } = sdk1x8({ url, key })
  const ids: string[] = []
  for await (const model of models.list({ limit: 1 })) {
    assert.equal(model.type, 'model')
    assert.ok(!Number.isNaN(Date.parse(model.created_at)))
    ids.push(model.id)
  }
  assert.deepEqual([...ids].sort(), [...modelIds].sort())
  assert.ok(stage.arrivals.length >= modelIds.length, 'a page each')
  const one = await models.retrieve('claude-sonnet-4-6')
  assert.equal(one.max_tokens, 128_000)
  const error = await thrownBy<Failure>(models.retrieve('model-of-2040'))
  assert.ok(error instanceof Anthropic.NotFoundError)
  assert.equal(error.type, 'not_found_error')
})

test('38 the OpenAI library lists the models', async () => {
  const { key } = await stage.account(1)
  const { models } = openAi({ url, key })
  const listed: string[] = []
  for await (const model of models.list()) {
    assert.equal(model.object, 'model')
    assert.ok(Number.isInteger(model.created))
    listed.push(model.id)
  }
  assert.deepEqual([...listed].sort(), [...modelIds].sort())
  assert.equal((await models.retrieve('claude-sonnet-4-6')).id, 'claude-sonnet-4-6')
})

const weather = () => {
  const calls: unknown[] = []
  const tool = betaTool({
    name: 'get_weather',
    description: 'The weather in a city.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run: (input) => {
      calls.push(input)
      return 'sunny'
    },
  })
  return { calls, tool }
}

for (const [row, more] of [
  ['39 the tool runner finishes although it begins with a thread', {}],
  ['40 the tool runner without threads sends its whole history each turn', { thread: false }],
] as const) {
  test(row, async () => {
    const account = await stage.account(1_000_000)
    const { calls, tool } = weather()
    const final = await sdk1x8({ url, key: account.key }).beta.messages.toolRunner({
      ...ask('Use the tool get_weather for Oslo.'),
      tools: [tool],
      ...more,
    })
    assert.equal(final.stop_reason, 'end_turn')
    assert.equal(calls.length, 1)
    const bodies = stage.vendor.requests.map(jsonOf)
    assert.deepEqual(
      bodies.map(({ messages }) => (messages as unknown[]).length),
      [1, 3],
    )
    assert.ok(bodies.every(({ thread, tools }) => thread === undefined && tools !== undefined))
    const threads = stage.arrivals.filter((arrival) => String(arrival.body()).includes('"thread"'))
    assert.equal(threads.length > 0, row.startsWith('39'))
    await stage.assertCharged(account)
  })
}

test('41 a temperature up to 2 is taken, and lowered or removed for the upstream', async () => {
  const account = await stage.account(1_000_000)
  const target = { url, key: account.key }
  for (const temperature of [1.5, 2]) {
    stage.clear()
    await sdk0x137(target).messages.create({ ...ask('Hello'), temperature })
    const sent = String(stage.arrivals[0]?.body())
    const clamped = sent.replace(`"temperature":${temperature}`, '"temperature":1')
    assert.notEqual(sent, clamped)
    assert.equal(String(stage.upstream().body), clamped, 'nothing else is changed')
  }
  stage.clear()
  const body = JSON.stringify({ ...ask('Hello'), temperature: 1.5 })
  const old = await post(target, body, { 'anthropic-version': '2023-06-01' })
  assert.equal(old.status, 200)
  assert.equal(old.headers.has('x-credit-temperature'), false)
  // The newer version has no such field, so it is taken out of the body.
  const newer = await post(target, body, { 'anthropic-version': '2026-10-21' })
  assert.equal(newer.status, 200)
  assert.equal(newer.headers.get('x-credit-temperature'), 'removed')
  const without = JSON.stringify(ask('Hello'))
  assert.equal(String(stage.vendor.requests.at(-1)?.body), without)
  const above = await post(target, body.replace('1.5', '2.1'))
  assert.equal(above.status, 400)
  assert.match(await above.text(), /temperature: range: 0\.\.2/)
  assert.equal(stage.vendor.requests.length, 2)
})

test('42 four stop sequences are taken, five are refused once', async () => {
  const account = await stage.account(1_000_000)
  const model = aiSdk({ url, key: account.key })('claude-opus-4-6')
  const prompt = '[[reply: say "one STOP two"]]'
  const stopSequences = ['aaa', 'bbb', 'ccc', 'STOP']
  const { text } = await generateText({ model, prompt, stopSequences })
  assert.equal(text, 'one ')
  await stage.assertCharged(account)
  stage.clear()
  const error = await thrownBy<APICallError>(
    generateText({ model, prompt, stopSequences: [...stopSequences, 'ddd'] }),
  )
  assert.ok(APICallError.isInstance(error))
  assert.equal(error.statusCode, 400)
  assert.match(error.message, /stop_sequences/)
  assert.equal(stage.arrivals.length, 1)
  assert.equal(stage.vendor.requests.length, 0)
})

test('43 max_tokens 0 is taken and costs its input only', async () => {
  const account = await stage.account(1_000_000)
  const reply = await sdk1x8({ url, key: account.key }).messages.create(
    ask('Warm the cache', 'claude-opus-4-6', 0),
  )
  assert.deepEqual(reply.content, [])
  assert.equal(usageOf(stage.upstream()).output_tokens, 0)
  assert.equal(jsonOf(stage.upstream()).max_tokens, 0)
  await stage.assertCharged(account)
})

test('44 a system message inside a conversation is forwarded', async () => {
  const account = await stage.account(1_000_000)
  const reply = await sdk1x8({ url, key: account.key }).messages.create({
    ...ask('Hello'),
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'system', content: 'From now on be brief.' },
    ],
  })
  assert.ok(textOf(reply).length > 0)
  assert.deepEqual(stage.upstream().body, stage.arrivals[0]?.body())
  await stage.assertCharged(account)
})

test('48 warm-up, unknown paths and wrong methods are answered in shape', async () => {
  const hello = await fetch(`${url}/api/hello`, { method: 'HEAD' })
  assert.equal(hello.status, 200)
  assert.equal(await hello.text(), '')
  const { key } = await stage.account(1)
  for (const [method, path, status] of [
    ['GET', '/v1/nothing', 404],
    ['POST', '/v1/messages/batches', 404],
    ['POST', '/v1/complete', 404],
    ['GET', '/v1/files', 404],
    ['GET', '/v1/messages', 405],
    ['DELETE', '/v1/models', 405],
    ['GET', '/', 404],
  ] as const) {
    const reply = await fetch(url + path, { method, headers: { 'x-api-key': key } })
    const body = (await reply.json()) as { type: string; error: { type: string } }
    assert.equal(reply.status, status, `${method} ${path}`)
    assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
    assert.match(reply.headers.get('request-id') ?? '', /^req_/)
    assert.equal(body.type, 'error')
    assert.equal(reply.headers.has('allow'), status === 405)
  }
})

test('50 only the key of an account can read it, in either header', async () => {
  const { key } = await stage.account(1_234)
  const forms: Record<string, string>[] = [{ 'x-api-key': key }, { authorization: `Bearer ${key}` }]
  for (const headers of forms) {
    const reply = await fetch(`${url}/v1/me`, { headers })
    assert.equal(reply.status, 200)
    const me = (await reply.json()) as { type: string; balance: { available: number } }
    assert.deepEqual([me.type, me.balance.available], ['account', 1_234])
  }
  const refused = await fetch(`${url}/v1/me`)
  assert.equal(refused.status, 401)
  const body = (await refused.json()) as { error: { type: string }; request_id: string }
  assert.equal(body.error.type, 'authentication_error')
  assert.equal(body.request_id, refused.headers.get('request-id'))
})
