// The gateway is drained while a reply that is charged and complete is still on its way to a client
// that reads slowly: the client gets the rest, as long as the drain lasts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createTestGateway } from '../../../stages/gateway.ts'
import { createCaller } from '../caller.ts'
import { question } from '../client.ts'

/** More than the kernel's buffers hold for a client that does not read, and sent in one write. */
const REPLY_BYTES = 4_000_000

/** A gateway with a charged reply of which the client has read nothing. */
async function setUp(t: TestContext) {
  const gateway = await createTestGateway()
  const caller = await createCaller(gateway)
  const body = question(`[[fault: huge=${REPLY_BYTES}]]`)
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined)
  t.after(async () => {
    socket.destroy()
    caller.end()
    await gateway.end()
  })
  socket.pause()
  const head = ['POST /v1/messages HTTP/1.1', 'host: gateway', `x-api-key: ${caller.key}`]
  const more = ['content-type: application/json', `content-length: ${body.length}`]
  socket.write([...head, ...more, '', body].join('\r\n'))
  while ((await caller.statement()).length === 0) await wait(10)
  const [line = ''] = await caller.statement()
  assert.match(line, /^charge complete -/)
  return { gateway, socket }
}

/** How many bytes of the reply's body arrive, and how many were announced. */
async function readBody(socket: Socket): Promise<{ received: number; announced: number }> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
  socket.resume()
  await once(socket, 'close')
  const all = Buffer.concat(chunks)
  const headBytes = all.indexOf('\r\n\r\n') + 4
  const announced = /content-length: (\d+)/i.exec(all.toString('latin1', 0, headBytes))?.[1]
  return { received: all.length - headBytes, announced: Number(announced) }
}

test('a drain does not take the end of a paid reply from a slow client', async (t) => {
  const { gateway, socket } = await setUp(t)
  const drained = gateway.drain({ idleMs: 0, limitMs: 10_000 })
  await wait(1_000) // a drain closes idle connections every 250 ms
  const { received, announced } = await readBody(socket)
  await drained
  assert.ok(announced > REPLY_BYTES)
  assert.equal(received, announced)
})

test('a client that reads nothing holds a drain up to its limit, and not longer', async (t) => {
  const { gateway, socket } = await setUp(t)
  await gateway.drain({ idleMs: 0, limitMs: 300 })
  assert.ok((await readBody(socket)).received < REPLY_BYTES)
})
