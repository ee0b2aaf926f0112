// Connections to an upstream: which are reused, which are closed, and that no request gets the
// reply of another.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import type { BookId } from '../platform/ids.ts'
import type { Holder } from '../platform/shares.ts'
import { createWaitingPlaces } from '../platform/slots.ts'
import { createPool } from './pool.ts'

const run = promisify(execFile)
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const ends: (() => void)[] = []
after(() => {
  for (const end of ends) end()
})

type Peer = {
  readonly port: number
  readonly sockets: Socket[]
  /** Requests in the order in which they were complete. */
  readonly asked: { socket: Socket; text: string }[]
}

/** A server that answers each complete request with the given bytes. */
async function startPeer(answer: (socket: Socket, text: string, nth: number) => void) {
  const peer = { port: 0, sockets: [] as Socket[], asked: [] as Peer['asked'] }
  const server: Server = createServer((socket) => {
    peer.sockets.push(socket)
    socket.on('error', () => {})
    let text = ''
    socket.setEncoding('latin1').on('data', (more: string) => {
      text += more
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0)
      if (end === -1 || text.length < end + 4 + length) return
      const whole = text
      text = ''
      peer.asked.push({ socket, text: whole })
      answer(socket, whole, peer.asked.length)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    server.close()
    for (const socket of peer.sockets) socket.destroy()
  })
  peer.port = (server.address() as { port: number }).port
  return peer
}

type More = { connections?: number; idleTimeoutMs?: number; waiting?: number }

function poolTo(port: number, more: More = {}) {
  const clock = { ms: 0 }
  const pool = createPool({
    url: `http://127.0.0.1:${port}`,
    connections: more.connections ?? 8,
    idleTimeoutMs: more.idleTimeoutMs ?? 60_000,
    spanMs: () => clock.ms,
    waiting: createWaitingPlaces(() => clock.ms, more.waiting),
  })
  ends.push(() => pool.close())
  /** Sends a request and returns its result. */
  const ask = (
    name: string,
    body: readonly Buffer[] = [Buffer.from(name)],
    waitMs = 60_000,
    book = 1n,
  ) => {
    const over = Promise.withResolvers<{ status: number; body: string }>()
    const began = Promise.withResolvers<void>()
    const seen = { status: 0, body: '' }
    const bodyBytes = body.reduce((sum, one) => sum + one.length, 0)
    const holder: Holder = { onShed: () => call.abort() }
    const call = pool.send({
      book: book as BookId,
      holder,
      head: `POST /${name} HTTP/1.1\r\nhost: a\r\ncontent-length: ${bodyBytes}\r\n\r\n`,
      body,
      bodyBytes,
      headersTimeoutMs: waitMs,
      sink: {
        head(status) {
          seen.status = status
        },
        data(bytes) {
          seen.body += bytes.toString('latin1')
          began.resolve()
        },
        end: () => over.resolve(seen),
        fail: (error) => over.reject(error),
      },
    })
    over.promise.catch(() => {})
    return { call, over: over.promise, began: began.promise }
  }
  return { pool, ask, clock }
}

test('consecutive requests share a connection', async () => {
  const peer = await startPeer((socket) => socket.write(OK))
  const { ask } = poolTo(peer.port)
  for (const name of ['a', 'b', 'c']) {
    assert.deepEqual(await ask(name).over, { status: 200, body: 'ok' })
  }
  assert.equal(peer.sockets.length, 1)
  assert.match(peer.asked[1]?.text ?? '', /^POST \/b HTTP\/1\.1\r\n.*\r\n\r\nb$/s)
})

test('opens no more connections than allowed; other requests wait in order', async () => {
  const waiting: Socket[] = []
  const peer = await startPeer((socket) => void waiting.push(socket))
  const { ask } = poolTo(peer.port, { connections: 2 })
  const asked = ['a', 'b', 'c', 'd'].map((name) => ask(name).over)
  while (peer.asked.length < 4) {
    waiting.shift()?.write(OK)
    await new Promise(setImmediate)
  }
  for (const socket of waiting) socket.write(OK)
  await Promise.all(asked)
  assert.equal(peer.sockets.length, 2)
  const names = peer.asked.map(({ text }) => text.slice(6, 7))
  assert.deepEqual(names.slice(2), ['c', 'd'])
})

test('a body of any size arrives unchanged', async () => {
  const peer = await startPeer((socket) => socket.write(OK))
  const { ask } = poolTo(peer.port)
  for (const bytes of [0, 1, 16_384, 16_385, 1_048_576, 3_000_001]) {
    const body = Buffer.alloc(bytes, 'abcdefghij')
    const half = bytes >> 1
    await ask('x', [body.subarray(0, half), body.subarray(half)]).over
    const text = peer.asked.at(-1)?.text ?? ''
    assert.ok(text.slice(text.indexOf('\r\n\r\n') + 4) === body.toString('latin1'), `${bytes}`)
  }
  assert.equal(peer.sockets.length, 1)
})

test('does not reuse a connection that announced close or was closed', async () => {
  const peer = await startPeer((socket, _, nth) => {
    if (nth === 1)
      socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok')
    else if (nth === 2) socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end')
    else socket.write(OK)
  })
  const { ask } = poolTo(peer.port)
  assert.equal((await ask('a').over).body, 'ok')
  assert.equal((await ask('b').over).body, 'until the end')
  assert.equal((await ask('c').over).body, 'ok')
  assert.equal(peer.sockets.length, 3)
})

test('a reply that is cut or malformed fails its request and no other', async () => {
  const peer = await startPeer((socket, text) => {
    if (text.startsWith('POST /cut')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel')
    else if (text.startsWith('POST /odd')) socket.write('what?\r\n\r\n')
    else if (text.startsWith('POST /more')) socket.write(`${OK}HTTP/1.1 200 OK`)
    else socket.write(OK)
  })
  const { ask } = poolTo(peer.port)
  for (const name of ['cut', 'odd', 'more']) await assert.rejects(ask(name).over, name)
  assert.equal((await ask('well').over).body, 'ok')
  assert.equal(peer.sockets.length, 4)
})

test('closes a connection that sends bytes without a request', async () => {
  const peer = await startPeer((socket) => socket.write(OK))
  const { ask } = poolTo(peer.port)
  await ask('a').over
  const [first] = peer.sockets
  const closed = once(first as Socket, 'close')
  first?.write(OK)
  await closed
  await ask('b').over
  assert.equal(peer.sockets.length, 2)
})

test('closes the connection when the reply ends before the request was sent', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write('HTTP/1.1 413 No\r\ncontent-length: 2\r\n\r\nno'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => server.close())
  const { ask } = poolTo((server.address() as { port: number }).port)
  const { status } = await ask('large', [Buffer.alloc(8_000_000)]).over
  assert.equal(status, 413)
})

test('a paused stream stops the upstream, and resume continues it', async () => {
  const piece = 'x'.repeat(65_536)
  const peer = await startPeer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    for (let i = 0; i < 400; i++) socket.write(`10000\r\n${piece}\r\n`)
    socket.write('0\r\n\r\n')
  })
  const { ask } = poolTo(peer.port)
  const { call, over, began } = ask('stream')
  await began
  call.pause()
  const [socket] = peer.sockets
  let before = -1
  while (before !== socket?.writableLength) {
    before = socket?.writableLength ?? 0
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.ok(before > 1_000_000, 'the rest waits at the upstream')
  call.resume()
  assert.equal((await over).body.length, 400 * 65_536)
})

test('abort closes the connection, and the sink is not called again', async () => {
  const peer = await startPeer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n')
  })
  const { ask } = poolTo(peer.port)
  const { call, over, began } = ask('stream')
  await began
  const closed = once(peer.sockets[0] as Socket, 'close')
  call.abort()
  call.abort()
  await closed
  const silence = new Promise((resolve) => setImmediate(() => resolve('nothing')))
  const told = over.then(
    () => 'an end',
    () => 'a failure',
  )
  assert.equal(await Promise.race([told, silence]), 'nothing')
})

const deadlines = [
  ['no head', () => {}, 61_000],
  [
    'no more bytes',
    (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nh'),
    61_000,
  ],
] as const
for (const [promise, answer, waitMs] of deadlines) {
  test(`an upstream that goes silent fails the request: ${promise}`, async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] })
    const peer = await startPeer(answer)
    const { ask, clock } = poolTo(peer.port, { idleTimeoutMs: 60_000 })
    const { over, began } = ask('x')
    if (promise === 'no more bytes') await began
    else while (peer.asked.length === 0) await new Promise(setImmediate)
    context.mock.timers.tick(300)
    clock.ms += waitMs
    context.mock.timers.tick(300)
    await assert.rejects(over, /did not answer in time/)
  })
}

test('closes an idle connection before the upstream would', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const hint = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\ncontent-length: 2\r\n\r\nok'
  const peer = await startPeer((socket) => socket.write(hint))
  const { ask, clock } = poolTo(peer.port)
  await ask('a').over
  clock.ms += 3_400
  context.mock.timers.tick(300)
  await new Promise(setImmediate)
  await ask('b').over
  assert.equal(peer.sockets.length, 1)
  clock.ms += 3_600
  context.mock.timers.tick(300)
  await new Promise(setImmediate)
  await ask('c').over
  assert.equal(peer.sockets.length, 2)
})

test('a refused connection fails at once, and a closed pool fails waiting requests', async () => {
  const peer = await startPeer(() => {})
  const { ask, pool } = poolTo(peer.port, { connections: 1 })
  const [sent, queued] = [ask('a').over, ask('b').over]
  while (peer.asked.length === 0) await new Promise(setImmediate)
  pool.close()
  await assert.rejects(sent, /closed/)
  await assert.rejects(queued, /closed/)
  await assert.rejects(ask('c').over, /closed/)
  await assert.rejects(poolTo(1).ask('x').over, { code: 'ECONNREFUSED' })
})

test('over TLS the certificate is checked, and an unknown one is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-tls-'))
  ends.push(() => void rm(folder, { recursive: true, force: true }))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const made = [
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    key,
    '-out',
    cert,
  ]
  await run('openssl', ['req', ...made, ...subject])
  const program = join(folder, 'ask.ts')
  const pool = JSON.stringify(join(import.meta.dirname, 'pool.ts'))
  await writeFile(
    program,
    `import { readFileSync } from 'node:fs'
     import { createServer } from 'node:tls'
     import { createPool } from ${pool}
     const pem = (name: string) => readFileSync(new URL(name, import.meta.url))
     const server = createServer({ key: pem('key.pem'), cert: pem('cert.pem') }, (socket) => {
       socket.on('error', () => {}).on('data', () => socket.write(${JSON.stringify(OK)}))
     }).listen(0, '127.0.0.1', () => {
       const { port } = server.address() as { port: number }
       const url = 'https://localhost:' + port
       const spanMs = () => performance.now()
       const one = createPool({ url, connections: 2, idleTimeoutMs: 5_000, spanMs })
       const ask = (then: () => void) => one.send({
         head: 'POST / HTTP/1.1\\r\\n\\r\\n', body: [Buffer.from('x')], bodyBytes: 1,
         headersTimeoutMs: 5_000,
         sink: {
           head: (status) => console.log(status), data: (bytes) => console.log(String(bytes)),
           end: then, fail: (error) => { console.log((error as { code?: string }).code); then() },
         },
       })
       ask(() => ask(() => process.exit()))
     })`,
  )
  const trusting = await run(process.execPath, [program], { env: { NODE_EXTRA_CA_CERTS: cert } })
  assert.equal(trusting.stdout, '200\nok\n200\nok\n')
  const doubting = await run(process.execPath, [program], { env: {} })
  assert.match(doubting.stdout, /^(?:DEPTH_ZERO_SELF_SIGNED_CERT\n){2}$/)
})

test('a reply that arrived while the process was blocked is not overdue', async () => {
  const peer = await startPeer((socket) => {
    socket.write(OK)
    // Longer than the check's interval, and past the deadline: both are pending when the process
    // goes on.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
    clock.ms += 60_001
  })
  const { ask, clock } = poolTo(peer.port)
  assert.deepEqual(await ask('a').over, { status: 200, body: 'ok' })
})
