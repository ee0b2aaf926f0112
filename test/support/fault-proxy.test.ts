// Tests of the proxy that plays faults of a network, with an echoing server behind it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

const sockets = new Set<Socket>()
const server = createServer((socket) => {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  socket.on('error', () => undefined)
  socket.pipe(socket)
})
let proxy: FaultProxy

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy = await startFaultProxy((server.address() as AddressInfo).port)
})
afterEach(() => proxy.heal())
after(async () => {
  await proxy.end()
  server.close()
})

/** Connects and waits until the server echoes, so that both sides are open. */
async function open() {
  const socket = connect(proxy.port, '127.0.0.1')
  const got: string[] = []
  socket.on('error', () => undefined)
  socket.setEncoding('utf8').on('data', (text: string) => got.push(text))
  socket.write('.')
  await once(socket, 'data')
  got.length = 0
  return { socket, text: () => got.join('') }
}

async function until(condition: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 5_000; !condition(); ) {
    assert.ok(performance.now() < deadline, 'it happens within five seconds')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('delays bytes, and keeps their order when the latency ends', async () => {
  const { socket, text } = await open()
  proxy.play({ kind: 'latency', ms: 200 })
  socket.write('first ')
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(text(), '')
  proxy.heal()
  socket.write('second')
  await until(() => text().endsWith('second'))
  assert.equal(text(), 'first second')
  socket.destroy()
})

test('passes nothing through a black hole, and resets both sides when it ends', async () => {
  const { socket, text } = await open()
  proxy.play({ kind: 'black-hole' })
  socket.write('lost')
  socket.destroy()
  await once(socket, 'close')
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(text(), '')
  // The server has not learned that its client has gone.
  assert.equal(sockets.size, 1)
  proxy.heal()
  await until(() => sockets.size === 0)
})

test('resets open connections and new ones', async () => {
  const { socket } = await open()
  proxy.play({ kind: 'reset' })
  await until(() => socket.destroyed)
  const late = connect(proxy.port, '127.0.0.1')
  const [error] = await once(late, 'error')
  assert.equal(error.code, 'ECONNRESET')
})

test('ends only the direction towards the server when it half-closes', async () => {
  const { socket, text } = await open()
  socket.write('said before')
  await until(() => text() !== '')
  proxy.play({ kind: 'half-close' })
  await once(socket, 'end')
  assert.equal(text(), 'said before')
  socket.destroy()
})
