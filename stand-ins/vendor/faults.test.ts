// Faults on request: every fault does what its name says, and the record shows what happened.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ask, assemble, eventsIn, jsonOf, question } from './ask.ts'
import { isObject } from './json.ts'
import { startVendor, type Vendor } from './vendor.ts'

let vendor: Vendor
before(async () => {
  vendor = await startVendor({ seed: 'faults' })
})
beforeEach(() => {
  vendor.mode()
  vendor.clear()
})
after(() => vendor.close())

const streaming = { ...question, stream: true }
const stream = (fault: string, reply = 'thinking 3 unicode 12') =>
  ask(vendor, { body: streaming, reply, fault })
const typesOf = (bytes: Buffer) => eventsIn(bytes).map((event) => event.type)
const contentOf = (bytes: Buffer) => assemble(bytes).content
const last = () => {
  const received = vendor.requests.at(-1)
  assert.ok(received)
  return received
}

for (const status of [400, 401, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504, 529]) {
  test(`status ${status} has the vendor's shape and the retry hints asked for`, async () => {
    const hints = 'retry-after=3 should-retry=false'
    const plain = await ask(vendor, { fault: `status=${status}` })
    const hinted = await ask(vendor, { body: streaming, fault: `status=${status} ${hints}` })
    assert.deepEqual([plain.status, plain.headers['retry-after']], [status, undefined])
    assert.deepEqual(
      [hinted.status, hinted.headers['retry-after'], hinted.headers['x-should-retry']],
      [status, '3', 'false'],
    )
    assert.equal(jsonOf(plain).type, 'error')
  })
}

for (const fault of [
  'chunk=1',
  'chunk=random seed=5',
  'crlf',
  'comments',
  'pings',
  'pace-ms=1',
  'unknown-field',
  'double-delta',
  'usage-in-start',
]) {
  test(`${fault} leaves the message of a stream intact`, async () => {
    const honest = await stream('')
    const odd = await stream(fault)
    assert.notDeepEqual([odd.bytes, odd.chunks], [honest.bytes, honest.chunks])
    assert.deepEqual(contentOf(odd.bytes), contentOf(honest.bytes))
  })
}

test('one-byte chunks arrive one byte at a time', async () => {
  const odd = await stream('chunk=1', 'text 2')
  assert.equal(odd.chunks, odd.bytes.length)
})

test('CR LF ends every line, comments stand between events, names can be missing', async () => {
  const crlf = (await stream('crlf')).bytes.toString()
  assert.equal(crlf.split('\r\n').length, crlf.split('\n').length)
  assert.match((await stream('comments')).bytes.toString(), /^: stand-in comment\n\nevent: /)
  assert.doesNotMatch((await stream('no-event-line')).bytes.toString(), /^event:/m)
})

test('unrequested compression covers plain replies, streams and errors', async () => {
  const plain = await ask(vendor, { reply: 'text 5', fault: 'gzip' })
  assert.equal(plain.headers['content-encoding'], 'gzip')
  assert.equal(JSON.parse(gunzipSync(plain.bytes).toString()).type, 'message')
  const streamed = await stream('gzip')
  assert.deepEqual(contentOf(gunzipSync(streamed.bytes)), contentOf((await stream('')).bytes))
  const error = await ask(vendor, { fault: 'gzip status=529' })
  assert.equal(JSON.parse(gunzipSync(error.bytes).toString()).error.type, 'overloaded_error')
})

for (const [fault, brokenBy] of [
  ['reset-at', 'ECONNRESET'],
  ['fin-at', 'ECONNRESET'],
  ['end-at', null],
] as const) {
  test(`${fault} ends the body at exactly that byte`, async () => {
    for (const at of [0, 1, 700]) {
      const cut = await stream(`${fault}=${at}`)
      assert.deepEqual([cut.bytes.length, cut.brokenBy], [at, brokenBy])
      assert.deepEqual([last().outcome, last().bytesSent], ['cut', at])
      assert.equal(last().isMessageStopSent, false)
    }
    const plain = await ask(vendor, { fault: `${fault}=10` })
    assert.deepEqual([plain.bytes.length, plain.brokenBy], [10, brokenBy])
  })
}

test('a dropped connection gives no answer at all', async () => {
  await assert.rejects(ask(vendor, { fault: 'drop' }), { code: 'ECONNRESET' })
  assert.equal(last().outcome, 'cut')
})

test('an error event ends a stream after the events before it', async () => {
  const { bytes } = await stream('error-after=3 error-type=api_error')
  const events = eventsIn(bytes)
  assert.equal(events.length, 4)
  assert.equal(Object(events[3]?.error).type, 'api_error')
  assert.equal(last().isMessageStopSent, false)
  assert.deepEqual(typesOf((await stream('error-after=0')).bytes), ['error'])
})

test('usage can be absent, impossible or only at the start', async () => {
  const absent = eventsIn((await stream('no-usage')).bytes)
  assert.ok(absent.every((event) => !JSON.stringify(event).includes('usage')))
  assert.equal(jsonOf(await ask(vendor, { fault: 'no-usage' })).usage, undefined)
  const claimed = jsonOf(await ask(vendor, { fault: 'usage=123456789' })).usage
  assert.deepEqual(
    [Object(claimed).input_tokens, Object(claimed).output_tokens],
    [123456789, 123456789],
  )
  const early = eventsIn((await stream('usage-in-start', 'text 9')).bytes)
  assert.equal(Object(Object(early[0]?.message).usage).output_tokens, 9)
  assert.equal(early.find((event) => event.type === 'message_delta')?.usage, undefined)
})

test('unknown and doubled events stand where the grammar allows them', async () => {
  assert.equal(typesOf((await stream('unknown-event')).bytes)[1], 'future_event')
  const doubled = eventsIn((await stream('double-delta', 'text 9')).bytes)
  const counts = doubled.flatMap((event) =>
    event.type === 'message_delta' && isObject(event.usage) ? [event.usage.output_tokens] : [],
  )
  assert.deepEqual(counts, [1, 9])
})

test('a huge reply has exactly the size asked for and ignores max_tokens', async () => {
  for (const body of [question, streaming]) {
    const { bytes } = await ask(vendor, { body: { ...body, max_tokens: 1 }, fault: 'huge=1000000' })
    const message = body === streaming ? assemble(bytes) : JSON.parse(bytes.toString())
    assert.equal(message.content[0].text.length, 1_000_000)
    assert.equal(message.usage.output_tokens, 125_000)
  }
})

test('an answer can be HTML, empty, or repeat the upstream key', async () => {
  const html = await ask(vendor, { fault: 'html status=503' })
  assert.deepEqual([html.status, html.headers['content-type']], [503, 'text/html'])
  const empty = await ask(vendor, { fault: 'empty' })
  assert.deepEqual([empty.status, empty.bytes.length], [200, 0])
  const echo = await ask(vendor, { fault: 'echo-key status=500' })
  assert.equal(echo.status, 500)
  assert.ok(echo.bytes.includes(vendor.keys[0] ?? 'none'))
})

test('a connection is closed after the reply when asked, else kept', async () => {
  assert.equal((await ask(vendor, { fault: 'close' })).headers.connection, 'close')
  assert.equal((await ask(vendor)).headers.connection, 'keep-alive')
})

test('silence lasts until the client disconnects, and the record says when', async () => {
  const left = await ask(vendor, {
    body: streaming,
    reply: 'text 30',
    fault: 'silence-after=5',
    leaveAfterBytes: 400,
  })
  assert.ok(left.brokenBy)
  await vendor.until((all) => all.at(-1)?.outcome === 'aborted')
  assert.equal(last().events, 5)
  assert.equal(last().isMessageStopSent, false)
  assert.ok(last().clientGoneAt)
  assert.equal(last().usage?.output_tokens, 30)
  assert.equal(vendor.counts.aborted, 1)
})

test('pings fill silences and slow paces', async () => {
  const { bytes } = await stream('silence-after=2 silence-ms=20 ping-ms=5', 'text 3')
  assert.ok(typesOf(bytes).filter((type) => type === 'ping').length >= 4)
  assert.equal(assemble(bytes).stop_reason, 'end_turn')
})

test('late headers do not come before their time', async () => {
  const startedAt = performance.now()
  await ask(vendor, { fault: 'headers-ms=30' })
  assert.ok(performance.now() - startedAt >= 29)
})

test('hundreds of paced streams run side by side and all end well', async () => {
  const asked = await Promise.all(Array.from({ length: 300 }, () => stream('pace-ms=5', 'text 5')))
  for (const { bytes } of asked) assert.equal(assemble(bytes).stop_reason, 'end_turn')
  await vendor.until(() => vendor.counts.finished === 300)
})

test('faults in the text of a message work through any client', async () => {
  const content = 'Hello [[fault: status=529 message="so {busy}, wait"]] there'
  const asked = await ask(vendor, { body: { ...question, messages: [{ role: 'user', content }] } })
  assert.equal(asked.status, 529)
  assert.equal(Object(jsonOf(asked).error).message, 'so {busy}, wait')
})

test('a mode applies to the next requests of one key, and no others', async () => {
  const [one = '', two = ''] = vendor.keys
  vendor.mode({ fault: 'status=429', key: one, times: 2 }, { reply: 'say "mode"' })
  const statuses = []
  for (const key of [one, two, one, one]) {
    statuses.push((await ask(vendor, { headers: { 'x-api-key': key } })).status)
  }
  assert.deepEqual(statuses, [429, 200, 429, 200])
  assert.match((await ask(vendor)).bytes.toString(), /"text":"mode"/)
})

test('the control API switches modes and shows what was received, byte for byte', async () => {
  const control = (path: string, method: string, body = '') =>
    ask(vendor, { path: `/_stand-in/${path}`, method, body })
  await control('mode', 'POST', '{"fault":"status=503","times":1}')
  const body = '{"model": "x",  "n": 1.0, "big": 9007199254740993, "s": "\\u00e9\\ud800 é"}'
  assert.equal((await ask(vendor, { body, headers: { 'X-Odd-Case': 'Yes' } })).status, 503)
  const shown = jsonOf(await control('requests?bodies=true', 'GET'))
  assert.ok(Array.isArray(shown.requests))
  const [first] = shown.requests
  assert.equal(Buffer.from(first.bodyBase64, 'base64').toString(), body)
  assert.ok(first.rawHeaders.includes('X-Odd-Case'))
  assert.deepEqual(last().body, Buffer.from(body))
  assert.equal(Object(shown.counts).finished, 1)
  await control('requests', 'DELETE')
  assert.equal(vendor.requests.length, 0)
  assert.equal((await control('mode', 'POST', '{"fault":"nonsense"}')).status, 400)
})

test('the record keeps the newest requests and drops the oldest bodies', async () => {
  const small = await startVendor({ requestsMax: 3, bodyBytesMax: 250 })
  try {
    for (let count = 0; count < 5; count += 1) await ask(small)
    assert.deepEqual(
      small.requests.map((received) => received.number),
      [3, 4, 5],
    )
    assert.deepEqual(
      small.requests.map((received) => received.body !== null),
      [false, true, true],
    )
    assert.equal(small.counts.received, 5)
  } finally {
    await small.close()
  }
})
