// Every no that a client can meet, provoked: its status, the vendor's error type, whether asking
// again can help, and the code under which our log knows it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { RefusalCode } from '../../../src/platform/refusal.ts'
import { credits } from '../../../src/units/credits.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { type Caller, createCaller } from './caller.ts'
import { type Answer, type Asking, question, refusalOf } from './client.ts'

// Written down here once more, on purpose: the product's own table is what is tested.
type Expected = readonly [
  status: number,
  type: string,
  retryAfter?: string | undefined,
  shouldRetry?: string,
]
const invalid = 'invalid_request_error'
const expected: Partial<Record<RefusalCode, Expected>> = {
  path_unknown: [404, 'not_found_error'],
  method_wrong: [405, invalid],
  content_type_wrong: [415, invalid],
  content_encoding_unsupported: [400, invalid],
  body_too_large: [413, 'request_too_large'],
  body_broken_off: [400, invalid],
  body_bytes_exhausted: [529, 'overloaded_error', '2'],
  field_invalid: [400, invalid],
  thread_unsupported: [400, invalid],
  model_unknown: [404, 'not_found_error'],
  feature_unpriced: [400, invalid],
  upstream_unreachable: [502, 'api_error'],
  upstream_failed: [502, 'api_error'],
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
// One account may take half of it: the budget is for a test of it, and other bodies are smaller.
const WAIT_BYTES_MAX = 40_000_000
let gateway: TestGateway
before(async () => {
  const limits = { addressHeader: 'x-address', requestSecondsMax: 2 }
  gateway = await createTestGateway({ limits, logLines, waitBytesMax: WAIT_BYTES_MAX })
})
after(() => gateway.end())

/** In the vendor's shape, with our id, the expected headers and the expected line in the log. */
function assertRefused(answer: Answer, code: RefusalCode, lines: readonly string[] = logLines) {
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

/** Says these lines on a connection of its own and hangs up; what was answered. */
async function speak(lines: readonly string[]): Promise<string> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1' })
  socket.end(lines.join('\r\n'))
  let told = ''
  socket.on('data', (chunk) => {
    told += chunk
  })
  await once(socket, 'close')
  return told
}

/** One refusal that a single request of a customer of its own meets. */
function meets(
  code: RefusalCode,
  what: string,
  asking: Asking,
  more: (error: ReturnType<typeof assertRefused>, answer: Answer) => void = () => undefined,
) {
  test(`${what}: ${code}`, async () => {
    const caller = await createCaller(gateway)
    const answer = await caller.ask(asking)
    more(assertRefused(answer, code), answer)
    caller.end()
  })
}

describe('the way in', () => {
  const body = question()
  meets('path_unknown', 'another path', { path: '/v1/complete', body })
  meets('path_unknown', 'a path below a known one', { path: '/v1/me/x', method: 'GET' })
  for (const [method, path, allow] of [
    ['GET', '/v1/messages', 'POST'],
    ['PUT', '/v1/messages/count_tokens', 'POST'],
    ['POST', '/v1/me', 'GET'],
    ['DELETE', '/v1/models', 'GET'],
    ['POST', '/v1/models/model-small', 'GET'],
    ['POST', '/api/hello', 'HEAD, GET'],
  ] as const) {
    meets('method_wrong', `${method} ${path}`, { method, path }, (_, { headers }) => {
      assert.equal(headers.allow, allow)
    })
  }
  const type = 'content-type'
  meets('content_type_wrong', 'a form', { body, headers: { [type]: 'text/plain' } })
  meets('content_type_wrong', 'no content type', { body, headers: { [type]: undefined } })
  for (const encoding of ['gzip', 'br', 'zstd', 'deflate', 'gzip, identity']) {
    const headers = { 'content-encoding': encoding }
    meets('content_encoding_unsupported', `a ${encoding} body`, { body, headers }, (error) => {
      assert.deepEqual(error.details, { error_code: 'request_body_encoding_unsupported' })
    })
  }
  meets('body_too_large', 'a body of 32 MiB and a byte', { body: Buffer.alloc(33_554_433) })
  meets('body_bytes_exhausted', 'a body beyond what one account may take of the memory', {
    body: question('x'.repeat(21_000_000)),
  })

  test('a body that ends before its announced length: body_broken_off', async () => {
    const { key } = await gateway.account(0)
    const head = ['POST /v1/messages HTTP/1.1', 'host: gateway', 'content-length: 100']
    const more = [`x-api-key: ${key}`, 'content-type: application/json']
    const before = logLines.length
    const told = await speak([...head, ...more, '', '{"model":'])
    assert.match(told, /^HTTP\/1\.1 400 /)
    assert.match(told, /"The request body ended before its announced length\."/)
    const isLogged = () => logLines.slice(before).some((line) => /body_broken_off/.test(line))
    while (!isLogged()) await new Promise((resolve) => setImmediate(resolve))
  })

  for (const [what, lines, status] of [
    ['what is not HTTP', ['EHLO gateway', '', ''], 400],
    ['a header without end', ['GET / HTTP/1.1', `x: ${'y'.repeat(70_000)}`], 431],
    ['two lengths', ['POST / HTTP/1.1', 'content-length: 1', 'content-length: 2', '', ''], 400],
    ['no host', ['POST /v1/me HTTP/1.1', '', ''], 405],
    ['an unknown expectation', ['POST /v1/me HTTP/1.1', 'expect: wings', '', ''], 405],
  ] as const) {
    test(`${what} is answered in the same shape`, async () => {
      const told = await speak(lines)
      assert.match(told, new RegExp(`^HTTP/1\\.1 ${status} `))
      const [head = '', body = ''] = told.split('\r\n\r\n')
      const { type, error, request_id } = JSON.parse(body)
      assert.deepEqual([type, error.type], ['error', 'invalid_request_error'])
      assert.ok(head.includes(`request-id: ${request_id}`))
    })
  }
})

describe('the request', () => {
  meets('field_invalid', 'not JSON', { body: '{' })
  meets('field_invalid', 'a missing field', { body: '{}' }, (error) => {
    assert.equal(error.message, 'model: Field required')
  })
  const twice = question().replace('{', '{"model":"model-large",')
  meets('field_invalid', 'a field twice', { body: twice }, (error) => {
    assert.equal(error.message, 'model: Field given twice')
  })
  const thread = { type: 'create' }
  meets('thread_unsupported', 'a thread', { body: question('Hi', { thread }) }, (error) => {
    assert.deepEqual(error.details, { error_code: 'thread_unsupported_request' })
  })
  meets('model_unknown', 'an unknown model', { body: question('Hi', { model: 'x' }) }, (error) => {
    assert.equal(error.message, 'model: x')
  })
  meets('model_unknown', 'one model, unknown', { path: '/v1/models/x', method: 'GET' })
  for (const [what, members] of Object.entries({
    'a server tool': { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    'an advisor': { tools: [{ type: 'advisor_20260301', name: 'advisor' }] },
    'an MCP server': { mcp_servers: [{ type: 'url', url: 'https://x', name: 'x' }] },
    fallbacks: { fallbacks: [{ model: 'model-large' }] },
    compaction: { compaction: { type: 'auto' } },
  })) {
    meets('feature_unpriced', what, { body: question('Hi', members) })
  }
})

describe('the key', () => {
  const body = question()
  meets('key_missing', 'no key', { body, headers: { 'x-api-key': undefined } })
  meets('key_missing', 'an empty key', { body, headers: { 'x-api-key': '' } })
  const from = (address: string, key: string) => ({ 'x-address': address, 'x-api-key': key })
  meets('key_malformed', 'no key of ours', { body, headers: from('192.0.2.1', 'sk-other-x') })
  const madeUp = `sk-vendor-api03-${'A'.repeat(68)}`
  meets('key_unknown', 'a made-up key', { body, headers: from('192.0.2.2', madeUp) }, (error) => {
    assert.equal(error.message, 'invalid x-api-key')
  })
  const foreign = `sk-vendor-03-${'B'.repeat(48)}`
  meets('key_unknown', 'a key nobody imported', { body, headers: from('192.0.2.3', foreign) })

  test('a revoked key, remembered or not: key_revoked', async () => {
    const caller = await createCaller(gateway)
    await caller.me()
    await gateway.database.db.transaction((tx) => gateway.keys.revoke(tx, caller.book))
    for (const asking of [{ body }, { path: '/v1/me', method: 'GET' }]) {
      assertRefused(await caller.ask(asking), 'key_revoked')
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
    assert.equal(right.status, 200, 'a right key passes from there')
    const elsewhere = { body, headers: from('198.51.100.8', 'sk-wrong') }
    assertRefused(await caller.ask(elsewhere), 'key_malformed')
    caller.end()
  })

  test('more keys to check than cores can: key_checks_overloaded', async () => {
    const caller = await createCaller(gateway, 0)
    const book = await gateway.ledger.open(gateway.database.db)
    const start = `sk-vendor-03-${'C'.repeat(12)}`
    await gateway.database.db.transaction((tx) =>
      gateway.keys.importOne(tx, book, start + 'd'.repeat(20)),
    )
    // Each could be the imported one by its beginning, so each costs an Argon2id.
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, i) =>
        caller.ask({ body, headers: from(`203.0.113.${i}`, start + String(i).padStart(20, 'e')) }),
      ),
    )
    const over = answers.filter(({ status }) => status === 503)
    assert.ok(over.length > 0 && over.length < 80, `${over.length} of 80 were turned away`)
    for (const answer of answers) {
      assertRefused(answer, answer.status === 503 ? 'key_checks_overloaded' : 'key_unknown')
    }
    caller.end()
  })
})

describe('the credits', () => {
  const body = question()
  /** A customer in this state is refused so, and nothing is held afterwards. */
  function refusedWhen(
    code: RefusalCode,
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
      gateway.ledger.limit(gateway.database.db, caller.book, {
        dayLimit: limits.dayLimit === undefined ? null : credits(limits.dayLimit),
        velocityLimit: limits.velocityLimit === undefined ? null : credits(limits.velocityLimit),
        velocitySeconds: 600,
      }),
    block: (reason: 'owner_suspended' | 'operator_blocked') => (caller: Caller) =>
      gateway.ledger.block(gateway.database.db, caller.book, reason),
  }

  test('not even a small reply fits: credits_insufficient', async () => {
    const caller = await createCaller(gateway, 5_000)
    const needed = body.length + 1_000 * 5
    const error = assertRefused(await caller.ask({ body }), 'credits_insufficient')
    assert.equal(
      error.message,
      `Your credit balance is too low: this request needs ${needed} credits and 5000 are ` +
        'available. Buy credits at https://cabinet.example',
    )
    caller.end()
  })
  test('the client forbids to lower max_tokens: credits_insufficient', async () => {
    const caller = await createCaller(gateway, 40_000)
    const asking = { body: question('Hello', { max_tokens: 8_000 }) }
    assert.equal((await caller.ask(asking)).status, 200)
    const headers = { 'x-credit-clamp': 'off' }
    assertRefused(await caller.ask({ ...asking, headers }), 'credits_insufficient')
    caller.end()
  })
  refusedWhen('day_limit_reached', 'the day is spent', limitOf({ dayLimit: 5_000 }), /daily credit/)
  refusedWhen('owner_suspended', 'the owner says stop', block('owner_suspended'), /by the owner/)
  refusedWhen('operator_blocked', 'we say stop', block('operator_blocked'), /account is blocked/)
  refusedWhen(
    'velocity_stopped',
    'spent faster than the owner allows',
    async (caller) => {
      await limitOf({ velocityLimit: 10 })(caller)
      assert.equal((await caller.ask({ body })).status, 200)
    },
    /faster than your limit/,
  )
  refusedWhen(
    'debt_outstanding',
    'a pack was taken back after it was spent',
    (caller) =>
      gateway.database.db.transaction((tx) => {
        const taken = { lot: null, ref: `lost ${caller.book}`, amount: credits(20_001), note: '' }
        return gateway.ledger.forceDebit(tx, { book: caller.book, contra: 'loss', ...taken })
      }),
    /^Your credit balance is too low: the account is in debt. Buy credits at https:/,
  )
})

describe('the upstream', () => {
  meets('upstream_unreachable', 'a dropped connection', { body: question('[[fault: drop]]') })
  meets('upstream_failed', 'a page', { body: question('[[fault: html]]') })
  meets('upstream_failed', 'half a reply', { body: question('[[fault: fin-at=30]]') })
  meets('upstream_misconfigured', 'our key is refused', { body: question('[[fault: status=401]]') })
  const late = question('[[fault: chunk=1]] [[reply: text 32000]]', { max_tokens: 32_000 })
  meets('request_overdue', 'it takes too long', { body: late })

  const path = '/v1/messages/count_tokens'
  const counting = (fault: string) => ({ path, body: question(`[[fault: ${fault}]]`) })
  meets('upstream_unreachable', 'count_tokens, dropped', counting('drop'))
  meets('upstream_failed', 'count_tokens, a page', counting('html'))
  meets('upstream_failed', 'count_tokens, half an answer', counting('fin-at=5'))
  meets('upstream_failed', 'count_tokens, nothing', counting('status=503 empty'))
  for (const status of [401, 402, 403]) {
    meets('upstream_misconfigured', `count_tokens, ${status}`, counting(`status=${status}`))
  }
})
