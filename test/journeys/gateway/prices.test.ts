// Prices through the real gateway: what a request may ask for, what is held for it, and what its
// reply costs, for every dimension that changes the vendor's bill.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { recompute } from '../../../src/units/charge.ts'
import { tableCatalogue } from '../../prices/catalogue.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { plainCharge, plainModels } from '../../support/plain-prices.ts'
import { type Caller, createCaller } from './caller.ts'
import { question, type RequestOptions, refusalOf } from './client.ts'
import { text } from './expected-charges.ts'

// The stand-in knows these names; the prices are those of the tables.
const catalogueText = tableCatalogue
  .replaceAll('id: plain\n', 'id: plain\n    upstreamNames: model-small\n')
  .replaceAll('id: dear\n', 'id: dear\n    upstreamNames: model-large\n')
  .replaceAll('id: zero\n', 'id: zero\n    upstreamNames: model-large\n')
const plain = plainModels(catalogueText)

let gateway: TestGateway
let caller: Caller
before(async () => {
  gateway = await createTestGateway({ catalogueText })
})
beforeEach(async () => {
  caller = await createCaller(gateway, 500_000_000)
})
after(async () => {
  await gateway.end()
})

/** A reply of 7 tokens whose usage has further members. */
const reporting = (members: object) =>
  `[[reply: text 7]] [[fault: usage-members=${JSON.stringify(members)}]]`

async function refusedWith(options: RequestOptions): Promise<string> {
  const answer = await caller.ask(options)
  assert.equal(answer.status, 400)
  assert.deepEqual(caller.received(), [])
  assert.deepEqual(await caller.entries(), [])
  return refusalOf(answer).error.message
}

async function chargeOf(options: RequestOptions): Promise<string> {
  const answer = await caller.ask(options)
  assert.equal(answer.status, 200, answer.bytes.toString())
  const [entry] = await caller.entries()
  assert.ok(entry !== undefined)
  assert.equal(entry.writtenOff, 0n)
  assert.equal(recompute(entry), -entry.amount)
  return text(-entry.amount)
}

function expected(model: string, values: Record<string, string>, more = {}): string {
  const { input_tokens: input = 0, output_tokens: output = 0 } = caller.last().usage ?? {}
  const counts = [input, output, 0, 0, 0] as const
  return text(plainCharge(plain, model, { counts, values, uses: {}, hidden: [], ...more }))
}

for (const stream of [false, true]) {
  const kind = stream ? 'stream' : 'plain reply'

  test(`charges a ${kind} by the input weight of its model`, async () => {
    const charged = await chargeOf({
      body: question('[[reply: text 7]]', { model: 'dear', stream }),
    })
    assert.equal(charged, expected('dear', {}))
  })

  test(`charges a ${kind} by the speed and geography that it reports`, async () => {
    const asked = { model: 'dear', stream, speed: 'fast', inference_geo: 'us' }
    const values = { speed: 'fast', inference_geo: 'us', service_tier: 'priority' }
    assert.equal(
      await chargeOf({ body: question(reporting(values), asked) }),
      expected('dear', values),
    )
  })

  test(`charges a ${kind} at standard speed when that was served`, async () => {
    const values = { speed: 'standard', inference_geo: 'not_available', service_tier: 'standard' }
    const body = question(reporting(values), { model: 'dear', stream, speed: 'fast' })
    assert.equal(await chargeOf({ body }), expected('dear', values))
  })

  test(`charges the tool uses and hidden passes of a ${kind}`, async () => {
    const pass = { input_tokens: 500, output_tokens: 50 }
    const members = {
      server_tool_use: { web_search_requests: 2 },
      iterations: [{ type: 'advisor_message', model: 'vendor-cheap', ...pass }],
    }
    const tools = [
      { type: 'web_search_20260318', name: 'web_search' },
      { type: 'advisor_20260301' },
    ]
    const body = question(reporting(members), { model: 'dear', stream, tools })
    assert.equal(
      await chargeOf({ body }),
      expected(
        'dear',
        {},
        {
          uses: { web_search: 2 },
          hidden: [{ model: 'cheap', counts: [500, 50, 0, 0, 0] }],
        },
      ),
    )
  })
}

test('charges by the price of the model that answered instead', async () => {
  const members = {
    iterations: [
      { type: 'message', input_tokens: 9, output_tokens: 1 },
      { type: 'fallback_message', model: 'vendor-cheap', input_tokens: 9, output_tokens: 7 },
    ],
  }
  const body = question(reporting(members), { model: 'dear', fallbacks: [{ model: 'cheap' }] })
  assert.equal(await chargeOf({ body }), expected('cheap', {}))
})

test('charges the larger of a reply and its passes when they differ', async () => {
  const members = { iterations: [{ type: 'message', input_tokens: 4_000, output_tokens: 7 }] }
  const tools = [{ type: 'web_fetch_20250910', name: 'web_fetch' }]
  const body = question(reporting(members), { model: 'dear', tools })
  assert.equal(await chargeOf({ body }), text(BigInt(4_000 * 10 + 7 * 50) * 1_000_000n))
  assert.equal((await gateway.metric('gateway_unlisted_usage_total')) > 0, true)
})

test('charges an unlisted value at the dearest listed one, and counts it', async () => {
  const before = await gateway.metric('gateway_unlisted_usage_total')
  const body = question(reporting({ speed: 'warp', dream_tokens: 5 }), {
    model: 'dear',
    speed: 'fast',
  })
  assert.equal(await chargeOf({ body }), expected('dear', { speed: 'fast' }))
  assert.equal(await gateway.metric('gateway_unlisted_usage_total'), before + 2)
})

test('never charges more than the hold: the excess is written off and counted', async () => {
  const before = await gateway.metric('gateway_usage_beyond_hold_total')
  const body = question('[[reply: text 7]] [[fault: usage-input=999999]]', { model: 'plain' })
  const answer = await caller.ask({ body })
  assert.equal(answer.status, 200)
  const [entry] = await caller.entries()
  assert.ok((entry?.writtenOff ?? 0n) > 0n)
  assert.equal(await gateway.metric('gateway_usage_beyond_hold_total'), before + 1)
})

const unpriced: readonly [field: string, options: RequestOptions][] = [
  ['speed', { body: question('Hello', { model: 'plain', speed: 'fast' }) }],
  ['speed', { body: question('Hello', { model: 'dear', speed: 'warp' }) }],
  ['inference_geo', { body: question('Hello', { model: 'plain', inference_geo: 'us' }) }],
  [
    'web_search',
    { body: question('Hello', { model: 'plain', tools: [{ type: 'web_search_20260318' }] }) },
  ],
  ['mcp', { body: question('Hello', { model: 'dear', mcp_servers: [{ type: 'url' }] }) }],
  ['fallbacks', { body: question('Hello', { model: 'dear', fallbacks: [{ model: 'grand' }] }) }],
  [
    'advisor_1',
    {
      body: question('Hello', { model: 'dear', tools: [{ type: 'advisor_1', model: 'grand' }] }),
    },
  ],
  [
    'fallbacks',
    {
      body: question('Hello', { model: 'dear', fallbacks: [{ model: 'cheap', speed: 'fast' }] }),
    },
  ],
  [
    'context-1m-2025-08-07',
    {
      body: question('Hello', { model: 'plain' }),
      headers: { 'anthropic-beta': 'other-2025-01-01, context-1m-2025-08-07' },
    },
  ],
]
for (const [index, [field, options]] of unpriced.entries()) {
  test(`refuses what has no price before it goes upstream: ${field} (${index})`, async () => {
    const sentence = await refusedWith(options)
    assert.ok(sentence.includes(field), sentence)
    assert.match(sentence, /Input tag|capability_rejected: /)
  })
}

test('passes values that change no bill, and a beta within the window', async () => {
  const ordinary = { speed: 'standard', inference_geo: 'global', service_tier: 'auto' }
  for (const fields of [ordinary, { speed: null, inference_geo: null, service_tier: null }]) {
    const answer = await caller.ask({ body: question('Hello', { model: 'plain', ...fields }) })
    assert.equal(answer.status, 200)
  }
  const headers = { 'anthropic-beta': 'context-1m-2025-08-07' }
  const answer = await caller.ask({ body: question('Hello', { model: 'dear' }), headers })
  assert.equal(answer.status, 200)
})

test('lowers max_tokens to the output ceiling of the model, and says so', async () => {
  const answer = await caller.ask({
    body: question('Hello', { model: 'zero', max_tokens: 90_000 }),
  })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['x-credit-max-tokens'], '64000')
  assert.equal(
    (JSON.parse(String(caller.last().body)) as { max_tokens: number }).max_tokens,
    64_000,
  )
})

test('holds the whole max_tokens above the ceiling if it must not be lowered', async () => {
  const answer = await caller.ask({
    body: question('[[reply: text 7]] [[fault: usage-output=120000]]', {
      model: 'zero',
      max_tokens: 120_000,
    }),
    headers: { 'x-credit-clamp': 'off' },
  })
  assert.equal(answer.status, 200, answer.bytes.toString())
  const [entry] = await caller.entries()
  assert.equal(entry?.writtenOff, 0n)
})
