// A coding agent's session without the agent: its warm-up, its list of models, two turns with a
// tool, its token count, byte for byte and with the key in either header.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { agentBody, agentHeaders, BETAS, firstTurns, replyOf, type Turn } from './agent-traffic.ts'
import { createStage, headerOf, usageOf } from './stage.ts'

const stage = await createStage()
after(() => stage.end())
beforeEach(() => stage.clear())

const { url } = stage
const keyForms: [string, (key: string) => Record<string, string>][] = [
  ['x-api-key', (key) => ({ 'x-api-key': key })],
  ['Authorization', (key) => ({ authorization: `Bearer ${key}` })],
]
const useRead = 'Read it. [[reply: thinking 30 tool Read {"file_path":"/tmp/ü.txt"}]]'

function send(body: string, headers: Record<string, string>, path = '/v1/messages') {
  return fetch(`${url}${path}?beta=true`, {
    method: 'POST',
    headers: { ...agentHeaders, ...headers },
    body,
  })
}

test('an agent warms its connection up and finds the models before its first turn', async () => {
  const account = await stage.account(1)
  const hello = await fetch(`${url}/api/hello`, { method: 'HEAD', redirect: 'error' })
  assert.equal(hello.status, 200)
  const listed = await fetch(`${url}/v1/models?limit=1000`, {
    redirect: 'error',
    headers: { 'x-api-key': account.key, authorization: `Bearer ${account.key}` },
  })
  const { data } = (await listed.json()) as { data: { id: string; display_name: string }[] }
  assert.ok(data.some(({ id, display_name }) => id === 'claude-opus-5' && display_name !== ''))
  assert.equal(stage.vendor.requests.length, 0, 'the catalogue answers, not the upstream')
})

for (const [form, keyIn] of keyForms) {
  test(`an agent with its key in ${form} works through two turns, byte for byte`, async () => {
    const account = await stage.account(35_000_000)
    const turns: Turn[] = firstTurns(`${form}: ${useRead}`)
    const first = agentBody(turns)
    assert.ok(Buffer.byteLength(first) > 46_000)
    const reply = await send(first, keyIn(account.key))
    assert.equal(reply.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(reply.headers.get('x-credit-max-tokens'), null, 'max_tokens stays as asked')
    const { content, stopReason } = replyOf(await reply.text())
    assert.equal(stopReason, 'tool_use')
    assert.deepEqual(content.at(-1)?.input, { file_path: '/tmp/ü.txt' })

    const result = { type: 'tool_result', tool_use_id: content.at(-1)?.id, content: 'a note' }
    turns.push({ role: 'assistant', content }, { role: 'user', content: [result] })
    const second = agentBody(turns)
    const answer = replyOf(await (await send(second, keyIn(account.key))).text())
    assert.deepEqual([answer.stopReason, answer.end], ['end_turn', 'message_stop'])

    const upstream = stage.vendor.requests
    assert.deepEqual(
      upstream.map(({ body }) => String(body)),
      [first, second],
    )
    for (const request of upstream) {
      assert.equal(request.url, '/v1/messages?beta=true')
      assert.equal(headerOf(request, 'anthropic-beta'), BETAS)
      assert.equal(headerOf(request, 'user-agent'), agentHeaders['user-agent'])
      assert.equal(headerOf(request, 'x-app'), 'cli')
    }
    const [read = 0, readAgain = 0] = upstream.map((one) => usageOf(one).cache_read_input_tokens)
    assert.ok(readAgain > read && readAgain > 5_000, 'the second turn reads the cache')
    await stage.assertCharged(account)
  })
}

test('an agent that repeats a turn without a stream gets the same reply', async () => {
  const account = await stage.account(35_000_000)
  const key = { 'x-api-key': account.key }
  const turns = firstTurns(useRead)
  const streamed = replyOf(await (await send(agentBody(turns), key)).text())
  const reply = await send(agentBody(turns, { stream: false }), key)
  const { content } = (await reply.json()) as { content: Record<string, unknown>[] }
  const withoutId = (block: Record<string, unknown>) => ({ ...block, id: undefined })
  assert.deepEqual(content.map(withoutId), streamed.content.map(withoutId))
  await stage.assertCharged(account)
})

test('an agent’s token count is answered and free', async () => {
  const account = await stage.account(1)
  const body = agentBody(firstTurns('How much?'), { max_tokens: undefined, stream: undefined })
  const key = { authorization: `Bearer ${account.key}` }
  const reply = await send(body, key, '/v1/messages/count_tokens')
  const { input_tokens } = (await reply.json()) as { input_tokens: number }
  assert.ok(input_tokens > 5_000)
  assert.equal(String(stage.upstream().body), body)
  assert.deepEqual((await stage.statement(account.book)).length, 1, 'only the purchase')
})

test('an agent that asks for 128,000 tokens is served by a small balance', async () => {
  const account = await stage.account(300_000)
  const body = agentBody(firstTurns('[[reply: text 9]]'))
  const reply = await send(body, { 'x-api-key': account.key })
  assert.equal(replyOf(await reply.text()).end, 'message_stop')
  const lowered = Number(reply.headers.get('x-credit-max-tokens'))
  assert.ok(lowered >= 4_096 && lowered < 128_000, `${lowered}`)
  const expected = body.replace('"max_tokens":128000', `"max_tokens":${lowered}`)
  assert.equal(String(stage.upstream().body), expected)
  await stage.assertCharged(account)
  const exact = await send(body, { 'x-api-key': account.key, 'x-credit-clamp': 'off' })
  assert.equal(exact.status, 402)
})
