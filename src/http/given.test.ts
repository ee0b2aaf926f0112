// Connections that another process has accepted: they are served as accepted ones are, and their
// marks say when a request is under way.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { limits, readUntilClosed } from '../../test/support/http-listener.ts'
import { createHttpServer, type HttpOptions } from './http.ts'

const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

async function openGiver(
  t: TestContext,
  options: Partial<HttpOptions> & { isInherited?: boolean } = {},
) {
  const events: string[] = []
  const server = createHttpServer({
    limits,
    answer(_, reply) {
      events.push('answer')
      reply.begin(200, { 'content-length': 2 })
      reply.end(Buffer.from('ok'))
    },
    unparsed: () => ({ status: 400, headers: {}, body: 'no' }),
    unaccepted: (error) => assert.fail(error),
    paceDiscarded: () => undefined,
    ...options,
  })
  const giver = createServer((socket) =>
    server.take({
      socket,
      isInherited: options.isInherited ?? false,
      setBusy: () => events.push('busy'),
      setIdle: () => events.push('idle'),
    }),
  ).listen(0, '127.0.0.1')
  await once(giver, 'listening')
  t.after(() => {
    giver.close()
    server.closeAll('drained')
  })
  const { port } = giver.address() as AddressInfo
  return { server, events, port }
}

async function dial(port: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const received = readUntilClosed(socket)
  await once(socket, 'connect')
  return { socket, received }
}

test('a connection is busy before its request is answered, and idle afterwards', async (t) => {
  const { port, events } = await openGiver(t)
  const { socket, received } = await dial(port)
  for (let i = 1; i <= 2; i++) {
    socket.write(GET)
    await once(socket, 'data')
    while (events.length < 3 * i) await new Promise(setImmediate)
  }
  assert.deepEqual(events, ['busy', 'answer', 'idle', 'busy', 'answer', 'idle'])
  socket.end()
  await received
})

test('a connection that closes after its reply stays busy', async (t) => {
  const { port, events } = await openGiver(t)
  const { socket, received } = await dial(port)
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  assert.match(await received, /ok$/)
  assert.deepEqual(events, ['busy', 'answer'])
})

test('the time limit of a head holds for given connections', async (t) => {
  const { port } = await openGiver(t, { limits: { ...limits, headMs: 300 } })
  const { socket, received } = await dial(port)
  socket.write('GET / HT')
  assert.match(await received, /^HTTP\/1\.1 400/)
})

test('what a dead process left of a request is not answered', async (t) => {
  const rest = 'ntent-length: 2\r\n\r\n{}'
  const fresh = await openGiver(t)
  const own = await dial(fresh.port)
  own.socket.write(rest)
  assert.match(await own.received, /^HTTP\/1\.1 400/)
  const { port } = await openGiver(t, { isInherited: true })
  const inherited = await dial(port)
  inherited.socket.write(rest)
  assert.equal(await inherited.received, '')
})

test('a drain waits for given connections', async (t) => {
  const { port, server } = await openGiver(t)
  const { socket, received } = await dial(port)
  socket.write(GET)
  await once(socket, 'data')
  const drained = server.drain()
  socket.write(GET)
  assert.match(await received, /connection: close/i)
  await drained
})
