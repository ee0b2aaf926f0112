// The memory that request bodies share: only bytes that have arrived count, an account alone may
// use all of it but keeps no other from its share, and every body returns what it took once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '../../../src/platform/clock.ts'
import { type Account, createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { type Client, createClient, question, refusalOf } from './client.ts'

const MB = 1_000_000
const PATHS = ['/v1/messages', '/v1/messages/count_tokens']

let gateway: TestGateway
const logLines: string[] = []
const clients: Client[] = []
const sockets: Socket[] = []
/** Each test comes minutes after the one before: its accounts no longer count. */
const later = { ms: 0 }
before(async () => {
  // Up to 30 MB no account is limited.
  const clock = { ...systemClock, spanMs: () => systemClock.spanMs() + later.ms }
  gateway = await createTestGateway({ waitBytesMax: 40 * MB, logLines, clock })
})
beforeEach(async () => {
  await inMemory(0)
  later.ms += 120_000
  logLines.length = 0
})
afterEach(() => {
  for (const client of clients.splice(0)) client.end()
  for (const socket of sockets.splice(0)) socket.destroy()
})
after(() => gateway.end())

/** Waits, at most 5 s, until the bodies in memory have `bytes` bytes. */
async function inMemory(bytes: number): Promise<void> {
  let read = Number.NaN
  for (let i = 0; i < 500; i++) {
    read = await gateway.metric('gateway_body_bytes')
    if (read === bytes) return
    await wait(10)
  }
  assert.fail(`bodies take ${read} bytes, not ${bytes}`)
}

async function customer(credits = 0, at = gateway) {
  const account = await at.account(credits)
  const client = createClient(at.url, account.key)
  clients.push(client)
  return { ...account, ...client }
}

/** Sends `bytes` of a body and then nothing more; `announced` is its content-length. */
async function sendPart({ key }: Account, bytes: number, announced: number, path = PATHS[0]) {
  return sendPartTo(gateway.port, { key, bytes, announced, path })
}

async function sendPartTo(
  port: number,
  part: { key: string; bytes: number; announced: number; path: string | undefined },
): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  const head = [`POST ${part.path} HTTP/1.1`, 'host: gateway', `x-api-key: ${part.key}`]
  const more = [`content-length: ${part.announced}`, 'content-type: application/json']
  socket.write([...head, ...more, '', ''].join('\r\n'))
  socket.write(Buffer.alloc(part.bytes, ' '))
  await once(socket, 'connect')
  return socket
}

async function answered(socket: Socket): Promise<string> {
  const [chunk] = await once(socket, 'data', { signal: AbortSignal.timeout(5_000) })
  return String(chunk)
}

/** A body of about `bytes` bytes: the gateway must read all of it before it can refuse it. */
const bodyOf = (bytes: number) => question('x'.repeat(bytes - 100))

for (const path of PATHS) {
  test(`silent sockets that announce large bodies block no other client: ${path}`, async () => {
    // The default of gateway.waitBytesMax: 16 of the largest bodies.
    const fresh = await createTestGateway({ waitBytesMax: 512 * 2 ** 20 })
    try {
      const silent = await customer(0, fresh)
      const other = await customer(1_000_000, fresh)
      // Both keys are in the key cache from here on: the rest of the test is only about bodies.
      for (const { ask } of [silent, other]) await ask({ body: question() })
      const part = { key: silent.key, bytes: 1, announced: 2 ** 25, path }
      await Promise.all(Array.from({ length: 20 }, () => sendPartTo(fresh.port, part)))
      for (let i = 0; i < 10; i++) {
        const { status } = await other.ask({ body: question() })
        assert.equal(status, 200)
        await wait(20)
      }
      assert.equal(await fresh.metric('gateway_body_bytes'), 20)
    } finally {
      await fresh.end()
    }
  })

  test(`an account alone may use all of it: ${path}`, async () => {
    const alone = await customer()
    for (let i = 1; i <= 4; i++) {
      await sendPart(alone, 9.5 * MB, 9.6 * MB, path)
      await inMemory(i * 9.5 * MB)
    }
    const { status } = await alone.ask({ path, body: bodyOf(1.9 * MB) })
    assert.notEqual(status, 529)
  })

  test(`the last quarter is for accounts within their share: ${path}`, async () => {
    const [large, other] = [await customer(), await customer()]
    const first = await sendPart(large, 21 * MB, 32 * MB, path)
    await inMemory(21 * MB)
    await sendPart(other, 8 * MB, 9 * MB, path)
    await inMemory(29 * MB)
    first.write(Buffer.alloc(2 * MB, ' '))
    assert.match(await answered(first), /^HTTP\/1\.1 529 .*of this account/s)
    // The 21 MB were returned once.
    await inMemory(8 * MB)
    const { status } = await other.ask({ path, body: bodyOf(11 * MB) })
    assert.notEqual(status, 529)
  })

  test(`when all is in use, the heaviest account loses its largest body: ${path}`, async () => {
    const [large, other] = [await customer(), await customer(1_000_000)]
    const sockets = [await sendPart(large, 8 * MB, 9 * MB, path)]
    await inMemory(8 * MB)
    sockets.push(await sendPart(large, 19 * MB, 20 * MB, path))
    await inMemory(27 * MB)
    sockets.push(await sendPart(large, 12 * MB, 13 * MB, path))
    await inMemory(39 * MB)
    const [, largest] = sockets as [Socket, Socket, Socket]
    const lost = answered(largest)
    const { status } = await other.ask({ path, body: bodyOf(3 * MB) })
    assert.notEqual(status, 529)
    const answer = await lost
    assert.match(answer, /^HTTP\/1\.1 529 .*of this account/s)
    assert.match(answer, /^retry-after: 2\r$/m)
    await inMemory(20 * MB)
  })
}

test('a body sent in chunks counts in the same way', async () => {
  const { key } = await customer()
  const socket = connect(gateway.port, '127.0.0.1')
  sockets.push(socket)
  const head = ['POST /v1/messages HTTP/1.1', 'host: gateway', 'transfer-encoding: chunked']
  const more = [`x-api-key: ${key}`, 'content-type: application/json']
  socket.write([...head, ...more, '', MB.toString(16), ''].join('\r\n'))
  socket.write(Buffer.alloc(MB, ' '))
  await inMemory(MB)
})

test('a body stays counted while its request waits for the upstream', async () => {
  const { send } = await customer(1_000_000)
  const body = question(`${'x'.repeat(300_000)} [[fault: headers-ms=400]]`)
  const sent = send({ body })
  await inMemory(Buffer.byteLength(body))
  const { status } = await sent.answer
  assert.equal(status, 200)
  await inMemory(0)
})

test('a client that disconnects while its key is checked returns its bytes', async () => {
  // A new key: the gateway does not check a key that it has cached.
  const socket = await sendPart(await customer(), 50_000, 16 * MB)
  socket.resetAndDestroy()
  const isLogged = () => logLines.some((line) => line.includes('"ending":"client_left"'))
  for (let i = 0; i < 500 && !isLogged(); i++) await wait(10)
  assert.ok(isLogged(), 'the request ended')
  await inMemory(0)
})

test('refuses an account beyond its share, and no small body: body_bytes_exhausted', async () => {
  for (let i = 1; i <= 4; i++) {
    await sendPart(await customer(), 9.5 * MB, 9.6 * MB)
    await inMemory(i * 9.5 * MB)
  }
  // A fifth of 40 MB is its share.
  const { ask } = await customer(1_000_000)
  const answer = await ask({ body: bodyOf(8.5 * MB) })
  assert.equal(answer.status, 529)
  assert.match(refusalOf(answer).error.message, /^The requests of this account/)
  const small = await ask({ body: question() })
  assert.equal(small.status, 200)
})
