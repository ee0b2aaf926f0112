// Server tools through the real client library: with a small balance the number of searches is
// lowered in the body, the turn finishes, and each search that was made is charged.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { creditsText, micro } from '../../src/units/credits.ts'
import { sdk1x8 } from './clients.ts'
import { createStage, jsonOf, usageOf } from './stage.ts'

const MODEL = 'claude-sonnet-4-6'
const PER_SEARCH = 10_000
const catalogueText = `
models:
  - id: ${MODEL}
    displayName: ${MODEL}
    createdAt: 2026-01-15
    contextWindow: 200000
    outputCeiling: 64000
    coefficient: 5
    weights: { cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 }
    features:
      web_search: { iterationsMax: 10, perUse: ${PER_SEARCH}, usesMax: 8, contentMax: 10000 }
      web_fetch: { iterationsMax: 10, usesMax: 4, contentMax: 20000 }
packs: []
`
const stage = await createStage({ catalogueText })
after(() => stage.end())
beforeEach(() => stage.clear())

const search = { type: 'web_search_20250305', name: 'web_search' } as const
const FIVE = Array.from({ length: 5 }, () => 'server_tool').join(' ')

function ask(more: object) {
  const content = `What colour is the sea? [[reply: ${FIVE}]]`
  const messages = [{ role: 'user' as const, content }]
  return { model: MODEL, max_tokens: 16_000, messages, tools: [search], ...more }
}

/** What the stand-in's usage costs: tokens, and 10,000 credits for each search. */
function costOf(usage: ReturnType<typeof usageOf>): bigint {
  const searches = usage.server_tool_use?.web_search_requests ?? 0
  const whole = usage.input_tokens + usage.output_tokens * 5 + searches * PER_SEARCH
  return BigInt(whole) * 1_000_000n
}

async function charged(account: Parameters<typeof stage.entries>[0]): Promise<bigint[]> {
  return (await stage.entries(account, 'charge')).map(({ amount }) => -amount)
}

for (const isStream of [false, true]) {
  const kind = isStream ? 'streamed' : 'plain'

  test(`a small balance lowers max_uses; the ${kind} turn ends; searches are charged`, async () => {
    const account = await stage.account(180_000)
    const client = sdk1x8({ url: stage.url, key: account.key })
    const asked = ask({ tools: [{ ...search, max_uses: 5 }] })
    const { data, response } = isStream
      ? await client.messages.create({ ...asked, stream: true }).withResponse()
      : await client.messages.create({ ...asked, stream: false }).withResponse()
    let stopReason: unknown
    if (Symbol.asyncIterator in data) {
      for await (const event of data) {
        if (event.type === 'message_delta') stopReason = event.delta.stop_reason
      }
    } else stopReason = data.stop_reason
    assert.equal(stopReason, 'end_turn')
    const lowered = Number(
      /^web_search=(\d)$/.exec(response.headers.get('x-credit-max-uses') ?? '')?.[1],
    )
    assert.ok(lowered >= 1 && lowered < 5, `lowered to ${lowered}`)
    const upstream = stage.upstream()
    const [tool] = jsonOf(upstream).tools as { max_uses: number }[]
    assert.equal(tool?.max_uses, lowered)
    const usage = usageOf(upstream)
    assert.equal(usage.server_tool_use?.web_search_requests, lowered)
    assert.deepEqual(await charged(account), [costOf(usage)])
    const left = await stage.ledger.balance(account.book)
    assert.equal(
      left?.available,
      180_000_000_000n - costOf(usage),
      creditsText(micro(costOf(usage))),
    )
  })
}

test('a rich balance keeps the client’s limit, or inserts that of the catalogue', async () => {
  const account = await stage.account(10_000_000)
  const client = sdk1x8({ url: stage.url, key: account.key })
  const given = await client.messages
    .create(ask({ tools: [{ ...search, max_uses: 5 }] }))
    .withResponse()
  assert.equal(given.response.headers.get('x-credit-max-uses'), null)
  assert.deepEqual(jsonOf(stage.upstream()).tools, [{ ...search, max_uses: 5 }])
  stage.clear()
  const absent = await client.messages.create(ask({})).withResponse()
  assert.equal(absent.response.headers.get('x-credit-max-uses'), 'web_search=8')
  assert.deepEqual(jsonOf(stage.upstream()).tools, [{ ...search, max_uses: 8 }])
  stage.clear()
  const fetch = { type: 'web_fetch_20250910', name: 'web_fetch' }
  const fetched = await client.messages.create(ask({ tools: [fetch] })).withResponse()
  assert.equal(fetched.response.headers.get('x-credit-max-content-tokens'), 'web_fetch=20000')
  const limits = { max_uses: 4, max_content_tokens: 20_000 }
  assert.deepEqual(jsonOf(stage.upstream()).tools, [{ ...fetch, ...limits }])
  await stage.settled(account.book)
})

test('with x-credit-clamp: off nothing is lowered: all of it, or a 402', async () => {
  const account = await stage.account(180_000)
  const client = sdk1x8({ url: stage.url, key: account.key })
  const headers = { 'x-credit-clamp': 'off' }
  const asked = ask({ tools: [{ ...search, max_uses: 5 }] })
  await assert.rejects(client.messages.create(asked, { headers }), { status: 402 })
  assert.equal(stage.vendor.requests.length, 0)
  const rich = await stage.account(10_000_000)
  const served = sdk1x8({ url: stage.url, key: rich.key })
  const { response } = await served.messages.create(asked, { headers }).withResponse()
  assert.equal(response.headers.get('x-credit-max-uses'), null)
  assert.deepEqual(jsonOf(stage.upstream()).tools, asked.tools)
})

test('a tool that the catalogue does not price is refused before anything is sent', async () => {
  const account = await stage.account(10_000_000)
  const client = sdk1x8({ url: stage.url, key: account.key })
  const tools = [{ type: 'code_execution_20250825', name: 'code_execution' } as const]
  await assert.rejects(client.messages.create(ask({ tools })), { status: 400 })
  assert.equal(stage.vendor.requests.length, 0)
})
