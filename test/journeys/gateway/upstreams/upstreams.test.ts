// Several upstreams behind one gateway: which one answers when some are sick, that a request is
// held and charged once whichever answers, and that neither side learns about the other.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type Dispatcher, request } from 'undici'
import { systemClock } from '../../../../src/platform/clock.ts'
import type { Vendor } from '../../../../stand-ins/vendor/vendor.ts'
import { type Account, createTestGateway, type TestGateway } from '../../../stages/gateway.ts'

const at = {
  otherAccount: undefined as unknown as Account,
  gateway: undefined as unknown as TestGateway,
  account: undefined as unknown as Account,
  /** How far the clock of the upstreams' state is ahead. */
  aheadMs: 0,
}
/** A credential that was refused is tried again after a minute. */
const upstreamClock = {
  nowMs: systemClock.nowMs,
  spanMs: () => systemClock.spanMs() + at.aheadMs,
}
const UPSTREAMS = [
  { name: 'first-choice', priority: 1, temperatureMax: 2, keys: ['upstream-key-of-the-first'] },
  { name: 'second-choice', priority: 2, keys: ['upstream-key-of-the-second'] },
]

before(async () => {
  at.gateway = await createTestGateway({
    upstreams: UPSTREAMS,
    // Longer than a busy machine delays an answer; few tests wait for it.
    headersTimeoutMs: 3_000,
    upstreamClock,
    catalogueText: await catalogue(),
  })
  at.otherAccount = await at.gateway.account(10n ** 9n)
})
after(() => at.gateway.end())

/** Each test has its own account, well-behaved stand-ins and no sick target. */
beforeEach(async () => {
  at.account = await at.gateway.account(10n ** 9n)
  await clearFailures()
  for (const vendor of at.gateway.vendors) vendor.clear()
})

async function catalogue(): Promise<string> {
  const text = await readFile(
    join(import.meta.dirname, '../../../../catalogue.example.yaml'),
    'utf8',
  )
  const names = 'upstreamNames: { first-choice: model-medium, second-choice: model-large }'
  return text.replace('upstreamNames: model-large', names)
}

function stand(place: 0 | 1): Vendor {
  return at.gateway.vendors[place] as Vendor
}

/** Each upstream answers a request of another account, which clears earlier failures. */
async function clearFailures(): Promise<void> {
  for (const vendor of at.gateway.vendors) vendor.mode()
  // After a 408 the gateway tries the next upstream without counting a failure.
  stand(0).mode({ fault: 'status=408', times: 1 })
  const deadline = performance.now() + 5_000
  do {
    at.aheadMs += 60_000
    stand(0).clear()
    for (let i = 0; i < 2; i++) assert.equal((await ask({ key: at.otherAccount.key })).status, 200)
  } while (stand(0).requests.length < 2 && performance.now() < deadline)
}

type Asked = {
  readonly text?: string
  readonly stream?: boolean
  readonly body?: object
  readonly key?: string
  readonly signal?: AbortSignal
}

function post(
  { text = 'hello', stream = false, body = {}, key = at.account.key, signal }: Asked,
  path = '/v1/messages',
) {
  return request(at.gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    ...(signal && { signal }),
    body: JSON.stringify({
      model: 'model-large',
      max_tokens: 100,
      ...(stream && { stream }),
      messages: [{ role: 'user', content: text }],
      ...body,
    }),
  })
}

async function ask(asked: Asked, path?: string) {
  const reply: Dispatcher.ResponseData = await post(asked, path)
  return { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() }
}

const counts = () => at.gateway.vendors.map((vendor) => vendor.requests.length)

/** The account's ledger entries after its pack: `charge complete`, `void refused` … */
async function endings(): Promise<string[]> {
  const entries = await at.gateway.statement(at.account.book)
  return entries.slice(1).map(({ kind, ending }) => `${kind} ${ending}`)
}

async function holds(): Promise<number> {
  const { rows } = await at.gateway.database.db.query(
    'select count(*)::int4 as n from holds where book_id = $1',
    [at.account.book],
  )
  return (rows[0] as { n: number }).n
}

describe('before the first byte', () => {
  const passing = [
    ...[408, 409, 429, 500, 502, 503, 504, 529].map((status) => `status=${status}`),
    ...[401, 402, 403].map((status) => `status=${status}`),
  ]
  for (const fault of passing) {
    for (const stream of [false, true]) {
      const kind = stream ? 'stream' : 'plain reply'
      test(`${fault}: the next upstream answers, a ${kind} is held and charged once`, async () => {
        stand(0).mode({ fault })
        const { status, text } = await ask({ stream, text: '[[reply: say "from the second"]]' })
        assert.equal(status, 200)
        assert.match(text, stream ? /message_stop/ : /from the second/)
        assert.deepEqual(counts(), [1, 1])
        assert.deepEqual(await endings(), ['charge complete'])
        assert.equal(await holds(), 1)
      })
    }
  }

  const lost = [
    ['drop', 502, 'api_error'],
    ['headers-ms=forever', 504, 'timeout_error'],
    // A proxy in front of the upstream lost its reply: the body is not the vendor's.
    ['html status=502', 502, 'api_error'],
    ['html status=504', 504, 'timeout_error'],
    ['empty status=520', 502, 'api_error'],
    ['html status=524', 504, 'timeout_error'],
  ] as const
  for (const [fault, wanted, type] of lost) {
    test(`${fault}: perhaps accepted, so that no other upstream generates it again`, async () => {
      stand(0).mode({ fault })
      const { status, text } = await ask({})
      assert.deepEqual([status, JSON.parse(text).error.type], [wanted, type])
      assert.deepEqual(counts(), [1, 0])
      assert.deepEqual(await endings(), ['void upstream_failed'])
    })

    test(`${fault}: tokens are counted by another upstream, which generates nothing`, async () => {
      stand(0).mode({ fault })
      const { status } = await ask({ body: { max_tokens: undefined } }, '/v1/messages/count_tokens')
      assert.equal(status, 200)
      assert.deepEqual(counts(), [1, 1])
    })
  }

  test('an answer that every upstream would give is passed on without a retry', async () => {
    for (const fault of [
      'status=400',
      'status=404',
      'status=413',
      'status=529 should-retry=false',
    ]) {
      stand(0).mode({ fault })
      const { status } = await ask({})
      assert.equal(`status=${status}`, fault.split(' ')[0])
    }
    assert.deepEqual(counts(), [4, 0])
    assert.ok((await endings()).every((one) => one === 'void refused'))
  })

  test('a token count fails over as well, and is free', async () => {
    stand(0).mode({ fault: 'status=529' })
    const body = { max_tokens: undefined }
    const { status, text } = await ask({ body }, '/v1/messages/count_tokens')
    assert.equal(status, 200, text)
    assert.match(text, /input_tokens/)
    assert.deepEqual(counts(), [1, 1])
    assert.equal(await holds(), 0)
  })

  test('when all fail, the client gets the last error, and nothing is charged', async () => {
    stand(0).mode({ fault: 'status=500 message="the first is broken"' })
    stand(1).mode({ fault: 'status=529 message="the second is busy"' })
    const { status, headers, text } = await ask({})
    assert.equal(status, 529)
    const { error } = JSON.parse(text)
    assert.deepEqual(error, { type: 'overloaded_error', message: 'the second is busy' })
    assert.match(String(headers['request-id']), /^req_[0-9a-f]{32}$/)
    assert.deepEqual(await endings(), ['void refused'])
    assert.equal(await holds(), 1)
  })

  test('when none can be reached or takes our credential, it is a 502 of ours', async () => {
    stand(0).mode({ fault: 'status=500' })
    stand(1).mode({ fault: 'drop' })
    const unreachable = await ask({})
    assert.deepEqual(
      [unreachable.status, JSON.parse(unreachable.text).error.type],
      [502, 'api_error'],
    )
    stand(1).mode({ fault: 'status=401 echo-key' })
    const refused = await ask({})
    assert.deepEqual([refused.status, JSON.parse(refused.text).error.type], [502, 'api_error'])
    assert.doesNotMatch(refused.text, /upstream-key/)
    assert.deepEqual(await endings(), ['void upstream_failed', 'void refused'])
  })

  test('an upstream that asks to wait gets no request meanwhile', async () => {
    stand(0).mode({ fault: 'status=429 retry-after-ms=1200' })
    for (let i = 0; i < 4; i++) assert.equal((await ask({})).status, 200)
    assert.deepEqual(counts(), [1, 4])
    stand(0).mode()
    const deadline = performance.now() + 5_000
    while (counts()[0] === 1 && performance.now() < deadline) await ask({})
    assert.deepEqual([counts()[0], at.gateway.upstreams.views()[0]?.state], [2, 'closed'])
  })

  test('no further upstream is tried for a client that has disconnected', async () => {
    stand(0).mode({ fault: 'status=529 headers-ms=300' })
    const controller = new AbortController()
    const left = post({ stream: true, signal: controller.signal })
    await stand(0).until((all) => all.length === 1)
    controller.abort()
    await assert.rejects(left)
    await stand(0).until(([only]) => only?.outcome === 'finished')
    await at.gateway.settled(at.account.book)
    assert.deepEqual(counts(), [1, 0])
    assert.doesNotMatch(String(await endings()), /charge/)
  })
})

describe('after the first byte', () => {
  for (const fault of ['reset-at=900', 'fin-at=900', 'end-at=900', 'error-after=5']) {
    test(`${fault}: a stream ends with an error, is not restarted, and is free`, async () => {
      stand(0).mode({ fault })
      const { status, text } = await ask({ stream: true, text: '[[reply: text 60]]' })
      assert.equal(status, 200)
      assert.equal(text.match(/event: message_start/g)?.length, 1)
      assert.match(text, /event: error/)
      assert.doesNotMatch(text, /message_stop/)
      assert.deepEqual(counts(), [1, 0])
      assert.deepEqual(await endings(), ['void upstream_failed'])
    })
  }

  test('a plain reply that breaks off is not continued elsewhere, and is free', async () => {
    stand(0).mode({ fault: 'reset-at=200' })
    const { status, text } = await ask({ text: '[[reply: text 60]]' })
    assert.equal(status, 502)
    assert.equal(JSON.parse(text).error.type, 'api_error')
    assert.deepEqual(await endings(), ['void upstream_failed'])
  })
})

describe('neither side learns about the other', () => {
  test('each upstream gets its own model name and its own ceiling of temperature', async () => {
    stand(0).mode({ fault: 'status=529' })
    const body = { model: 'model-large-20260115', temperature: 1.7 }
    assert.equal((await ask({ body })).status, 200)
    const sent = at.gateway.vendors.map((vendor) => String(vendor.requests[0]?.body))
    assert.match(sent[0] as string, /"model":"model-medium".*"temperature":1.7\b/)
    assert.match(sent[1] as string, /"model":"model-large".*"temperature":1[,}]/)
  })

  test('an upstream gets its own credential and nothing of the customer', async () => {
    stand(0).mode({ fault: 'status=500' })
    const { statusCode, body } = await request(`${at.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': at.account.key,
        authorization: `Bearer ${at.account.key}`,
        cookie: `key=${at.account.key}`,
        'anthropic-workspace-id': 'wrkspc_of_the_customer',
        'x-forwarded-for': '192.0.2.55',
      },
      body: JSON.stringify({
        model: 'model-small',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'hello' }],
      }),
    })
    await body.dump()
    assert.equal(statusCode, 200)
    for (const [i, vendor] of at.gateway.vendors.entries()) {
      const { rawHeaders, body: bytes } = vendor.requests[0] ?? assert.fail('it was not asked')
      const names = rawHeaders.filter((_, k) => k % 2 === 0).map((name) => name.toLowerCase())
      assert.equal(rawHeaders[names.indexOf('x-api-key') * 2 + 1], UPSTREAMS[i]?.keys[0])
      const all = `${rawHeaders.join('\n')}\n${bytes}`
      for (const secret of [at.account.key, 'wrkspc_of', '192.0.2.55', 'cookie', 'authorization']) {
        assert.ok(!all.toLowerCase().includes(secret.toLowerCase()), `${secret} went upstream`)
      }
    }
  })

  test('no answer names an upstream, its address, our credential or our account', async () => {
    const answers = []
    for (const fault of ['', 'status=400 echo-key', 'status=529', 'status=401', 'drop', 'gzip']) {
      for (const stream of [false, true]) {
        for (const vendor of at.gateway.vendors) vendor.mode({ fault })
        answers.push(await ask({ stream }))
        await clearFailures()
      }
    }
    for (const vendor of at.gateway.vendors) vendor.mode({ fault: 'error-after=3' })
    answers.push(await ask({ stream: true }))
    const known = UPSTREAMS.flatMap(({ name, keys: [key = ''] }, i) => [
      name,
      key,
      new URL(at.gateway.vendors[i]?.url ?? '').host,
      hash('sha256', key, 'hex').slice(0, 8), // begins the organization's id
      hash('sha1', key, 'hex').slice(0, 22), // the workspace's id
    ])
    const words = [...known, 'stand-in', 'cloudflare', 'ratelimit', 'organization', 'set-cookie']
    for (const { status, headers, text } of answers) {
      const head = JSON.stringify(headers)
      for (const word of words) assert.ok(!head.includes(word), `${status}: ${word} in ${head}`)
      for (const word of known) assert.ok(!text.includes(word), `${status}: ${word} in ${text}`)
    }
    assert.deepEqual(
      answers.map((one) => one.status),
      [200, 200, 400, 400, 529, 529, 502, 502, 502, 502, 200, 200, 200],
    )
  })
})

describe('a conversation', () => {
  const many: { gateway?: TestGateway; account?: Account } = {}
  // Its own: the other tests move theirs past the time limit of a request.
  const ahead = { ms: 0 }
  const spanMs = () => systemClock.spanMs() + ahead.ms
  before(async () => {
    many.gateway = await createTestGateway({
      upstreamClock: { nowMs: systemClock.nowMs, spanMs },
      upstreams: [
        { name: 'two-keys', keys: ['pool-key-1', 'pool-key-2'] },
        { name: 'one-key', keys: ['pool-key-3'] },
      ],
    })
    many.account = await many.gateway.account(10n ** 9n)
  })
  after(() => many.gateway?.end())

  /** Sends the turns of one conversation; returns the credentials that served them. */
  async function talk(topic: string, turns: number): Promise<string[]> {
    const gateway = many.gateway as TestGateway
    for (const vendor of gateway.vendors) vendor.clear()
    // As long as a prompt that is worth caching; the gateway may send shorter ones anywhere.
    const system = `${topic}: ${'keep to the subject and be brief. '.repeat(60)}`
    const messages = [{ role: 'user', content: `about ${topic}` }]
    for (let turn = 0; turn < turns; turn++) {
      const { statusCode, body } = await request(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': many.account?.key ?? '' },
        body: JSON.stringify({ model: 'model-large', max_tokens: 50, system, messages }),
      })
      assert.equal(statusCode, 200)
      const { content } = (await body.json()) as { content: [{ text: string }] }
      messages.push({ role: 'assistant', content: content[0].text })
      messages.push({ role: 'user', content: `and turn ${turn}?` })
    }
    return gateway.vendors
      .flatMap((vendor) => vendor.requests)
      .map(({ rawHeaders }) => rawHeaders[rawHeaders.indexOf('x-api-key') + 1] ?? '')
  }

  test('stays with one credential, and conversations spread over all of them', async () => {
    const used = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const keys = await talk(`topic ${i}`, 4)
      assert.deepEqual([keys.length, new Set(keys).size], [4, 1])
      used.add(keys[0] as string)
    }
    assert.equal(used.size, 3)
  })

  test('moves when its credential is refused, and comes back when it is well', async () => {
    const [home = ''] = await talk('the weather', 1)
    const gateway = many.gateway as TestGateway
    for (const vendor of gateway.vendors) vendor.mode({ fault: 'status=401', key: home })
    const away = await talk('the weather', 2)
    assert.deepEqual([away.length, away.filter((key) => key === home).length], [3, 1])
    for (const vendor of gateway.vendors) vendor.mode()
    ahead.ms += 60_000
    assert.deepEqual(await talk('the weather', 2), [home, home])
  })
})
