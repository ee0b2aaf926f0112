// What clients of every kind meet: replies of every form, one request after the other, and an end
// to every wait.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { limits, listenTo, openListener, say } from '../../test/support/http-listener.ts'
import type { ClientReply, ClientRequest, HttpOptions } from './http.ts'
import { LINGER_MS } from './reply.ts'

type Answer = HttpOptions['answer']

async function serving(t: TestContext, answer: Answer, change: Partial<typeof limits> = {}) {
  const listener = await openListener({ answer, limits: { ...limits, ...change } })
  t.after(listener.close)
  return listener
}

async function dial(port: number) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const told = listenTo(socket)
  await once(socket, 'connect')
  return { socket, told }
}

const get = (path = '/', ...lines: string[]) =>
  ['GET ', path, ' HTTP/1.1\r\n', ...lines.map((line) => `${line}\r\n`), '\r\n'].join('')
const LAST = get('/', 'connection: close')

/** Head without its date, and body. */
function partsOf(told: string): string[] {
  return told.replaceAll(/\r\ndate: [^\r]*/gi, '').split('\r\n\r\n')
}

const hello: Answer = (_, reply) => {
  reply.begin(200, { 'content-type': 'text/plain' })
  reply.write(Buffer.from('hel'))
  reply.end(Buffer.from('lo'))
}

test('a reply without a length goes in chunks', async (t) => {
  const { port } = await serving(t, hello)
  assert.deepEqual(partsOf(await say(port, LAST)), [
    'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n' +
      'Connection: close\r\nTransfer-Encoding: chunked',
    '5\r\nhello\r\n0',
    '',
  ])
})

test('to HTTP/1.0 it goes as it is, until the connection ends', async (t) => {
  const { port } = await serving(t, hello)
  const old = 'GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n'
  assert.deepEqual(partsOf(await say(port, old)), [
    'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nConnection: close',
    'hello',
  ])
})

test('HEAD has the head alone, whatever the body', async (t) => {
  const { port } = await serving(t, (_, reply) => {
    reply.begin(404, { 'content-length': 5 })
    reply.end(Buffer.from('hello'))
  })
  const heads = 'HEAD / HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\nconnection: close\r\n\r\n'
  const told = await say(port, heads)
  assert.equal(told.match(/^HTTP\/1\.1 404 Not Found\r\ncontent-length: 5\r\n/gm)?.length, 2)
  assert.doesNotMatch(told, /hello/)
})

test('a value with a line end never leaves: no header of somebody else’s choice', async (t) => {
  const tried: unknown[] = []
  const { port } = await serving(t, (_, reply) => {
    for (const value of ['a\r\nset-cookie: b', 'a\nb', 'a\0']) {
      try {
        reply.begin(200, { 'x-value': value })
      } catch (error) {
        tried.push(error)
        assert.equal(reply.isBegun, false, 'another answer may be given')
      }
    }
    reply.begin(204, {})
    reply.end()
  })
  const told = await say(port, LAST)
  assert.doesNotMatch(told, /set-cookie/)
  assert.match(told, /^HTTP\/1\.1 204 No Content\r\nDate: [^\r]+\r\nConnection: close\r\n\r\n$/)
  assert.equal(tried.length, 3)
})

test('requests that come before their turn are answered in order, sixteen at once', async (t) => {
  const { port } = await serving(t, async ({ url }, reply) => {
    if (url === '/slow') await delay(30)
    reply.begin(200, { 'content-length': url.length })
    reply.end(Buffer.from(url))
  })
  const paths = ['/slow', ...Array.from({ length: 14 }, (_, i) => `/${i}`)]
  const told = await say(port, paths.map((path) => get(path)).join('') + LAST)
  const bodies = partsOf(told)
    .slice(1)
    .map((part) => part.replace(/HTTP\/1\.1 200 OK.*/s, ''))
  assert.deepEqual(bodies, [...paths, '/'])
})

test('a connection that sends a seventeenth request unanswered is closed', async (t) => {
  let asked = 0
  const { port } = await serving(t, () => {
    asked += 1
  })
  assert.equal(await say(port, get().repeat(3_000)), '')
  assert.equal(asked, 16)
})

test('nonsense behind a reply that is broken off is looked at once at most', async (t) => {
  const { port } = await serving(t, (_, reply) => {
    reply.begin(200, { 'content-length': 0 })
    reply.end()
    reply.destroy()
  })
  const told = await say(port, `${get()}nonsense\r\n\r\n`)
  assert.doesNotMatch(told, / 400 /)
  assert.match(await say(port, get()), /^(?:HTTP\/1\.1 200 |$)/, 'and others are served')
})

test('a body is asked for when the client waits to be asked', async (t) => {
  const { port, close } = await openListener()
  t.after(close)
  const head =
    'POST / HTTP/1.1\r\nexpect: 100-continue\r\nconnection: close\r\ncontent-length: 5\r\n\r\n'
  const { socket, told } = await dial(port)
  socket.write(head)
  await once(socket, 'data')
  socket.write('hello')
  assert.match(await told, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
})

test('who is refused before its body has come reads why, and may ask again', async (t) => {
  const { port } = await serving(t, ({ url }, reply) => {
    reply.begin(url === '/no' ? 401 : 200, { 'content-length': 0 })
    reply.end()
  })
  const body = 'x'.repeat(3_000_000)
  const told = await say(port, `POST /no HTTP/1.1\r\ncontent-length: 3000000\r\n\r\n`, body + LAST)
  assert.match(told, /^HTTP\/1\.1 401 .*HTTP\/1\.1 200 OK/s)
})

test('a body that nobody reads waits at the client', async (t) => {
  const seen = Promise.withResolvers<ClientRequest>()
  const { port } = await serving(t, (request) => seen.resolve(request))
  const { socket } = await dial(port)
  const bytes = 50_000_000
  socket.write(`POST / HTTP/1.1\r\ncontent-length: ${bytes}\r\n\r\n`)
  socket.write(Buffer.alloc(bytes))
  const request = await seen.promise
  await delay(200)
  assert.ok(socket.writableLength > bytes / 2, `${bytes - socket.writableLength} bytes were taken`)
  let taken = 0
  const whole = Promise.withResolvers<void>()
  request.read({ data: (chunk) => (taken += chunk.length), end: whole.resolve, broken() {} })
  await whole.promise
  assert.equal(taken, bytes)
  socket.destroy()
})

test('a client that reads slowly holds the reply back', async (t) => {
  const bytes = 50_000_000
  let written = 0
  const { port } = await serving(t, (_, reply) => {
    reply.begin(200, {})
    const more = () => {
      while (written < bytes) {
        written += 65_536
        if (!reply.write(Buffer.alloc(65_536))) return reply.afterDrain(more)
      }
      reply.end()
    }
    more()
  })
  const { socket, told } = await dial(port)
  socket.pause()
  socket.write(LAST)
  await delay(200)
  assert.ok(written < bytes / 2, `${written} bytes were written to a client that reads nothing`)
  socket.resume()
  assert.ok((await told).length > bytes)
})

for (const [how, leave] of [
  ['closes', 'end'],
  ['is gone', 'resetAndDestroy'],
] as const) {
  test(`a client that ${how} while its reply is under way is noticed, once`, async (t) => {
    const begun = Promise.withResolvers<ClientReply>()
    const gone = Promise.withResolvers<void>()
    let times = 0
    const { port } = await serving(t, (_, reply) => {
      reply.onGone = () => {
        times += 1
        gone.resolve()
      }
      reply.begin(200, {})
      reply.flush()
      begun.resolve(reply)
    })
    const { socket } = await dial(port)
    socket.write(get())
    const reply = await begun.promise
    socket[leave]()
    await gone.promise
    assert.equal(reply.write(Buffer.from('x')), true, 'nothing waits for who is gone')
    reply.end()
    await delay(20)
    assert.equal(times, 1)
  })
}

test('chunks that are nearly all wrapping are refused', async (t) => {
  const { port } = await serving(t, (request, reply) => {
    const broken = () => {
      reply.begin(400, { 'content-length': 0 })
      reply.end()
    }
    request.read({ data() {}, end() {}, broken })
  })
  const { socket, told } = await dial(port)
  socket.write('POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n')
  const chunk = `1;${'x'.repeat(1_000)}\r\ny\r\n`
  for (let i = 0; i < 400 && !socket.destroyed; i++) socket.write(chunk)
  socket.end('0\r\n\r\n')
  assert.match(await told, /^HTTP\/1\.1 400 /)
})

test('a connection that is reset after CONNECT is only its own loss', async (t) => {
  const { port } = await serving(t, hello)
  for (let i = 0; i < 10; i++) {
    const { socket } = await dial(port)
    socket.write('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(socket, 'data')
    socket.resetAndDestroy()
    await once(socket, 'close')
    await delay(10)
  }
  assert.match(await say(port, LAST), / 200 OK/)
})

test('a body that arrived in pieces before it is taken is taken whole', async (t) => {
  const { port } = await serving(t, async (request, reply) => {
    while (!request.isWhole) await delay(1)
    const body = request.takeWhole() ?? Buffer.from('none')
    reply.begin(200, { 'content-length': body.length })
    reply.end(body)
  })
  for (const [length, pieces] of [
    ['content-length: 15', ['first', ' then', ' last']],
    ['transfer-encoding: chunked', ['5\r\nfirst\r\n', '5\r\n then\r\n', '5\r\n last\r\n0\r\n\r\n']],
  ] as const) {
    const { socket, told } = await dial(port)
    socket.write(`POST / HTTP/1.1\r\nconnection: close\r\n${length}\r\n\r\n`)
    for (const piece of pieces) {
      await delay(5)
      socket.write(piece)
    }
    assert.match(await told, /\r\n\r\nfirst then last$/, length)
  }
})

test('a body in one-byte chunks is read for a thousand of them, refused or not', async (t) => {
  let chunks = 0
  const { port } = await serving(t, (request, reply) => {
    if (request.url === '/read') {
      request.read({ data: () => (chunks += 1), end() {}, broken() {} })
      return
    }
    reply.begin(401, { 'content-length': 0 })
    reply.end()
  })
  for (const path of ['/read', '/refuse']) {
    const { socket, told } = await dial(port)
    const fromMs = performance.now()
    socket.write(`POST ${path} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n`)
    socket.write('1\r\nx\r\n'.repeat(10_000_000))
    await told
    // The rest of a body that is refused would be read for 5 s.
    assert.ok(performance.now() - fromMs < LINGER_MS / 2, path)
  }
  assert.ok(chunks < 1_200, `${chunks} chunks were read`)
})

test('a thousand headers are too many, and 65 KiB of them too', async (t) => {
  const { port } = await serving(t, hello)
  const many = Array.from({ length: 1_001 }, (_, i) => `x-${i}: y`)
  assert.match(await say(port, get('/', ...many)), /^HTTP\/1\.1 400 /)
  assert.match(await say(port, get('/', `x: ${'y'.repeat(66_000)}`)), /^HTTP\/1\.1 400 /)
  assert.match(
    await say(port, get('/', `x: ${'y'.repeat(64_000)}`, 'connection: close')),
    / 200 OK/,
  )
})

test('every wait has its end', { concurrency: true }, async (t) => {
  const short = { headMs: 300, requestMs: 300, keepAliveMs: 300 }
  const { port } = await serving(
    t,
    (request, reply) => {
      request.read({ data() {}, end: () => hello(request, reply), broken() {} })
    },
    short,
  )
  const silent = async (...parts: string[]) => {
    const { socket, told } = await dial(port)
    for (const part of parts) socket.write(part)
    return told
  }
  const waits = await Promise.all([
    silent(),
    silent('GET / HT'),
    silent('POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n', 'x'),
    silent('POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n', '5\r\n'),
    silent(get()),
  ])
  assert.deepEqual(
    waits.map((told) => told.slice(9, 12)),
    ['', '400', '400', '400', '200'],
    'late ones are told, idle ones closed',
  )
})

test('drain: an answer under way is kept, the next ones say close, nobody new comes', async () => {
  const waiting: ClientReply[] = []
  const listener = await openListener({ answer: (_, reply) => void waiting.push(reply) })
  const { socket, told } = await dial(listener.port)
  socket.write(get())
  while (waiting.length === 0) await delay(1)
  const closed = listener.drain()
  await assert.rejects(dial(listener.port), { code: 'ECONNREFUSED' })
  waiting[0]?.begin(200, { 'content-length': 2 })
  waiting[0]?.end(Buffer.from('ok'))
  assert.match(await told, /connection: close\r\n(?:.*\r\n)*\r\nok$/i)
  socket.end()
  await closed
})
