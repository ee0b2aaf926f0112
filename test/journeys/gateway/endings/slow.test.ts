// A client that does not read, or reads too slowly, pays for what was generated, whichever limit
// passes while the gateway waits for it. A limit that passes while the gateway waits for the
// upstream counts as the upstream's failure, which is free.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '../../../../src/platform/clock.ts'
import { createTestGateway, type TestGateway } from '../../../stages/gateway.ts'
import {
  chunkOf,
  headOf,
  type RawUpstream,
  startRawUpstream,
} from '../../../support/raw-upstream.ts'
import { type Caller, createCaller } from '../caller.ts'
import { question } from '../client.ts'
import { chargeLine, eventsOf, priceAfterDisconnect, priceOf } from '../expected-charges.ts'

const REQUEST_SECONDS_MAX = 100
/** The gateway disconnects a client that reads nothing for a minute. */
const UNREAD_MS = 61_000

const BEGINNING = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1",',
  '"usage":{"input_tokens":9,"output_tokens":1}}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,',
  '"delta":{"type":"text_delta","text":"What the client pays for."}}\n\n',
].join('')
const END = [
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},',
  '"usage":{"output_tokens":70}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
].join('')
/** Bytes on the wire that are not output: the price does not depend on how many were passed on. */
const PADDING = `event: padding\ndata: {"type":"padding","x":"${'x'.repeat(16_000)}"}\n\n`
/** The kernel buffers of two connections hold a few megabytes. */
const POURED_BYTES_MAX = 64_000_000
const BUFFERED_BYTES_MIN = 500_000
const SLOW = chargeLine(
  'client_slow',
  priceAfterDisconnect(eventsOf(Buffer.from(BEGINNING))),
  'estimated',
)

/** What the upstream does with its one request. */
let serve: (socket: Socket) => void = () => undefined
let upstream: RawUpstream
let gateway: TestGateway
let caller: Caller
// The gateway's clock, which tests move by hand. The upstream's deadlines use the real clock.
const turned = { ms: 0 }
before(async () => {
  const clock = { ...systemClock, spanMs: () => systemClock.spanMs() + turned.ms }
  upstream = await startRawUpstream((socket) => serve(socket))
  const limits = { requestSecondsMax: REQUEST_SECONDS_MAX }
  gateway = await createTestGateway({ upstreamUrl: upstream.url, clock, limits })
})
beforeEach(async () => {
  caller = await createCaller(gateway)
})
after(async () => {
  await gateway.end()
  await upstream.close()
})

/** Sends a request and reads nothing of its reply until the socket is resumed. */
function askWithoutReading(stream: boolean, { port } = gateway, { key } = caller): Socket {
  const body = question('Hello', { stream })
  const socket = connect(port, '127.0.0.1')
  socket.pause()
  socket.on('error', () => undefined)
  const head = ['POST /v1/messages HTTP/1.1', 'host: gateway', `x-api-key: ${key}`]
  const more = ['content-type: application/json', `content-length: ${body.length}`]
  socket.write([...head, ...more, 'connection: close', '', body].join('\r\n'))
  return socket
}

/** Writes the piece for as long as the gateway reads, and then, if given, the reply's end. */
function pour(socket: Socket, piece: string, last = '') {
  const poured = { bytes: 0 }
  const chunk = chunkOf(piece)
  const more = () => {
    while (poured.bytes < POURED_BYTES_MAX) {
      poured.bytes += chunk.length
      if (!socket.write(chunk)) {
        socket.once('drain', more)
        return
      }
    }
    if (last !== '') socket.write(Buffer.concat([chunkOf(last), chunkOf('')]))
  }
  more()
  return poured
}

/** A stream that begins and then sends without a pause. */
function pouring(last = ''): Promise<{ socket: Socket; poured: { bytes: number } }> {
  return new Promise((resolve) => {
    serve = (socket) => {
      socket.write(headOf(200, 'text/event-stream'))
      socket.write(chunkOf(BEGINNING))
      resolve({ socket, poured: pour(socket, PADDING, last) })
    }
  })
}

/**
 * Resolves when nothing has been written for 300 ms: the gateway waits for its client. On a busy
 * machine it may also have had no turn for so long, but then the kernel's buffers are not full.
 */
async function stands(poured: { bytes: number }): Promise<void> {
  let before = -1
  while (poured.bytes !== before || before < BUFFERED_BYTES_MIN) {
    before = poured.bytes
    await wait(300)
  }
  assert.ok(poured.bytes < POURED_BYTES_MAX, 'the upstream has to wait')
}

/** Reads until the upstream can write again. */
async function readUntil(client: Socket, poured: { bytes: number }): Promise<void> {
  const stoodAt = poured.bytes
  // At each piece, because a timer may be late on a busy machine and then too much is read.
  const pauseWhenWritten = () => {
    if (poured.bytes > stoodAt) client.pause()
  }
  client.on('data', pauseWhenWritten)
  client.resume()
  for (let ms = 0; ms < 10_000 && poured.bytes === stoodAt; ms += 5) await wait(5)
  client.pause()
  client.off('data', pauseWhenWritten)
  assert.ok(poured.bytes > stoodAt, 'the upstream sends again')
}

/** Reads for a moment, pauses for a moment, until the check holds. */
async function readInSteps(client: Socket, isOver: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 400 && !(await isOver()); i++) {
    client.resume()
    await wait(1)
    client.pause()
    await wait(40)
  }
}

async function heldOf({ book }: Caller): Promise<bigint | undefined> {
  return (await gateway.ledger.balance(book))?.held
}

/** Collects all bytes from now on, until the connection ends. */
async function readOn(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    text = (text + part).slice(-100_000)
  })
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}

test('a limit that passes while the client does not read ends as client_slow', async () => {
  const serving = pouring()
  const client = askWithoutReading(true)
  await stands((await serving).poured)
  turned.ms += REQUEST_SECONDS_MAX * 1_000 + 1
  assert.deepEqual(await caller.statement(), [SLOW])
  assert.doesNotMatch(await readOn(client), /message_stop|nothing was charged|\r\n0\r\n\r\n$/)
})

test('a limit also ends as client_slow when the client reads a little now and then', async () => {
  const serving = pouring()
  const client = askWithoutReading(true)
  const { poured } = await serving
  for (let i = 0; i < 2; i++) {
    await stands(poured)
    turned.ms += 40_000
    await readUntil(client, poured)
  }
  await stands(poured)
  turned.ms += 20_001
  assert.deepEqual(await caller.statement(), [SLOW])
  client.destroy()
})

test('a limit that passes while the upstream is silent stays free', async () => {
  serve = (socket) => {
    socket.write(headOf(200, 'text/event-stream'))
    socket.write(chunkOf(BEGINNING))
  }
  const client = askWithoutReading(true)
  const text = readOn(client)
  await once(client, 'data')
  turned.ms += REQUEST_SECONDS_MAX * 1_000 + 1
  assert.deepEqual(await caller.statement(), ['void upstream_failed 0 it took too long'])
  assert.match(await text, /event: error\n.*nothing was charged/s)
})

test('a client that waits for a minute in total pays when the hour is over', async () => {
  const limits = { requestSecondsMax: 3_600 }
  const clock = { ...systemClock, spanMs: () => systemClock.spanMs() + turned.ms }
  const patient = await createTestGateway({ upstreamUrl: upstream.url, clock, limits })
  const reader = await createCaller(patient)
  let up: Socket | undefined
  serve = (socket) => {
    up = socket
    socket.write(headOf(200, 'text/event-stream'))
    socket.write(chunkOf(BEGINNING))
  }
  const client = askWithoutReading(true, patient, reader)
  await once(client, 'readable')
  assert.ok(up !== undefined)
  // The model takes 31 minutes; then the client keeps the gateway waiting for the other 29.
  turned.ms += 31 * 60_000
  const poured = pour(up, PADDING)
  for (let i = 0; i < 3; i++) {
    await stands(poured)
    turned.ms += 30_000
    await readUntil(client, poured)
  }
  turned.ms += 28 * 60_000
  assert.deepEqual(await reader.statement(), [SLOW])
  client.destroy()
  reader.end()
  await patient.end()
})

test('a limit stays free when the client took less than half of the waiting time', async () => {
  let up: Socket | undefined
  serve = (socket) => {
    up = socket
    socket.write(headOf(200, 'text/event-stream'))
    socket.write(chunkOf(BEGINNING))
  }
  const client = askWithoutReading(true)
  await once(client, 'readable')
  assert.ok(up !== undefined)
  turned.ms += 55_000
  await stands(pour(up, PADDING))
  turned.ms += 45_001
  assert.deepEqual(await caller.statement(), ['void upstream_failed 0 it took too long'])
  client.destroy()
})

test('a client that reads nothing for a minute is cut off and pays', async () => {
  const serving = pouring()
  const client = askWithoutReading(true)
  await stands((await serving).poured)
  turned.ms += UNREAD_MS
  assert.deepEqual(await caller.statement(), [SLOW])
  client.destroy()
})

for (const how of ['end', 'resetAndDestroy'] as const) {
  test(`an upstream that gives up meanwhile changes nothing (${how})`, async () => {
    const serving = pouring()
    const client = askWithoutReading(true)
    const { socket, poured } = await serving
    await stands(poured)
    socket[how]()
    turned.ms += UNREAD_MS
    assert.deepEqual(await caller.statement(), [SLOW])
    client.destroy()
  })
}

test('a client that then reads in small steps pays for the upstream it stalled', async () => {
  const serving = pouring()
  const client = askWithoutReading(true)
  const { socket, poured } = await serving
  await stands(poured)
  socket.end()
  turned.ms += 30_000
  // Each step is a short wait of its own; the gateway sees the upstream's end after some of them.
  await readInSteps(client, async () => (await heldOf(caller)) === 0n)
  assert.deepEqual(await caller.statement(), [SLOW])
  client.destroy()
})

test('many short waits count together when the upstream gives up', async () => {
  const serving = pouring()
  const client = askWithoutReading(true)
  const { socket, poured } = await serving
  // Three waits make the ten seconds; each round takes megabytes of the upstream's supply.
  for (let i = 0; i < 3; i++) {
    await stands(poured)
    turned.ms += 4_000
    await readUntil(client, poured)
  }
  await stands(poured)
  socket.end()
  await readInSteps(client, async () => (await heldOf(caller)) === 0n)
  assert.deepEqual(await caller.statement(), [SLOW])
  client.destroy()
})

test('an upstream that breaks off after a short wait stays free', async () => {
  const serving = pouring()
  const client = askWithoutReading(true)
  const { socket, poured } = await serving
  await stands(poured)
  socket.end()
  const text = await readOn(client)
  assert.match(text, /event: error\n.*nothing was charged/s)
  const [line = ''] = await caller.statement()
  assert.match(line, /^void upstream_failed 0 the upstream broke off/)
  client.destroy()
})

test('a client does not pay for the time in which the gateway itself stood still', async () => {
  const serving = pouring()
  const client = askWithoutReading(true)
  const { socket, poured } = await serving
  await stands(poured)
  // The event loop is blocked for longer than an upstream has to be stalled.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_500)
  socket.end()
  assert.match(await readOn(client), /event: error\n.*nothing was charged/s)
  const [line = ''] = await caller.statement()
  assert.match(line, /^void upstream_failed 0 the upstream broke off/)
})

test('a stream that waited longer than an upstream may be silent goes on to its end', async () => {
  const idleTimeoutMs = 500
  const short = await createTestGateway({ upstreamUrl: upstream.url, idleTimeoutMs })
  const reader = await createCaller(short)
  const serving = pouring(END)
  const client = askWithoutReading(true, short, reader)
  await stands((await serving).poured)
  await wait(2 * idleTimeoutMs)
  const text = readOn(client)
  const price = priceOf({ input_tokens: 9, output_tokens: 70 })
  assert.deepEqual(await reader.statement(), [chargeLine('complete', price)])
  assert.match(await text, /message_stop/)
  reader.end()
  await short.end()
})

test('a plain reply passed on in pieces is charged whole when its client is too slow', async () => {
  let poured = { bytes: 0 }
  serve = (socket) => {
    socket.write(headOf(200, 'application/json'))
    socket.write(chunkOf('{"id":"msg_2","type":"message","content":"'))
    poured = pour(socket, 'x'.repeat(16_000), '","usage":{"input_tokens":9,"output_tokens":70}}')
  }
  const client = askWithoutReading(false)
  while (poured.bytes === 0) await wait(5)
  await stands(poured)
  turned.ms += REQUEST_SECONDS_MAX * 1_000 + 1
  const price = priceOf({ input_tokens: 9, output_tokens: 70 })
  assert.deepEqual(await caller.statement(), [chargeLine('client_slow', price)])
  client.destroy()
})

for (const how of ['end', 'resetAndDestroy'] as const) {
  test(`a plain reply that the upstream gives up for a slow client is paid (${how})`, async () => {
    let up: { socket: Socket; poured: { bytes: number } } | undefined
    serve = (socket) => {
      socket.write(headOf(200, 'application/json'))
      socket.write(chunkOf('{"id":"msg_2","type":"message","content":"'))
      up = { socket, poured: pour(socket, 'x'.repeat(16_000)) }
    }
    const client = askWithoutReading(false)
    while (up === undefined) await wait(5)
    await stands(up.poured)
    up.socket[how]()
    turned.ms += 30_000
    client.resume()
    const [line = ''] = await caller.statement()
    // Megabytes of reply cost more than was held: the charge is the hold.
    assert.match(line, /^charge client_slow -\d+ estimated written off /)
    client.destroy()
  })
}

test('a plain reply in pieces that stops in the middle stays free', async () => {
  serve = (socket) => {
    socket.write(headOf(200, 'application/json'))
    socket.write(chunkOf(`{"id":"msg_2","content":"${'x'.repeat(5_000_000)}`))
  }
  const client = askWithoutReading(false)
  const text = readOn(client)
  await wait(500)
  turned.ms += REQUEST_SECONDS_MAX * 1_000 + 1
  assert.deepEqual(await caller.statement(), ['void upstream_failed 0 it took too long'])
  await text
})

test('after all slow clients every book adds up', async () => {
  assert.deepEqual(await gateway.ledger.audit('all'), [])
})
