// Bodies of requests that are refused before they are read: the gateway reads and drops them, so
// that client libraries see the refusal, but not faster than its event loop can spare.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Anthropic } from '@anthropic-ai/sdk'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { question } from './client.ts'

const BODY_BYTES = 32_000_000
const PIECE = Buffer.alloc(1_000_000, 0x20)
/** The gateway drops at most 64 MiB of refused bodies a second. */
const DROPPED_BYTES_A_SECOND = 64 * 1_048_576
/** What the kernel's buffers of one connection take without the gateway. */
const BUFFERED_BYTES_MAX = 4_000_000

/** A connection that pushes a body at a path that does not exist, as fast as it is read. */
function push({ port }: TestGateway, t: TestContext): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  t.after(() => socket.destroy())
  socket.resume()
  socket.write(`POST /none HTTP/1.1\r\nhost: gateway\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`)
  let left = BODY_BYTES / PIECE.length
  const more = () => {
    while (left > 0) {
      left -= 1
      if (!socket.write(PIECE)) return
    }
  }
  socket.on('drain', more)
  more()
  return socket
}

async function setUp(t: TestContext): Promise<TestGateway> {
  const gateway = await createTestGateway()
  t.after(gateway.end)
  return gateway
}

/** What has left this process on the way to the gateway. */
function sentBy(sockets: readonly Socket[]): number {
  return sockets.reduce((sum, one) => sum + one.bytesWritten - one.writableLength, 0)
}

test('refused bodies are dropped at a limited rate, over all connections together', async (t) => {
  const gateway = await setUp(t)
  const fromMs = performance.now()
  const sockets = Array.from({ length: 64 }, () => push(gateway, t))
  await wait(2_000)
  const seconds = (performance.now() - fromMs) / 1_000
  const sent = sentBy(sockets)
  const sentMax = DROPPED_BYTES_A_SECOND * seconds + sockets.length * BUFFERED_BYTES_MAX
  t.diagnostic(`${Math.round(sent / 1e6)} MB in ${seconds.toFixed(1)} s`)
  assert.ok(sent <= sentMax, `${sent} of ${sentMax} bytes`)
})

test('the official library sees the refusal of a large body, also beside others', async (t) => {
  const gateway = await setUp(t)
  for (let i = 0; i < 8; i++) push(gateway, t)
  const client = new Anthropic({ baseURL: gateway.url, apiKey: 'sk-vendor-no', maxRetries: 0 })
  const large = JSON.parse(question('x'.repeat(BODY_BYTES)))
  await assert.rejects(client.messages.create(large), (error: unknown) => {
    assert.ok(error instanceof Anthropic.AuthenticationError, String(error))
    assert.match(error.message, /authentication_error/)
    return true
  })
})

test('a body of one-byte chunks gets an error that the client can read', async (t) => {
  const gateway = await setUp(t)
  const { key } = await gateway.account(0)
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined)
  t.after(() => socket.destroy())
  const head = ['POST /v1/messages HTTP/1.1', 'host: gateway', `x-api-key: ${key}`]
  const more = ['content-type: application/json', 'transfer-encoding: chunked', '', '']
  socket.write([...head, ...more].join('\r\n'))
  socket.write('1\r\n \r\n'.repeat(1_000_000))
  const [received] = await once(socket, 'data')
  const [answer = '', body = ''] = String(received).split('\r\n\r\n')
  assert.match(answer, /^HTTP\/1\.1 400 .*\r\nconnection: close(?:\r\n|$)/s)
  const { type, error } = JSON.parse(body)
  assert.deepEqual([type, error.type], ['error', 'invalid_request_error'])
  assert.match(error.message, /too many small chunks/)
})
