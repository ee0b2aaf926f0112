// A client that sends request after request on one connection and reads nothing: the gateway
// answers what fits into the connection's buffers, takes no further request until the client reads,
// and then answers all of them. The requests need no key.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'

// 40 KB per reply: 40 MB in all.
const REQUESTS = 1_000
const REQUEST = 'GET /openapi.json HTTP/1.1\r\nhost: gateway\r\n\r\n'
// Linux buffers at most 4 MB at the sender and 6 MB at the receiver; ours is 64 KiB and a reply.
const UNREAD_BYTES_MAX = 16_000_000

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())

const answered = () => gateway.metric('gateway_requests_total')

/** True once `count` requests are answered, false when that takes more than a second. */
async function areAnswered(count: number): Promise<boolean> {
  for (let i = 0; i < 200; i++) {
    if ((await answered()) >= count) return true
    await wait(i < 10 ? 0 : 5)
  }
  return false
}

for (const atOnce of [1, 16]) {
  test(`requests, ${atOnce} at once, wait until their client reads`, async (t) => {
    const before = await answered()
    const socket = connect({ port: gateway.port, host: '127.0.0.1', noDelay: true })
    socket.pause()
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    let sent = 0
    do {
      socket.write(REQUEST.repeat(atOnce))
      sent += atOnce
    } while (sent < REQUESTS && (await areAnswered(before + sent)))
    const unread = (await answered()) - before
    const { bytes, replies } = await readAll(socket, sent)
    const unreadBytes = (bytes / replies) * unread
    t.diagnostic(`${unread} requests were answered, ${Math.round(unreadBytes / 1_000)} KB`)
    assert.ok(unreadBytes < UNREAD_BYTES_MAX, `${unread} of ${REQUESTS} were answered unread`)
    assert.equal(replies, sent, 'all are answered in the end')
  })
}

/** Reads until every reply is there or 5 s have passed. */
async function readAll(socket: Socket, count: number): Promise<{ bytes: number; replies: number }> {
  const read = { bytes: 0, replies: 0 }
  let tail = ''
  socket.on('data', (chunk: Buffer) => {
    read.bytes += chunk.length
    const text = tail + chunk.toString('latin1')
    read.replies += text.split('HTTP/1.1 200 OK\r\n').length - 1
    // Shorter than the searched text, so that nothing is counted twice.
    tail = text.slice(-16)
  })
  socket.resume()
  for (let i = 0; i < 500 && read.replies < count; i++) await wait(10)
  return read
}
