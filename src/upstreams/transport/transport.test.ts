// Connections to an upstream, through our own client and through undici: which are reused, which
// are closed, what is sent again, and that no request gets the reply of another.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import {
  carriers,
  closePeers,
  OK,
  startPeer,
  transportTo,
} from '../../../test/support/transport-peer.ts'
import { LostReply } from '../port.ts'

after(closePeers)

for (const carrier of carriers) {
  describe(carrier, () => {
    test('consecutive requests share a connection', async () => {
      const peer = await startPeer((socket) => socket.write(OK))
      const { ask } = transportTo(peer.port, carrier)
      for (const name of ['a', 'b', 'c']) {
        assert.deepEqual(await ask(name).over, { status: 200, body: 'ok' })
      }
      assert.equal(peer.sockets.length, 1)
      assert.match(peer.asked[1]?.text ?? '', /^POST \/b HTTP\/1\.1\r\n.*\r\n\r\nb$/s)
    })

    test('opens no more connections than allowed; other requests wait in order', async () => {
      const waiting: Socket[] = []
      const peer = await startPeer((socket) => void waiting.push(socket))
      const { ask } = transportTo(peer.port, carrier, { connections: 2 })
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
      const { ask } = transportTo(peer.port, carrier)
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
      const { ask } = transportTo(peer.port, carrier)
      assert.equal((await ask('a').over).body, 'ok')
      assert.equal((await ask('b').over).body, 'until the end')
      assert.equal((await ask('c').over).body, 'ok')
      assert.equal(peer.sockets.length, 3)
    })

    test('a reply that is cut or malformed fails its request and no other', async () => {
      const peer = await startPeer((socket, text) => {
        if (text.startsWith('POST /cut'))
          socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel')
        else if (text.startsWith('POST /odd')) socket.write('what?\r\n\r\n')
        else if (text.startsWith('POST /more')) socket.write(`${OK}HTTP/1.1 200 OK`)
        else socket.write(OK)
      })
      const { ask } = transportTo(peer.port, carrier)
      for (const name of ['cut', 'odd']) await assert.rejects(ask(name).over, name)
      // undici takes the first reply, our client none; neither uses the connection again.
      await ask('more').over.catch(() => undefined)
      assert.equal((await ask('well').over).body, 'ok')
      assert.equal(peer.sockets.length, 4)
    })

    test('closes a connection that sends bytes without a request', async () => {
      const peer = await startPeer((socket) => socket.write(OK))
      const { ask } = transportTo(peer.port, carrier)
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
      after(() => server.close())
      const { ask } = transportTo((server.address() as { port: number }).port, carrier)
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
      const { ask } = transportTo(peer.port, carrier)
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
      const { ask } = transportTo(peer.port, carrier)
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

    test('a refused connection fails at once, a closed transport all that wait', async () => {
      const peer = await startPeer(() => {})
      const { ask, transport } = transportTo(peer.port, carrier, { connections: 1 })
      const [sent, queued] = [ask('a').over, ask('b').over]
      while (peer.asked.length === 0) await new Promise(setImmediate)
      transport.close()
      await assert.rejects(sent, /closed/)
      await assert.rejects(queued, /closed/)
      await assert.rejects(ask('c').over, /closed/)
      await assert.rejects(transportTo(1, carrier).ask('x').over, { code: 'ECONNREFUSED' })
    })

    const real = { spanMs: () => performance.now() }
    /** Both carriers check their deadlines at least twice in this time. */
    const SHORT_MS = 300

    test('a connection that fails before the last byte was sent is replaced, once', async () => {
      let connections = 0
      const server = createServer((socket) => {
        connections += 1
        socket.on('error', () => {})
        socket.once('data', () => socket.resetAndDestroy())
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      after(() => server.close())
      const { ask } = transportTo((server.address() as { port: number }).port, carrier)
      const failed = await ask('large', [Buffer.alloc(8_000_000)]).over.catch((error) => error)
      assert.ok(failed instanceof Error && !(failed instanceof LostReply), String(failed))
      assert.equal(connections, 2)
    })

    test('a request that was cut off in its body succeeds on the new connection', async () => {
      const peer = await startPeer((socket) => socket.write(OK))
      const { ask } = transportTo(peer.port, carrier)
      const asked = ask('large', [Buffer.alloc(8_000_000, 'x')])
      while (peer.sockets.length === 0) await new Promise(setImmediate)
      peer.sockets[0]?.resetAndDestroy()
      assert.deepEqual(await asked.over, { status: 200, body: 'ok' })
      assert.equal(peer.asked.length, 1)
      assert.equal(peer.sockets.length, 2)
    })

    for (const [how, leave] of [
      ['reset', (socket: Socket) => socket.resetAndDestroy()],
      ['closed', (socket: Socket) => socket.end()],
      ['closed in the head', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
    ] as const) {
      test(`is not sent again once its last byte was sent: the connection is ${how}`, async () => {
        const peer = await startPeer(leave)
        const { ask } = transportTo(peer.port, carrier)
        const lost = await ask('a').over.catch((error: unknown) => error)
        assert.ok(lost instanceof LostReply && !lost.isOverdue, String(lost))
        assert.equal(peer.asked.length, 1)
      })
    }

    test('an upstream that gives no status in time has perhaps accepted the request', async () => {
      const peer = await startPeer(() => {})
      const { ask } = transportTo(peer.port, carrier, { ...real, headersTimeoutMs: SHORT_MS })
      const lost = await ask('a').over.catch((error: unknown) => error)
      assert.ok(lost instanceof LostReply && lost.isOverdue, String(lost))
      assert.equal(peer.asked.length, 1)
    })

    test('an upstream that goes silent within a reply fails the request', async () => {
      const part = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nh'
      const peer = await startPeer((socket) => socket.write(part))
      const { ask } = transportTo(peer.port, carrier, { ...real, idleTimeoutMs: SHORT_MS })
      const failed = await ask('a').over.catch((error: unknown) => error)
      assert.ok(failed instanceof Error && !(failed instanceof LostReply), String(failed))
    })

    test('closes an idle connection before the upstream would', async () => {
      const hint = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 2\r\n\r\nok'
      const peer = await startPeer((socket) => socket.write(hint))
      const { ask } = transportTo(peer.port, carrier, real)
      await ask('a').over
      await ask('b').over
      assert.equal(peer.sockets.length, 1)
      const fromMs = performance.now()
      await once(peer.sockets[0] as Socket, 'close')
      assert.ok(performance.now() - fromMs < 1_900)
      await ask('c').over
      assert.equal(peer.sockets.length, 2)
    })

    test('an old connection takes no further request', async () => {
      const peer = await startPeer((socket) => socket.write(OK))
      const { ask } = transportTo(peer.port, carrier, { ...real, connectionMaxAgeMs: SHORT_MS })
      await ask('a').over
      await new Promise((resolve) => setTimeout(resolve, 2 * SHORT_MS))
      await ask('b').over
      assert.equal(peer.sockets.length, 2)
    })

    test('notices that an idle connection was closed before it writes to it', async () => {
      const peer = await startPeer((socket) => socket.write(OK))
      const { ask, clock } = transportTo(peer.port, carrier)
      await ask('a').over
      clock.ms += 2_000
      // Our side has not read the end yet when the next request comes.
      peer.sockets[0]?.destroy()
      assert.deepEqual(await ask('b').over, { status: 200, body: 'ok' })
      assert.equal(peer.sockets.length, 2)
    })

    test('a request without a connection waits for a limited time, in limited number', async () => {
      const peer = await startPeer(() => {})
      const limits = { connections: 1, waitingMax: 1, queueTimeoutMs: SHORT_MS }
      const { ask } = transportTo(peer.port, carrier, { ...real, ...limits })
      ask('a')
      const [waiting, second] = [ask('b').over, ask('c').over]
      await assert.rejects(second, { code: 'waiting_exhausted' })
      await assert.rejects(waiting, { code: 'waiting_exhausted' })
      assert.equal(peer.asked.length, 1)
    })

    test('a request that waited is sent with the credential of that moment', async () => {
      const peer = await startPeer((socket) => void setImmediate(() => socket.write(OK)))
      const used = { secret: 'old' }
      const secret = () => used.secret
      const { ask } = transportTo(peer.port, carrier, { connections: 1, secret })
      const asked = [ask('a').over, ask('b').over]
      used.secret = 'new'
      await Promise.all(asked)
      const secrets = peer.asked.map(({ text }) => /x-api-key: (\w+)/.exec(text)?.[1])
      assert.deepEqual(secrets, ['old', 'new'])
    })

    test('a request that is aborted while it connects is never sent', async () => {
      const peer = await startPeer((socket) => socket.write(OK))
      const { ask } = transportTo(peer.port, carrier)
      const { call } = ask('a')
      call.abort()
      await ask('b').over
      assert.deepEqual(
        peer.asked.map(({ text }) => text.slice(6, 7)),
        ['b'],
      )
    })
  })
}

test('a reply that arrived while the process was blocked is not overdue', async () => {
  const peer = await startPeer((socket) => {
    socket.write(OK)
    // Longer than the check's interval, and past the deadline: both are pending when the process
    // goes on.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
    clock.ms += 60_001
  })
  const { ask, clock } = transportTo(peer.port, 'direct')
  assert.deepEqual(await ask('a').over, { status: 200, body: 'ok' })
})

test('no wait for a status exceeds the deadline, however long the request was queued', async () => {
  const waiting: Socket[] = []
  const peer = await startPeer((socket) => void waiting.push(socket))
  const { ask, clock } = transportTo(peer.port, 'direct', { connections: 1 })
  const [first, second] = ['a', 'b'].map((name) => ask(name, undefined, 1n, 50_000))
  const received = async () => {
    while (waiting.length === 0) await new Promise(setImmediate)
    return waiting.shift()
  }
  const socket = await received()
  clock.ms = 40_000
  socket?.write(OK)
  await first?.over
  await received()
  clock.ms = 50_001
  // Much longer than the interval in which deadlines are checked.
  const late = new Promise((resolve) => setTimeout(resolve, 2_000, 'it still waits'))
  const outcome = await Promise.race([second?.over.catch((error: unknown) => error), late])
  assert.ok(outcome instanceof LostReply && outcome.isOverdue, String(outcome))
})
