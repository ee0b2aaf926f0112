// The upstream fails in the middle of its reply: nothing is charged, the client gets an error, and
// never sees an end that looks like a whole reply. Covers each way to break at each kind of place.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../../stages/gateway.ts'
import {
  chunkOf,
  headOf,
  type RawUpstream,
  startRawUpstream,
} from '../../../support/raw-upstream.ts'
import { createCaller } from '../caller.ts'
import { type Answer, question, refusalOf } from '../client.ts'
import { chargeLine, eventsOf, priceOf } from '../expected-charges.ts'

// Long enough for a busy machine to send two chunks, short enough to wait for.
const IDLE_MS = 700

const folder = join(import.meta.dirname, '../../../recordings')
const recording = await readFile(join(folder, 'text.sse'))
const recorded = JSON.parse(await readFile(join(folder, 'text.json'), 'utf8'))
const stop = recording.indexOf('event: message_stop')
const wholeReply = JSON.stringify({
  id: 'msg_whole',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'All of it.' }],
  usage: { input_tokens: 7, output_tokens: 3 },
})

/** Ways in which a reply can stop. */
const breaks: Record<string, (socket: Socket) => void> = {
  'a FIN': (socket) => socket.end(),
  'a reset': (socket) => socket.resetAndDestroy(),
  'a proper but early end': (socket) => socket.write('0\r\n\r\n'),
  silence: () => undefined,
}

const replies = new Map<string, (socket: Socket) => void>()
let upstream: RawUpstream
let gateway: TestGateway
before(async () => {
  upstream = await startRawUpstream((socket, { headers }) => {
    replies.get(headers.get('anthropic-reply') ?? '')?.(socket)
  })
  const timeouts = { idleTimeoutMs: IDLE_MS, headersTimeoutMs: 10_000 }
  gateway = await createTestGateway({ upstreamUrl: upstream.url, ...timeouts })
})
after(async () => {
  await gateway.end()
  await upstream.close()
})

/** Sends one request to an upstream that replies as given; returns the answer and the statement. */
async function journey(name: string, stream: boolean, reply: (socket: Socket) => void) {
  replies.set(name, reply)
  const caller = await createCaller(gateway)
  const asking = { body: question('Hello', { stream }), headers: { 'anthropic-reply': name } }
  const answer = await caller.ask(asking)
  const statement = await caller.statement()
  const requests = await caller.requestCount()
  caller.end()
  return { answer, statement, requests }
}

function assertToldInStream(answer: Answer, upTo: number): void {
  assert.equal(answer.status, 200)
  assert.equal(answer.brokenBy, null)
  const records = answer.bytes.toString().split(/\n{2,}/)
  assert.equal(records.pop(), '', 'the last record is closed')
  const last = records.pop() ?? ''
  assert.match(last, /^event: error\ndata: \{/)
  const told = JSON.parse(last.slice('event: error\ndata: '.length))
  assert.equal(told.error.type, 'api_error')
  assert.match(told.error.message, /nothing was charged/)
  assert.equal(told.request_id, answer.headers['request-id'])
  assert.doesNotMatch(answer.bytes.toString(), /message_stop/)
  // Before the error come the upstream's bytes, unaltered. Only the last line may be missing, and
  // message_stop, which the gateway never begins to send before the charge.
  const passed = answer.bytes.subarray(0, answer.bytes.length - Buffer.byteLength(last) - 2)
  const ours = passed.subarray(0, upTo)
  const common = recording.subarray(0, ours.length).equals(ours) ? ours.length : ours.length - 2
  assert.deepEqual(ours.subarray(0, common), recording.subarray(0, common))
  const lastLine = recording.subarray(0, Math.min(upTo, stop)).lastIndexOf('\n') + 1
  assert.ok(common >= lastLine, `${common} of ${upTo} bytes were passed on`)
}

describe('a stream that breaks is free and ends with an error event', { concurrency: true }, () => {
  const delta = recording.indexOf('event: content_block_delta')
  const places: Record<string, number> = {
    'before its first byte': 0,
    'inside its first word': 3,
    'inside message_start': 200,
    'between two records': delta,
    'inside an event line': delta + 12,
    'inside a data line': delta + 80,
    'between event and data line': delta + 'event: content_block_delta\n'.length,
    'before message_delta': recording.indexOf('event: message_delta'),
    'before message_stop': stop,
    'inside message_stop': stop + 9,
    'before the last line end of message_stop': recording.length - 1,
  }
  for (const [where, at] of Object.entries(places)) {
    for (const [how, broken] of Object.entries(breaks)) {
      test(`${how} ${where}`, async () => {
        const name = `${how} ${at}`
        const { answer, statement, requests } = await journey(name, true, (socket) => {
          socket.write(headOf(200, 'text/event-stream'))
          if (at > 0) socket.write(chunkOf(recording.subarray(0, at)))
          setImmediate(() => broken(socket))
        })
        assertToldInStream(answer, at)
        assert.equal(statement.length, 1)
        assert.match(statement[0] ?? '', /^void upstream_failed 0 the upstream /)
        assert.equal(requests, 0)
      })
    }
  }

  for (const after of [0, 1, 3]) {
    test(`an error event after ${after} events is passed on with our request id`, async () => {
      const records = recording.toString().split('\n\n').slice(0, after)
      const error = 'event: error\ndata: {"type":"error","error":{"type":"odd","message":"so"}}'
      const sent = `${[...records, error].join('\n\n')}\n\n`
      const { answer, statement } = await journey(`error ${after}`, true, (socket) => {
        socket.write(headOf(200, 'text/event-stream'))
        socket.write(chunkOf(sent))
      })
      assert.equal(answer.brokenBy, null)
      const id = `,"request_id":"${answer.headers['request-id']}"}\n\n`
      assert.equal(answer.bytes.toString(), sent.replace(/\}\n\n$/, id))
      assert.deepEqual(statement, ['void upstream_failed 0 the upstream reported an error'])
    })
  }

  for (const [how, broken] of Object.entries(breaks)) {
    test(`${how} after all of message_stop changes nothing`, async () => {
      const { answer, statement } = await journey(`whole, ${how}`, true, (socket) => {
        socket.write(headOf(200, 'text/event-stream'))
        socket.write(chunkOf(recording))
        setImmediate(() => broken(socket))
      })
      assert.equal(answer.brokenBy, null)
      assert.deepEqual(answer.bytes, recording)
      assert.equal(eventsOf(answer.bytes).at(-1)?.type, 'message_stop')
      assert.deepEqual(statement, [chargeLine('complete', priceOf(recorded.usage))])
    })
  }
})

describe('a plain reply that breaks is free and answered with an error', {
  concurrency: true,
}, () => {
  const half = wholeReply.slice(0, 60)
  const sized = (length: number) =>
    `HTTP/1.1 200 -\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
  const bodies: Record<string, (socket: Socket) => void> = {
    'no answer at all': (socket) => socket.end(),
    'a reset instead of an answer': (socket) => socket.resetAndDestroy(),
    'no answer for too long': () => undefined,
    'something that is not HTTP': (socket) => socket.write('SSH-2.0-OpenSSH\r\n'),
    'less than announced': (socket) => socket.end(sized(wholeReply.length) + half),
    'a page': (socket) => reply(socket, 200, 'text/html', '<html>Welcome</html>'),
    'a page with an error status': (socket) => reply(socket, 502, 'text/html', '<html>'),
    'a redirect': (socket) => reply(socket, 302, 'text/html', ''),
    'nothing, as JSON': (socket) => reply(socket, 200, 'application/json', ''),
    'nothing, with an error status': (socket) => reply(socket, 503, 'application/json', ''),
    'garbage, as JSON': (socket) => reply(socket, 200, 'application/json', 'upstream hiccup'),
    'an empty object': (socket) => reply(socket, 200, 'application/json', '{}'),
    'an error with a good status': (socket) =>
      reply(socket, 200, 'application/json', '{"type":"error","error":{"type":"x","message":"y"}}'),
    'garbage that claims to be gzip': (socket) =>
      reply(socket, 200, 'application/json', wholeReply, ['content-encoding: gzip']),
    'no type': (socket) => socket.end(`HTTP/1.1 200 -\r\n\r\n${wholeReply}`),
  }
  for (const [how, broken] of Object.entries(breaks)) {
    bodies[`half of it and ${how}`] = (socket) => {
      socket.write(headOf(200, 'application/json'))
      socket.write(chunkOf(half))
      setImmediate(() => broken(socket))
    }
    bodies[`an error that breaks off by ${how}`] = (socket) => {
      // Not a 529: the others would wait for the pause that it asks for.
      socket.write(headOf(500, 'application/json'))
      socket.write(chunkOf('{"type":"error","error":{"type":"api_er'))
      setImmediate(() => broken(socket))
    }
  }
  /** No whole head comes, and the connection stays open. */
  const overdue = ['no answer for too long', 'something that is not HTTP']
  for (const [what, send] of Object.entries(bodies)) {
    const [status, type] = overdue.includes(what) ? [504, 'timeout_error'] : [502, 'api_error']
    for (const stream of [false, true]) {
      test(`${what} (${stream ? 'a stream was asked for' : 'plain'})`, async () => {
        const { answer, statement, requests } = await journey(what, stream, send)
        assert.equal(answer.status, status)
        assert.equal(answer.headers['content-type'], 'application/json')
        assert.equal(refusalOf(answer).error.type, type)
        assert.equal(refusalOf(answer).request_id, answer.headers['request-id'])
        assert.equal(statement.length, 1)
        assert.match(statement[0] ?? '', /^void (?:upstream_failed|refused) 0 /)
        assert.equal(requests, 0)
      })
    }
  }

  test('a whole reply after which the connection breaks is charged', async () => {
    const { answer, statement } = await journey('whole plain', false, (socket) => {
      socket.write(sized(wholeReply.length) + wholeReply)
      setImmediate(() => socket.resetAndDestroy())
    })
    assert.equal(answer.bytes.toString(), wholeReply)
    const price = priceOf({ input_tokens: 7, output_tokens: 3 })
    assert.deepEqual(statement, [chargeLine('complete', price)])
  })
})

function reply(
  socket: Socket,
  status: number,
  type: string,
  body: string,
  more: readonly string[] = [],
) {
  socket.write(headOf(status, type, more))
  if (body !== '') socket.write(chunkOf(body))
  socket.write('0\r\n\r\n')
}
