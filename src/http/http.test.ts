// The server from the client's side: every form of reply, consecutive requests, and a time limit
// for every wait.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  limits,
  openListener,
  readUntilClosed,
  sendParts,
} from '../../test/support/http-listener.ts'
import type { ClientReply, ClientRequest, HttpOptions } from './http.ts'

type Answer = HttpOptions['answer']

async function serve(t: TestContext, answer: Answer, change: Partial<typeof limits> = {}) {
  const listener = await openListener({ answer, limits: { ...limits, ...change } })
  t.after(listener.close)
  return listener
}

async function dial(port: number) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const received = readUntilClosed(socket)
  await once(socket, 'connect')
  return { socket, received }
}

const get = (path = '/', ...lines: string[]) =>
  ['GET ', path, ' HTTP/1.1\r\nhost: x\r\n', ...lines.map((line) => `${line}\r\n`), '\r\n'].join('')
const LAST = get('/', 'connection: close')

/** The head without its date, then the body. */
function partsOf(received: string): string[] {
  return received.replaceAll(/\r\ndate: [^\r]*/gi, '').split('\r\n\r\n')
}

const hello: Answer = (_, reply) => {
  reply.begin(200, { 'content-type': 'text/plain' })
  reply.write(Buffer.from('hel'))
  reply.end(Buffer.from('lo'))
}

test('a reply without a length is chunked', async (t) => {
  const { port } = await serve(t, hello)
  assert.deepEqual(partsOf(await sendParts(port, LAST)), [
    'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n' +
      'Connection: close\r\nTransfer-Encoding: chunked',
    '5\r\nhello\r\n0',
    '',
  ])
})

test('a reply without a length to an HTTP/1.0 client ends with the connection', async (t) => {
  const { port } = await serve(t, hello)
  const old = 'GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n'
  assert.deepEqual(partsOf(await sendParts(port, old)), [
    'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nConnection: close',
    'hello',
  ])
})

test('HEAD gets only the head', async (t) => {
  const { port } = await serve(t, (_, reply) => {
    reply.begin(404, { 'content-length': 5 })
    reply.end(Buffer.from('hello'))
  })
  const heads =
    'HEAD / HTTP/1.1\r\nhost: x\r\n\r\nHEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
  const received = await sendParts(port, heads)
  assert.equal(received.match(/^HTTP\/1\.1 404 Not Found\r\ncontent-length: 5\r\n/gm)?.length, 2)
  assert.doesNotMatch(received, /hello/)
})

test('never sends a header value that contains a line break', async (t) => {
  const errors: unknown[] = []
  const { port } = await serve(t, (_, reply) => {
    for (const value of ['a\r\nset-cookie: b', 'a\nb', 'a\0']) {
      try {
        reply.begin(200, { 'x-value': value })
      } catch (error) {
        errors.push(error)
        assert.equal(reply.isBegun, false, '`begin` may be called again')
      }
    }
    reply.begin(204, {})
    reply.end()
  })
  const received = await sendParts(port, LAST)
  assert.doesNotMatch(received, /set-cookie/)
  assert.match(received, /^HTTP\/1\.1 204 No Content\r\nDate: [^\r]+\r\nConnection: close\r\n\r\n$/)
  assert.equal(errors.length, 3)
})

test('answers up to sixteen pipelined requests in order', async (t) => {
  const { port } = await serve(t, async ({ url }, reply) => {
    if (url === '/slow') await delay(30)
    reply.begin(200, { 'content-length': url.length })
    reply.end(Buffer.from(url))
  })
  const paths = ['/slow', ...Array.from({ length: 14 }, (_, i) => `/${i}`)]
  const received = await sendParts(port, paths.map((path) => get(path)).join('') + LAST)
  const bodies = partsOf(received)
    .slice(1)
    .map((part) => part.replace(/HTTP\/1\.1 200 OK.*/s, ''))
  assert.deepEqual(bodies, [...paths, '/'])
})

test('closes a connection with seventeen unanswered requests', async (t) => {
  let requests = 0
  const { port } = await serve(t, () => {
    requests += 1
  })
  assert.equal(await sendParts(port, get().repeat(3_000)), '')
  assert.equal(requests, 16)
})

test('does not answer invalid bytes after a destroyed reply', async (t) => {
  const { port } = await serve(t, (_, reply) => {
    reply.begin(200, { 'content-length': 0 })
    reply.end()
    reply.destroy()
  })
  const received = await sendParts(port, `${get()}nonsense\r\n\r\n`)
  assert.doesNotMatch(received, / 400 /)
  assert.match(
    await sendParts(port, get()),
    /^(?:HTTP\/1\.1 200 |$)/,
    'other connections are still served',
  )
})

test('sends 100 Continue to a client that waits for it', async (t) => {
  const { port, close } = await openListener()
  t.after(close)
  const lines = ['POST / HTTP/1.1', 'host: x', 'expect: 100-continue', 'connection: close']
  const head = [...lines, 'content-length: 5', '', ''].join('\r\n')
  const { socket, received } = await dial(port)
  socket.write(head)
  await once(socket, 'data')
  socket.write('hello')
  assert.match(await received, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
})

test('a client refused before its body gets the answer and may send a new request', async (t) => {
  const { port } = await serve(t, ({ url }, reply) => {
    reply.begin(url === '/no' ? 401 : 200, { 'content-length': 0 })
    reply.end()
  })
  const body = 'x'.repeat(3_000_000)
  const received = await sendParts(
    port,
    `POST /no HTTP/1.1\r\nhost: x\r\ncontent-length: 3000000\r\n\r\n`,
    body + LAST,
  )
  assert.match(received, /^HTTP\/1\.1 401 .*HTTP\/1\.1 200 OK/s)
})

test('stops reading the socket while the handler does not read the body', async (t) => {
  const seen = Promise.withResolvers<ClientRequest>()
  const { port } = await serve(t, (request) => seen.resolve(request))
  const { socket } = await dial(port)
  const bytes = 50_000_000
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`)
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

test('a client that reads slowly slows the reply down', async (t) => {
  const bytes = 50_000_000
  let written = 0
  const { port } = await serve(t, (_, reply) => {
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
  const { socket, received } = await dial(port)
  socket.pause()
  socket.write(LAST)
  await delay(200)
  assert.ok(written < bytes / 2, `${written} bytes were written to a client that reads nothing`)
  socket.resume()
  assert.ok((await received).length > bytes)
})

for (const [how, leave] of [
  ['closes the connection', 'end'],
  ['resets the connection', 'resetAndDestroy'],
] as const) {
  test(`calls onDisconnect once when the client ${how} during its reply`, async (t) => {
    const begun = Promise.withResolvers<ClientReply>()
    const gone = Promise.withResolvers<void>()
    let times = 0
    const { port } = await serve(t, (_, reply) => {
      reply.onDisconnect = () => {
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
    assert.equal(reply.write(Buffer.from('x')), true, 'a reply without a client never waits')
    reply.end()
    await delay(20)
    assert.equal(times, 1)
  })
}

test('refuses chunks that consist mostly of extensions', async (t) => {
  const { port } = await serve(t, (request, reply) => {
    const broken = () => {
      reply.begin(400, { 'content-length': 0 })
      reply.end()
    }
    request.read({ data() {}, end() {}, broken })
  })
  const { socket, received } = await dial(port)
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n')
  const chunk = `1;${'x'.repeat(1_000)}\r\ny\r\n`
  for (let i = 0; i < 400 && !socket.destroyed; i++) socket.write(chunk)
  socket.end('0\r\n\r\n')
  assert.match(await received, /^HTTP\/1\.1 400 /)
})

test('a connection that is reset after CONNECT does not end the process', async (t) => {
  const { port } = await serve(t, hello)
  for (let i = 0; i < 10; i++) {
    const { socket } = await dial(port)
    socket.write('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(socket, 'data')
    socket.resetAndDestroy()
    await once(socket, 'close')
    await delay(10)
  }
  assert.match(await sendParts(port, LAST), / 200 OK/)
})

test('takeWhole joins a body that arrived in pieces', async (t) => {
  const { port } = await serve(t, async (request, reply) => {
    while (!request.isWhole) await delay(1)
    const body = request.takeWhole() ?? Buffer.from('none')
    reply.begin(200, { 'content-length': body.length })
    reply.end(body)
  })
  for (const [length, pieces] of [
    ['content-length: 15', ['first', ' then', ' last']],
    ['transfer-encoding: chunked', ['5\r\nfirst\r\n', '5\r\n then\r\n', '5\r\n last\r\n0\r\n\r\n']],
  ] as const) {
    const { socket, received } = await dial(port)
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${length}\r\n\r\n`)
    for (const piece of pieces) {
      await delay(5)
      socket.write(piece)
    }
    assert.match(await received, /\r\n\r\nfirst then last$/, length)
  }
})

test('answers a body of one-byte chunks, reads no more of it and closes', async (t) => {
  const chunks = { read: 0, discarded: 0 }
  const listener = await openListener({
    answer(request, reply) {
      const end = (status: number) => {
        reply.begin(status, { 'content-length': 0 })
        reply.end()
      }
      if (request.url === '/refuse') end(401)
      else request.read({ data: () => (chunks.read += 1), end() {}, broken: () => end(400) })
    },
    paceDiscarded() {
      chunks.discarded += 1
    },
  })
  t.after(listener.close)
  const body = Buffer.from('1\r\nx\r\n'.repeat(10_000_000))
  const answerTo = async (path: string) => {
    const { socket, received } = await dial(listener.port)
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`)
    socket.write(body)
    return received
  }
  const [read, refused] = await Promise.all([answerTo('/read'), answerTo('/refuse')])
  assert.match(read, /^HTTP\/1\.1 400 .*\r\nconnection: close\r\n/s)
  assert.match(refused, /^HTTP\/1\.1 401 /)
  const counted = JSON.stringify(chunks)
  assert.ok(chunks.read < 1_200 && chunks.discarded < 1_200, `chunks that were read: ${counted}`)
})

test('refuses more than a thousand headers, or more than 64 KiB of headers', async (t) => {
  const { port } = await serve(t, hello)
  const many = Array.from({ length: 1_001 }, (_, i) => `x-${i}: y`)
  assert.match(await sendParts(port, get('/', ...many)), /^HTTP\/1\.1 400 /)
  assert.match(await sendParts(port, get('/', `x: ${'y'.repeat(66_000)}`)), /^HTTP\/1\.1 400 /)
  assert.match(
    await sendParts(port, get('/', `x: ${'y'.repeat(64_000)}`, 'connection: close')),
    / 200 OK/,
  )
})

test('every wait has a time limit', { concurrency: true }, async (t) => {
  const short = { headMs: 300, requestMs: 300, keepAliveMs: 300 }
  const { port } = await serve(
    t,
    (request, reply) => {
      request.read({ data() {}, end: () => hello(request, reply), broken() {} })
    },
    short,
  )
  const sendThenWait = async (...parts: string[]) => {
    const { socket, received } = await dial(port)
    for (const part of parts) socket.write(part)
    return received
  }
  const waits = await Promise.all([
    sendThenWait(),
    sendThenWait('GET / HT'),
    sendThenWait('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n', 'x'),
    sendThenWait('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n', '5\r\n'),
    sendThenWait(get()),
  ])
  assert.deepEqual(
    waits.map((received) => received.slice(9, 12)),
    ['', '400', '400', '400', '200'],
    'an unfinished request gets 400, an idle connection is closed',
  )
})

test('drain finishes replies with connection: close and accepts no new connection', async () => {
  const waiting: ClientReply[] = []
  const listener = await openListener({ answer: (_, reply) => void waiting.push(reply) })
  const { socket, received } = await dial(listener.port)
  socket.write(get())
  while (waiting.length === 0) await delay(1)
  const closed = listener.drain()
  await assert.rejects(dial(listener.port), { code: 'ECONNREFUSED' })
  waiting[0]?.begin(200, { 'content-length': 2 })
  waiting[0]?.end(Buffer.from('ok'))
  assert.match(await received, /connection: close\r\n(?:.*\r\n)*\r\nok$/i)
  socket.end()
  await closed
})
