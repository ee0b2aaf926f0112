// Headers, limits, errors and the drain of the cabinet's server, over real HTTP.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { settingsOf } from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import { openDatabase } from '../platform/db/db.ts'
import { createLog } from '../platform/log.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Plugin } from '../platform/server/plugin.ts'
import { createServer, type ServerOptions } from '../platform/server/server.ts'
import { answers } from './answers.ts'

/** A plugin with a route for every way a request can end. */
function samplePlugin(held: PromiseWithResolvers<void>): Plugin {
  return (app) => {
    app.get('/who', (request) => ({ address: request.address }))
    app.get('/refused/:code', () => {
      throw new Refusal('key_pending_missing', 'There is no key to confirm.', { why: 'a test' })
    })
    app.get('/fault', () => {
      throw new Error('canary in a fault')
    })
    app.get('/unlisted', () => {
      throw new Refusal('adjust_exceeds_available', 'canary in a refusal')
    })
    app.post('/echo', (request) => ({ body: request.body }))
    app.get('/held', async () => {
      await held.promise
      return 'let go\n'
    })
  }
}

async function startServer(
  t: TestContext,
  overrides: Partial<ServerOptions> = {},
  ...more: readonly Plugin[]
) {
  const lines: string[] = []
  const answered: [string, number | string][] = []
  const held = Promise.withResolvers<void>()
  const server = createServer(
    {
      answers,
      clock: systemClock,
      log: createLog({ level: 'trace', destination: { write: (line) => void lines.push(line) } }),
      metrics: { countAnswer: (route, status) => void answered.push([route, status]) },
      cell: 3,
      addressHeader: 'none',
      trustedProxies: 'none',
      ...overrides,
    },
    [samplePlugin(held), ...more],
  )
  const port = await server.listen(0, '127.0.0.1')
  const end = () => server.close({ idleMs: 0, limitMs: 1_000 })
  t.after(end)
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    lines,
    answered,
    release: held.resolve,
    end,
  }
}

type ErrorBody = { error: { code: string; message: string }; requestId: string }

/** A raw connection that sends bytes and collects what it receives. */
async function dial(port: number) {
  const socket: Socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, 'connect')
  return {
    send: (bytes: string) => socket.write(bytes),
    /** Resolves with everything received when it contains `part`. */
    async until(part: string): Promise<string> {
      while (!text.includes(part)) {
        const end = closed.then(() => assert.fail(`closed without ${part}: ${text}`))
        await Promise.race([once(socket, 'data'), end])
      }
      return text
    },
    async closed(): Promise<string> {
      await closed
      return text
    },
  }
}

test('a refusal has a code, a message and the same request id as the header', async (t) => {
  const { url, lines } = await startServer(t)
  const cases = [
    ['/refused/x', 409, 'key_pending_missing', /There is no key to confirm/],
    ['/nowhere', 404, 'path_unknown', /no such path/],
    ['/%zz', 404, 'path_unknown', /no such path/],
    ['/fault', 500, 'fault', /went wrong/],
  ] as const
  for (const [path, status, code, sentence] of cases) {
    const answer = await fetch(`${url}${path}`)
    const { error, requestId } = (await answer.json()) as ErrorBody
    assert.deepEqual([answer.status, error.code], [status, code], path)
    assert.match(error.message, sentence)
    assert.match(requestId, /^req_[0-9a-f]{32}$/)
    assert.equal(answer.headers.get('request-id'), requestId)
  }
  assert.ok(
    lines.some((line) => line.includes('canary in a fault')),
    'a fault is logged',
  )
})

test('a NUL character in a path or a query is refused before a route reads it', async (t) => {
  const runs: string[] = []
  const { url, lines, answered } = await startServer(t, {}, (app) => {
    app.post('/run/:id', async ({ url }) => runs.push(url))
  })
  const cases = [
    ['POST', '/run/%00', 'id'],
    ['POST', '/run/1?x=%00', 'x'],
    ['GET', '/refused/%00', 'code'],
    ['GET', '/refused/a%00b?x=1', 'code'],
    ['GET', '/who?code=%00.a', 'code'],
    ['GET', '/who?a=1&a=%00', 'a.1'],
    ['POST', '/echo?code=a.%00', 'code'],
  ] as const
  for (const [method, path, field] of cases) {
    const answer = await fetch(`${url}${path}`, { method })
    const { error } = (await answer.json()) as { error: object }
    const message = 'A field is missing or invalid.'
    assert.deepEqual([answer.status, error], [400, { code: 'field_invalid', message, field }], path)
    assert.ok(answer.headers.has('content-security-policy'))
  }
  assert.deepEqual(runs, [])
  assert.deepEqual(new Set(answered.map(([, status]) => status)), new Set([400]))
  assert.deepEqual(
    lines.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line)),
    [],
  )
})

test('answers a refusal that is not in the table as a fault: 500, one log line', async (t) => {
  const { url, lines } = await startServer(t)
  const answer = await fetch(`${url}/unlisted`)
  const { error } = (await answer.json()) as ErrorBody
  assert.deepEqual([answer.status, error.code], [500, 'fault'])
  assert.doesNotMatch(error.message, /canary/)
  const about = lines.map((line) => JSON.parse(line)).filter(({ err }) => err !== undefined)
  assert.deepEqual(
    about.map(({ level, err }) => [level, err.code]),
    [['error', 'adjust_exceeds_available']],
  )
})

test('every answer has headers that forbid caching, framing and scripts', async (t) => {
  const { url } = await startServer(t)
  for (const path of ['/who', '/nowhere', '/fault', '/%zz']) {
    const { headers } = await fetch(`${url}${path}`)
    const policy = headers.get('content-security-policy') ?? ''
    assert.deepEqual(policy.split(';').sort(), [
      "base-uri 'none'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.match(headers.get('strict-transport-security') ?? '', /^max-age=63072000/)
    assert.equal(headers.get('x-powered-by'), null)
  }
})

test('logs one line per request, with the route pattern and no content', async (t) => {
  const { url, lines, answered, end } = await startServer(t)
  await fetch(`${url}/refused/canary-path?code=canary-query`)
  const headers = { 'content-type': 'application/json', 'x-canary': 'canary-header' }
  await fetch(`${url}/echo`, { method: 'POST', headers, body: '{"word":"canary-body"}' })
  await fetch(`${url}/echo`, { method: 'POST', headers, body: '{"word":canary-broken' })
  await end()
  const logged = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered')
  assert.deepEqual(
    logged.map(({ method, route, status }) => `${method} ${route} ${status}`),
    ['GET /refused/:code 409', 'POST /echo 200', 'POST /echo 400'],
  )
  assert.doesNotMatch(lines.join(''), /canary/)
  assert.deepEqual(answered[0], ['/refused/:code', 409])
})

test('refuses a body over 64 KiB, with or without content-length, and disconnects', async (t) => {
  const { port } = await startServer(t)
  const announced = await dial(port)
  announced.send('POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n')
  announced.send('content-length: 65537\r\n\r\n')
  const first = await announced.closed()
  assert.match(first, /^HTTP\/1\.1 413 /)
  assert.match(first, /"code":"body_too_large"/)

  const chunked = await dial(port)
  chunked.send('POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n')
  chunked.send(`transfer-encoding: chunked\r\n\r\n10001\r\n${'x'.repeat(0x10001)}\r\n`)
  assert.match(await chunked.until('requestId'), /^HTTP\/1\.1 413 .*"body_too_large"/s)
})

test('answers 408 to a slow body or slow headers, and disconnects', async (t) => {
  const { port } = await startServer(t, { requestMs: 300 })
  const body = await dial(port)
  body.send('POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n')
  body.send('content-length: 100\r\n\r\n{"a":')
  const headers = await dial(port)
  headers.send('GET /who HTTP/1.1\r\nhost: x\r\nx-slow: ')
  for (const text of [await body.closed(), await headers.closed()]) {
    assert.match(text, /^HTTP\/1\.1 408 .*"code":"request_overdue"/s)
  }
})

test('answers invalid HTTP with an error of the same shape', async (t) => {
  const { port } = await startServer(t)
  const broken = await dial(port)
  broken.send('what is this\r\n\r\n')
  assert.match(await broken.closed(), /^HTTP\/1\.1 400 .*"code":"http_broken".*"requestId":"req_/s)
  const large = await dial(port)
  large.send(`GET /who HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`)
  assert.match(await large.closed(), /^HTTP\/1\.1 431 .*"code":"headers_too_large"/s)
})

test('reads the address header only from a trusted proxy', async (t) => {
  const who = async (overrides: Partial<ServerOptions>, headers: Record<string, string>) => {
    const { url } = await startServer(t, overrides)
    const answer = (await (await fetch(`${url}/who`, { headers })).json()) as { address: string }
    return answer.address
  }
  const spoof = { 'x-forwarded-for': '198.51.100.7' }
  const addressHeader = 'x-forwarded-for'
  assert.equal(await who({}, spoof), '127.0.0.1', 'no header is configured')
  assert.equal(await who({ addressHeader, trustedProxies: '10.0.0.0/8, ::1' }, spoof), '127.0.0.1')
  const trusted = { addressHeader, trustedProxies: '127.0.0.0/8, 10.0.0.0/8' }
  assert.equal(await who(trusted, spoof), '198.51.100.7')
  const chain = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7, 10.1.2.3' }
  assert.equal(
    await who(trusted, chain),
    '198.51.100.7',
    'the client may have forged the addresses to the left',
  )
  assert.equal(await who(trusted, { 'x-forwarded-for': 'nonsense' }), '127.0.0.1')
  assert.equal(await who(trusted, { 'x-forwarded-for': '::ffff:198.51.100.7' }), '198.51.100.7')
})

test('a drain serves open connections and accepts no new ones', async (t) => {
  const { server, port, release } = await startServer(t)
  const busy = await dial(port)
  busy.send('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
  const idle = await dial(port)
  idle.send('GET /who HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.match(await idle.until('address'), /connection: keep-alive/i)

  const closing = server.close({ idleMs: 60_000, limitMs: 60_000 })
  await assert.rejects(dial(port), { code: 'ECONNREFUSED' })
  // A request that was in flight when the drain began.
  idle.send('GET /who HTTP/1.1\r\nhost: x\r\n\r\n')
  const [, , second] = (await idle.closed()).split('HTTP/1.1 200')
  assert.match(second ?? '', /connection: close.*127\.0\.0\.1/is)
  release()
  assert.match(await busy.closed(), /connection: close.*let go/is)
  await closing
})

test('a drain closes idle connections after idleMs and all others at limitMs', async (t) => {
  const { server, port } = await startServer(t)
  const idle = await dial(port)
  idle.send('GET /who HTTP/1.1\r\nhost: x\r\n\r\n')
  await idle.until('address')
  const stuck = await dial(port)
  stuck.send('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
  await server.close({ idleMs: 0, limitMs: 600 })
  assert.equal(await stuck.closed(), '')
  await idle.closed()
})

test('answers 503 with retry-after when the database is unavailable', async (t) => {
  const unavailable = openDatabase(
    settingsOf('postgres://x@127.0.0.1:1/x'),
    'away',
    () => undefined,
  )
  const { url, lines } = await startServer(t, {}, (app) => {
    app.get('/query', () => unavailable.query('select 1'))
    app.get('/transaction', () => unavailable.transaction((tx) => tx.query('select 1')))
    app.get('/other', () => Promise.reject(new Error('connect ECONNREFUSED')))
  })
  for (const path of ['/query', '/transaction']) {
    const answer = await fetch(url + path)
    const { error } = (await answer.json()) as { error: { code: string } }
    assert.deepEqual([answer.status, error.code], [503, 'unavailable'], path)
    assert.equal(answer.headers.get('retry-after'), '5')
  }
  assert.equal((await fetch(`${url}/other`)).status, 500, 'other errors are faults')
  assert.equal(lines.filter((line) => line.includes('"the database is away"')).length, 2)
  await unavailable.end()
})
