// What holds for every request to the cabinet, over real HTTP.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { settingsOf } from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import { openDatabase } from '../platform/db/db.ts'
import { createLog } from '../platform/log.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Part } from './part.ts'
import { createServer, type ServerOptions } from './server.ts'

/** A part with a route for every way a request can end. */
function sample(held: PromiseWithResolvers<void>): Part {
  return (app) => {
    app.get('/who', (request) => ({ address: request.address }))
    app.get('/refused/:code', () => {
      throw new Refusal('key_pending_missing', 'There is no key to confirm.', { why: 'a test' })
    })
    app.get('/fault', () => {
      throw new Error('canary in a fault')
    })
    app.post('/echo', (request) => ({ body: request.body }))
    app.get('/held', async () => {
      await held.promise
      return 'let go\n'
    })
  }
}

async function started(
  t: TestContext,
  change: Partial<ServerOptions> = {},
  ...more: readonly Part[]
) {
  const lines: string[] = []
  const answered: [string, number][] = []
  const held = Promise.withResolvers<void>()
  const server = createServer(
    {
      clock: systemClock,
      log: createLog({ level: 'trace', destination: { write: (line) => void lines.push(line) } }),
      metrics: { answered: (route, status) => void answered.push([route, status]) },
      cell: 3,
      addressHeader: 'none',
      trustedProxies: 'none',
      ...change,
    },
    [sample(held), ...more],
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
    letGo: held.resolve,
    end,
  }
}

type No = { error: { code: string; message: string }; requestId: string }

/** A connection by hand: sends bytes, and collects what comes. */
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
    /** Resolves with everything received once it contains this. */
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

test('a no says its code, a sentence and the request id of the header', async (t) => {
  const { url, lines } = await started(t)
  const cases = [
    ['/refused/x', 409, 'key_pending_missing', /There is no key to confirm/],
    ['/nowhere', 404, 'path_unknown', /no such path/],
    ['/%zz', 404, 'path_unknown', /no such path/],
    ['/fault', 500, 'fault', /went wrong/],
  ] as const
  for (const [path, status, code, sentence] of cases) {
    const answer = await fetch(`${url}${path}`)
    const { error, requestId } = (await answer.json()) as No
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

test('no answer may be cached, framed, or run anything', async (t) => {
  const { url } = await started(t)
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

test('a request is one line of the log, with the pattern of its path and no more', async (t) => {
  const { url, lines, answered, end } = await started(t)
  await fetch(`${url}/refused/canary-path?code=canary-query`)
  const headers = { 'content-type': 'application/json', 'x-canary': 'canary-header' }
  await fetch(`${url}/echo`, { method: 'POST', headers, body: '{"word":"canary-body"}' })
  await fetch(`${url}/echo`, { method: 'POST', headers, body: '{"word":canary-broken' })
  await end()
  const said = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered')
  assert.deepEqual(
    said.map(({ method, route, status }) => `${method} ${route} ${status}`),
    ['GET /refused/:code 409', 'POST /echo 200', 'POST /echo 400'],
  )
  assert.doesNotMatch(lines.join(''), /canary/)
  assert.deepEqual(answered[0], ['/refused/:code', 409])
})

test('a body over 64 KiB is refused, announced or not, and its connection ends', async (t) => {
  const { port } = await started(t)
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

test('a body or headers that come too slowly are answered 408 and cut', async (t) => {
  const { port } = await started(t, { requestMs: 300 })
  const body = await dial(port)
  body.send('POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n')
  body.send('content-length: 100\r\n\r\n{"a":')
  const headers = await dial(port)
  headers.send('GET /who HTTP/1.1\r\nhost: x\r\nx-slow: ')
  for (const text of [await body.closed(), await headers.closed()]) {
    assert.match(text, /^HTTP\/1\.1 408 .*"code":"request_overdue"/s)
  }
})

test('what is not HTTP is answered in the same shape', async (t) => {
  const { port } = await started(t)
  const broken = await dial(port)
  broken.send('what is this\r\n\r\n')
  assert.match(await broken.closed(), /^HTTP\/1\.1 400 .*"code":"http_broken".*"requestId":"req_/s)
  const large = await dial(port)
  large.send(`GET /who HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`)
  assert.match(await large.closed(), /^HTTP\/1\.1 431 .*"code":"headers_too_large"/s)
})

test('a client cannot choose its address; a trusted proxy can name it', async (t) => {
  const who = async (change: Partial<ServerOptions>, headers: Record<string, string>) => {
    const { url } = await started(t, change)
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
  assert.equal(await who(trusted, chain), '198.51.100.7', 'the left of it is the client’s word')
  assert.equal(await who(trusted, { 'x-forwarded-for': 'nonsense' }), '127.0.0.1')
  assert.equal(await who(trusted, { 'x-forwarded-for': '::ffff:198.51.100.7' }), '198.51.100.7')
})

test('a drain serves what is there and what still comes, and takes nobody new', async (t) => {
  const { server, port, letGo } = await started(t)
  const busy = await dial(port)
  busy.send('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
  const idle = await dial(port)
  idle.send('GET /who HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.match(await idle.until('address'), /connection: keep-alive/i)

  const closing = server.close({ idleMs: 60_000, limitMs: 60_000 })
  await assert.rejects(dial(port), { code: 'ECONNREFUSED' })
  // A request that was on its way when we began to drain.
  idle.send('GET /who HTTP/1.1\r\nhost: x\r\n\r\n')
  const [, , second] = (await idle.closed()).split('HTTP/1.1 200')
  assert.match(second ?? '', /connection: close.*127\.0\.0\.1/is)
  letGo()
  assert.match(await busy.closed(), /connection: close.*let go/is)
  await closing
})

test('a drain closes idle connections after a while, and breaks off at its limit', async (t) => {
  const { server, port } = await started(t)
  const idle = await dial(port)
  idle.send('GET /who HTTP/1.1\r\nhost: x\r\n\r\n')
  await idle.until('address')
  const stuck = await dial(port)
  stuck.send('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
  await server.close({ idleMs: 0, limitMs: 600 })
  assert.equal(await stuck.closed(), '')
  await idle.closed()
})

test('a database that is away is answered 503, and asked again later', async (t) => {
  const away = openDatabase(settingsOf('postgres://x@127.0.0.1:1/x'), 'away', () => undefined)
  const { url, lines } = await started(t, {}, (app) => {
    app.get('/asked', () => away.query('select 1'))
    app.get('/changed', () => away.transaction((tx) => tx.query('select 1')))
    app.get('/other', () => Promise.reject(new Error('connect ECONNREFUSED')))
  })
  for (const path of ['/asked', '/changed']) {
    const answer = await fetch(url + path)
    const { error } = (await answer.json()) as { error: { code: string } }
    assert.deepEqual([answer.status, error.code], [503, 'unavailable'], path)
    assert.equal(answer.headers.get('retry-after'), '5')
  }
  assert.equal((await fetch(`${url}/other`)).status, 500, 'what is not the database’s is a fault')
  assert.equal(lines.filter((line) => line.includes('"the database is away"')).length, 2)
  await away.end()
})
