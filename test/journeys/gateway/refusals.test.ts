// Every refusal that a client can get: its status, the vendor's error type, whether a retry can
// help, and its code in our log.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { refusalAnswers } from '../../../src/gateway/answers.ts'
import { credits } from '../../../src/units/credits.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { type Caller, createCaller } from './caller.ts'
import { type Answer, question, type RequestOptions, refusalOf } from './client.ts'

// Duplicated from the product on purpose: the product's own table is under test.
type Code = keyof typeof refusalAnswers
type Expected = readonly [
  status: number,
  type: string,
  retryAfter?: string | undefined,
  shouldRetry?: string,
]
const invalid = 'invalid_request_error'
const expected: Partial<Record<Code, Expected>> = {
  path_unknown: [404, 'not_found_error'],
  method_wrong: [405, invalid],
  content_type_wrong: [415, invalid],
  content_encoding_unsupported: [400, invalid],
  body_too_large: [413, 'request_too_large'],
  body_broken_off: [400, invalid],
  body_bytes_exhausted: [529, 'overloaded_error', '2'],
  waiting_exhausted: [529, 'overloaded_error', '2'],
  request_shed: [529, 'overloaded_error', '2'],
  field_invalid: [400, invalid],
  thread_unsupported: [400, invalid],
  model_unknown: [404, 'not_found_error'],
  request_unknown: [404, 'not_found_error'],
  feature_unpriced: [400, invalid],
  upstream_unreachable: [502, 'api_error'],
  upstream_failed: [502, 'api_error'],
  upstream_overdue: [504, 'timeout_error'],
  upstream_misconfigured: [502, 'api_error'],
  request_overdue: [504, 'timeout_error'],
  key_missing: [401, 'authentication_error'],
  key_malformed: [401, 'authentication_error'],
  key_unknown: [401, 'authentication_error'],
  key_revoked: [401, 'authentication_error'],
  key_attempts_exceeded: [429, 'rate_limit_error', '60'],
  key_checks_overloaded: [503, 'overloaded_error', '1'],
  credits_insufficient: [402, 'billing_error', undefined, 'false'],
  day_limit_reached: [402, 'billing_error', undefined, 'false'],
  velocity_stopped: [402, 'billing_error', undefined, 'false'],
  owner_suspended: [402, 'billing_error', undefined, 'false'],
  debt_outstanding: [402, 'billing_error', undefined, 'false'],
  operator_blocked: [403, 'permission_error'],
  ledger_unavailable: [529, 'overloaded_error', '5'],
}

const logLines: string[] = []
// The last quarter is for accounts within their share: the test of body_bytes_exhausted exceeds it.
const WAIT_BYTES_MAX = 40_000_000
let gateway: TestGateway
before(async () => {
  const limits = { addressHeader: 'x-address', requestSecondsMax: 2 }
  const waits = { waitBytesMax: WAIT_BYTES_MAX, headersTimeoutMs: 1_000 }
  gateway = await createTestGateway({ limits, logLines, ...waits })
})
after(() => gateway.end())

/** Checks the vendor's shape, our request id, the expected headers and the expected log line. */
function assertRefused(answer: Answer, code: Code, lines: readonly string[] = logLines) {
  const { status, headers } = answer
  const { type, error, request_id } = refusalOf(answer)
  const [wanted, wantedType, retryAfter, shouldRetry] = expected[code] ?? []
  assert.deepEqual([type, status, error.type], ['error', wanted, wantedType], error.message)
  assert.match(request_id, /^req_[0-9a-f]{32}$/)
  assert.equal(headers['request-id'], request_id)
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['retry-after'], retryAfter)
  assert.equal(headers['x-should-retry'], shouldRetry)
  const line = lines.findLast((one) => one.includes(request_id) && one.includes('"code"'))
  assert.equal(JSON.parse(line ?? '{}').code, code)
  return error
}

/** Sends these lines on a new connection and ends it; returns the bytes of the answer. */
async function sendRaw(lines: readonly string[]): Promise<string> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1' })
  socket.end(lines.join('\r\n'))
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  await once(socket, 'close')
  return received
}

/** Tests that this request of a new customer gets this refusal. */
function refuses(
  code: Code,
  what: string,
  request: RequestOptions,
  more: (error: ReturnType<typeof assertRefused>, answer: Answer) => void = () => undefined,
) {
  test(`${what}: ${code}`, async () => {
    const caller = await createCaller(gateway)
    const answer = await caller.ask(request)
    more(assertRefused(answer, code), answer)
    caller.end()
  })
}

describe('reading the request', () => {
  const body = question()
  refuses('path_unknown', 'an unknown path', { path: '/v1/complete', body })
  refuses('path_unknown', 'a path below a known one', { path: '/v1/me/x', method: 'GET' })
  for (const [method, path, allow] of [
    ['GET', '/v1/messages', 'POST'],
    ['PUT', '/v1/messages/count_tokens', 'POST'],
    ['POST', '/v1/me', 'GET, HEAD'],
    ['DELETE', '/v1/models', 'GET, HEAD'],
    ['POST', '/v1/models/model-small', 'GET, HEAD'],
    ['POST', '/api/hello', 'GET, HEAD'],
  ] as const) {
    refuses('method_wrong', `${method} ${path}`, { method, path }, (_, { headers }) => {
      assert.equal(headers.allow, allow)
    })
  }
  const type = 'content-type'
  refuses('content_type_wrong', 'a text/plain body', { body, headers: { [type]: 'text/plain' } })
  refuses('content_type_wrong', 'no content type', { body, headers: { [type]: undefined } })
  for (const encoding of ['gzip', 'br', 'zstd', 'deflate', 'gzip, identity']) {
    const headers = { 'content-encoding': encoding }
    refuses('content_encoding_unsupported', `a ${encoding} body`, { body, headers }, (error) => {
      assert.deepEqual(error.details, { error_code: 'request_body_encoding_unsupported' })
    })
  }
  refuses('body_too_large', 'a body of 32 MiB and a byte', { body: Buffer.alloc(33_554_433) })
  refuses('body_bytes_exhausted', 'a body over the memory of one account', {
    body: question('x'.repeat(31_000_000)),
  })

  test('a body that ends before its announced length: body_broken_off', async () => {
    const { key } = await gateway.account(0)
    const head = ['POST /v1/messages HTTP/1.1', 'host: gateway', 'content-length: 100']
    const more = [`x-api-key: ${key}`, 'content-type: application/json']
    const before = logLines.length
    const received = await sendRaw([...head, ...more, '', '{"model":'])
    assert.match(received, /^HTTP\/1\.1 400 /)
    assert.match(received, /"The request body ended before its announced length\."/)
    const isLogged = () => logLines.slice(before).some((line) => /body_broken_off/.test(line))
    while (!isLogged()) await new Promise((resolve) => setImmediate(resolve))
  })

  for (const [what, lines, status] of [
    ['a line that is not HTTP', ['EHLO gateway', '', ''], 400],
    ['an endless header', ['GET / HTTP/1.1', `x: ${'y'.repeat(70_000)}`], 431],
    [
      'two content-length headers',
      ['POST / HTTP/1.1', 'host: x', 'content-length: 1', 'content-length: 2', '', ''],
      400,
    ],
    ['a request without host', ['POST /v1/me HTTP/1.1', '', ''], 400],
    ['a request with two hosts', ['POST /v1/me HTTP/1.1', 'host: x', 'Host: x', '', ''], 400],
    ['an HTTP/1.0 request without host', ['POST /v1/me HTTP/1.0', '', ''], 405],
    ['an unknown expectation', ['POST /v1/me HTTP/1.1', 'host: x', 'expect: wings', '', ''], 405],
  ] as const) {
    test(`answers ${what} with an error of the same shape`, async () => {
      const received = await sendRaw(lines)
      assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} `))
      const [head = '', body = ''] = received.split('\r\n\r\n')
      const { type, error, request_id } = JSON.parse(body)
      assert.deepEqual([type, error.type], ['error', 'invalid_request_error'])
      assert.ok(head.includes(`request-id: ${request_id}`))
    })
  }
})

describe('the request', () => {
  refuses('field_invalid', 'not JSON', { body: '{' })
  refuses('field_invalid', 'a missing field', { body: '{}' }, (error) => {
    assert.equal(error.message, 'model: Field required')
  })
  const twice = question().replace('{', '{"model":"model-large",')
  refuses('field_invalid', 'a duplicate field', { body: twice }, (error) => {
    assert.equal(error.message, 'model: Field given twice')
  })
  const thread = { type: 'create' }
  refuses('thread_unsupported', 'a thread', { body: question('Hi', { thread }) }, (error) => {
    assert.deepEqual(error.details, { error_code: 'thread_unsupported_request' })
  })
  refuses(
    'model_unknown',
    'an unknown model',
    { body: question('Hi', { model: 'x' }) },
    (error) => {
      assert.equal(error.message, 'model: x')
    },
  )
  refuses('model_unknown', 'GET of an unknown model', { path: '/v1/models/x', method: 'GET' })
  const unknown = { path: '/v1/requests/req_1', method: 'GET' }
  refuses('request_unknown', 'GET of an unknown request', unknown)
  const search = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }
  refuses('feature_unpriced', 'a server tool', { body: question('Hi', search) })
})

describe('the key', () => {
  const body = question()
  refuses('key_missing', 'no key', { body, headers: { 'x-api-key': undefined } })
  refuses('key_missing', 'an empty key', { body, headers: { 'x-api-key': '' } })
  const from = (address: string, key: string) => ({ 'x-address': address, 'x-api-key': key })
  refuses('key_malformed', 'a key with another prefix', {
    body,
    headers: from('192.0.2.1', 'sk-other-x'),
  })
  const madeUp = `sk-vendor-api03-${'A'.repeat(68)}`
  refuses('key_unknown', 'a made-up key', { body, headers: from('192.0.2.2', madeUp) }, (error) => {
    assert.equal(error.message, 'invalid x-api-key')
  })
  const foreign = `sk-vendor-03-${'B'.repeat(48)}`
  refuses('key_unknown', 'a key that was never imported', {
    body,
    headers: from('192.0.2.3', foreign),
  })

  test('a revoked key, cached or not: key_revoked', async () => {
    const caller = await createCaller(gateway)
    await caller.me()
    await gateway.database.db.transaction((tx) => gateway.keys.revoke(tx, caller.book))
    for (const request of [{ body }, { path: '/v1/me', method: 'GET' }]) {
      assertRefused(await caller.ask(request), 'key_revoked')
    }
    const count = { path: '/v1/messages/count_tokens', body }
    assertRefused(await caller.ask(count), 'key_revoked')
    caller.end()
  })

  test('too many wrong keys from one address: key_attempts_exceeded', async () => {
    const caller = await createCaller(gateway)
    const address = '198.51.100.7'
    const guess = (i: number) => caller.ask({ body, headers: from(address, `sk-wrong-${i}`) })
    for (let i = 0; i < 20; i++) assertRefused(await guess(i), 'key_malformed')
    assertRefused(await guess(20), 'key_attempts_exceeded')
    const right = await caller.ask({ body, headers: { 'x-address': address } })
    assert.equal(right.status, 200, 'a right key is accepted from that address')
    const elsewhere = { body, headers: from('198.51.100.8', 'sk-wrong') }
    assertRefused(await caller.ask(elsewhere), 'key_malformed')
    caller.end()
  })

  test('more key checks at once than the queue holds: key_checks_overloaded', async () => {
    const caller = await createCaller(gateway, 0)
    const book = await gateway.ledger.createBook(gateway.database.db)
    const start = `sk-vendor-03-${'C'.repeat(12)}`
    await gateway.database.db.transaction((tx) =>
      gateway.keys.importKey(tx, book, start + 'd'.repeat(20)),
    )
    // Each key has the prefix of the imported one, so each needs an Argon2id check.
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, i) =>
        caller.ask({ body, headers: from(`203.0.113.${i}`, start + String(i).padStart(20, 'e')) }),
      ),
    )
    const over = answers.filter(({ status }) => status === 503)
    assert.ok(over.length > 0 && over.length < 80, `${over.length} of 80 were refused`)
    for (const answer of over) assertRefused(answer, 'key_checks_overloaded')
    // The log has no line for each: it limits lines about requests without an account.
    const others = answers.filter((answer) => !over.includes(answer))
    assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([401]))
    caller.end()
  })
})

describe('the credits', () => {
  const body = question()
  /** Tests that a customer in this state gets this refusal, and that no hold remains. */
  function refusesWhen(
    code: Code,
    what: string,
    arrange: (caller: Caller) => Promise<unknown>,
    message: RegExp,
  ) {
    test(`${what}: ${code}`, async () => {
      const caller = await createCaller(gateway, 20_000)
      await arrange(caller)
      for (const stream of [false, true]) {
        const answer = await caller.ask({ body: question('Hello', { stream }) })
        assert.match(assertRefused(answer, code).message, message)
      }
      assert.equal((await caller.me()).balance?.held, 0)
      caller.end()
    })
  }
  const { limitOf, block } = {
    limitOf: (limits: { dayLimit?: number; velocityLimit?: number }) => (caller: Caller) =>
      gateway.ledger.setLimits(gateway.database.db, caller.book, {
        dayLimit: limits.dayLimit === undefined ? null : credits(limits.dayLimit),
        velocityLimit: limits.velocityLimit === undefined ? null : credits(limits.velocityLimit),
        velocitySeconds: 600,
      }),
    block: (reason: 'owner_suspended' | 'operator_blocked') => (caller: Caller) =>
      gateway.ledger.block(gateway.database.db, caller.book, reason),
  }

  const english = (whole: number) => whole.toLocaleString('en-US')

  test('the balance does not cover even a small reply: credits_insufficient', async () => {
    const caller = await createCaller(gateway, 5_000)
    const needed = body.length + 1_000 * 5
    const error = assertRefused(await caller.ask({ body }), 'credits_insufficient')
    assert.equal(
      error.message,
      `Not enough credits: this request needs ${english(needed)}, and 5,000 are available. ` +
        'Buy credits at https://cabinet.example/packs',
    )
    caller.end()
  })
  test('the client forbids lowering max_tokens: credits_insufficient', async () => {
    const caller = await createCaller(gateway, 40_000)
    const request = { body: question('Hello', { max_tokens: 8_000 }) }
    assert.equal((await caller.ask(request)).status, 200)
    const headers = { 'x-credit-clamp': 'off' }
    assertRefused(await caller.ask({ ...request, headers }), 'credits_insufficient')
    caller.end()
  })
  refusesWhen(
    'day_limit_reached',
    'a small reply could exceed the daily limit',
    limitOf({ dayLimit: 868 }),
    /: this request could cost 5,\d{3}; 868 are left until midnight UTC\. Raise .*\/limits$/,
  )
  refusesWhen(
    'day_limit_reached',
    'the daily limit is used up',
    limitOf({ dayLimit: 0 }),
    /^Your daily credit limit is used up\. Raise the limit at https:/,
  )
  refusesWhen(
    'owner_suspended',
    'the owner paused requests',
    block('owner_suspended'),
    /by the owner.* Resume requests at https:/,
  )
  refusesWhen(
    'operator_blocked',
    'an operator blocked the book',
    block('operator_blocked'),
    /account is blocked/,
  )
  refusesWhen(
    'velocity_stopped',
    'requests spend faster than the limit',
    async (caller) => {
      await limitOf({ velocityLimit: 10 })(caller)
      assert.equal((await caller.ask({ body })).status, 200)
    },
    /faster than your limit/,
  )
  refusesWhen(
    'debt_outstanding',
    'a forced debit exceeded the balance',
    (caller) =>
      gateway.database.db.transaction((tx) => {
        const taken = { lot: null, ref: `lost ${caller.book}`, amount: credits(20_001), note: '' }
        return gateway.ledger.forceDebit(tx, { book: caller.book, contra: 'loss', ...taken })
      }),
    /^This account is in debt: .* Buy credits at https:.*\/packs$/,
  )
})

describe('the upstream', () => {
  test('nobody listens at its address: upstream_unreachable', async () => {
    const lines: string[] = []
    const alone = await createTestGateway({ logLines: lines, upstreamUrl: 'http://127.0.0.1:9' })
    const caller = await createCaller(alone)
    assertRefused(await caller.ask({ body: question() }), 'upstream_unreachable', lines)
    caller.end()
    await alone.end()
  })
  refuses('upstream_failed', 'a dropped connection', { body: question('[[fault: drop]]') })
  refuses('upstream_overdue', 'no answer', { body: question('[[fault: headers-ms=forever]]') })
  refuses('upstream_failed', 'an HTML page', { body: question('[[fault: html]]') })
  refuses('upstream_failed', 'a reply that is cut off', { body: question('[[fault: fin-at=30]]') })
  refuses('upstream_misconfigured', 'the upstream refuses our key', {
    body: question('[[fault: status=401]]'),
  })
  const late = question('[[fault: chunk=1]] [[reply: text 32000]]', { max_tokens: 32_000 })
  refuses('request_overdue', 'a reply that takes too long', { body: late })

  const path = '/v1/messages/count_tokens'
  const counting = (fault: string) => ({ path, body: question(`[[fault: ${fault}]]`) })
  refuses('upstream_failed', 'count_tokens, a dropped connection', counting('drop'))
  refuses('upstream_failed', 'count_tokens, an HTML page', counting('html'))
  refuses('upstream_failed', 'count_tokens, an answer that is cut off', counting('fin-at=5'))
  refuses('upstream_failed', 'count_tokens, an empty 503', counting('status=503 empty'))
  for (const status of [401, 402, 403]) {
    refuses('upstream_misconfigured', `count_tokens, ${status}`, counting(`status=${status}`))
  }
})
