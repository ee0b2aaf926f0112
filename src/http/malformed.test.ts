// The server reads the bytes of request smuggling, broken clients and fragmented packets exactly as
// RFC 9112 says, or refuses them and closes the connection. So no request can be smuggled past a
// proxy that reads them differently.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import {
  type Listener,
  openListener,
  type ReceivedRequest,
  sendParts,
} from '../../test/support/http-listener.ts'

const open = { listener: undefined as unknown as Listener }
before(async () => {
  open.listener = await openListener()
})
after(() => open.listener.close())

/** Appended to each test's bytes. A server that reads it as a request closes the connection. */
const LAST = 'GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

type Reading = { received: ReceivedRequest[]; isRefused: boolean }

async function sendBytes(...parts: readonly string[]): Promise<Reading> {
  const replies = await sendParts(open.listener.port, ...parts)
  return { received: open.listener.takeRequests(), isRefused: /HTTP\/1\.1 400 /.test(replies) }
}

const lineOf = ({ method, url, body }: ReceivedRequest) => `${method} ${url} ${body}`.trim()

const post = (...lines: string[]) => ['POST /a HTTP/1.1', 'host: x', ...lines].join('\r\n')

/** The bytes, and the requests that they contain. */
const requests: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  'a plain request': [post('content-length: 5', '', 'hello'), ['POST /a hello', 'GET /last']],
  'no body': [post('', ''), ['POST /a', 'GET /last']],
  'a body in chunks': [
    post('transfer-encoding: chunked', '', '5', 'hello', '0', '', ''),
    ['POST /a hello', 'GET /last'],
  ],
  'chunks with extensions and a trailer': [
    post(
      'Transfer-Encoding: Chunked',
      '',
      '5;a=b;c="d"',
      'hello',
      '0;last',
      'x-trailer: y',
      '',
      '',
    ),
    ['POST /a hello', 'GET /last'],
  ],
  'a length between spaces': [
    post('content-length:   5  ', '', 'hello'),
    ['POST /a hello', 'GET /last'],
  ],
  'a length followed by a tab': [
    post('content-length: 5\t', '', 'hello'),
    ['POST /a hello', 'GET /last'],
  ],
  'non-ASCII bytes in a value': [post('x: \xe9\xff', '', ''), ['POST /a', 'GET /last']],
  'empty lines before the request': [
    '\r\n\r\nGET /a HTTP/1.1\r\nhost: x\r\n\r\n',
    ['GET /a', 'GET /last'],
  ],
  'two spaces after the method': ['GET  /a HTTP/1.1\r\nhost: x\r\n\r\n', ['GET /a', 'GET /last']],
  'a fragment and a query': [
    'GET /a?b=c&d#e HTTP/1.1\r\nhost: x\r\n\r\n',
    ['GET /a?b=c&d#e', 'GET /last'],
  ],
  'an absolute URL': [
    'GET http://other.example/a?b HTTP/1.1\r\nhost: x\r\n\r\n',
    ['GET http://other.example/a?b', 'GET /last'],
  ],
  'an asterisk as the path': ['OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n', ['OPTIONS *', 'GET /last']],
  'HTTP/1.0': ['GET /a HTTP/1.0\r\n\r\n', ['GET /a']],
  'HTTP/1.0 with keep-alive': [
    'GET /a HTTP/1.0\r\nconnection: keep-alive\r\n\r\n',
    ['GET /a', 'GET /last'],
  ],
  'a GET with a body': [
    'GET /a HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello',
    ['GET /a hello', 'GET /last'],
  ],
  'a header line that runs into the next request': ['GET /a HTTP/1.1\r\nx: y', ['GET /a']],
  'a request after connection: close': [
    `${post('connection: close', '', '')}GET /b HTTP/1.1\r\nhost: x\r\n\r\n`,
    ['POST /a'],
  ],
}

/** Requests that another parser may read differently, and broken requests. */
const refused: Readonly<Record<string, string>> = {
  'content-length, then transfer-encoding': post(
    'content-length: 5',
    'transfer-encoding: chunked',
    '',
    '0',
    '',
    '',
  ),
  'transfer-encoding, then content-length': post(
    'transfer-encoding: chunked',
    'content-length: 5',
    '',
    '0',
    '',
    '',
  ),
  'two different lengths': post('content-length: 5', 'content-length: 6', '', 'hello!'),
  'the same length twice': post('content-length: 5', 'content-length: 5', '', 'hello'),
  'lengths in a list': post('content-length: 5, 5', '', 'hello'),
  'a signed length': post('content-length: +5', '', 'hello'),
  'a negative length': post('content-length: -5', '', 'hello'),
  'a length in hex': post('content-length: 0x5', '', 'hello'),
  'a length with a space inside': post('content-length: 1 0', '', 'hellohello'),
  'an empty length': post('content-length:', '', 'hello'),
  'a length of 30 digits': post(`content-length: ${'9'.repeat(30)}`, '', 'hello'),
  'a space before the colon': post('content-length : 5', '', 'hello'),
  'a tab before the colon': post('transfer-encoding\t: chunked', '', '0', '', ''),
  'a header name with a space': post('content length: 5', '', 'hello'),
  'a header without a name': post(': 5', '', 'hello'),
  'a folded header': post('x-long: a', ' b', 'content-length: 5', '', 'hello'),
  'a folded transfer-encoding': post('transfer-encoding:', ' chunked', '', '0', '', ''),
  'a first header that starts with a space': 'GET /a HTTP/1.1\r\n x: y\r\nhost: x\r\n\r\n',
  'another encoding': post('transfer-encoding: gzip', '', 'hello'),
  'another encoding, then chunked': post('transfer-encoding: gzip, chunked', '', '0', '', ''),
  'chunked, then another encoding': post('transfer-encoding: chunked, identity', '', '0', '', ''),
  'chunked twice': post('transfer-encoding: chunked, chunked', '', '0', '', ''),
  'two transfer-encoding headers': post(
    'transfer-encoding: chunked',
    'transfer-encoding: identity',
    '',
    '0',
    '',
    '',
  ),
  'chunked misspelt': post('transfer-encoding: xchunked', '', '0', '', ''),
  'chunked in quotes': post('transfer-encoding: "chunked"', '', '0', '', ''),
  'chunked with a parameter': post('transfer-encoding: chunked;q=1', '', '0', '', ''),
  'chunked after a form feed': post('transfer-encoding:\fchunked', '', '0', '', ''),
  'an empty encoding': post('transfer-encoding:', 'content-length: 5', '', 'hello'),
  'a chunk size with 0x': post('transfer-encoding: chunked', '', '0x5', 'hello', '0', '', ''),
  'a signed chunk size': post('transfer-encoding: chunked', '', '+5', 'hello', '0', '', ''),
  'a negative chunk size': post('transfer-encoding: chunked', '', '-1', 'hello', '0', '', ''),
  'a chunk size followed by a space': post(
    'transfer-encoding: chunked',
    '',
    '5 ',
    'hello',
    '0',
    '',
    '',
  ),
  'a chunk size of 20 digits': post('transfer-encoding: chunked', '', 'f'.repeat(20), 'hello'),
  'a chunk longer than its size': post('transfer-encoding: chunked', '', '3', 'hello', '0', '', ''),
  'a chunk without a line end': post('transfer-encoding: chunked', '', '5', 'hello0', '', ''),
  'a chunk size that ends in LF': post('transfer-encoding: chunked', '', '5\nhello', '0', '', ''),
  'a chunk extension with a line feed': post('transfer-encoding: chunked', '', '5;a\nb', 'hello'),
  'a length in the trailer': post(
    'transfer-encoding: chunked',
    '',
    '0',
    'content-length: 50',
    '',
    '',
  ),
  'lines that end in LF': 'POST /a HTTP/1.1\nhost: x\ncontent-length: 5\n\nhello',
  'one line that ends in LF': 'POST /a HTTP/1.1\r\nhost: x\ncontent-length: 5\r\n\r\nhello',
  'lines that end in CR': 'POST /a HTTP/1.1\rhost: x\r\r',
  'a CR in a value': post('x: a\rb: c', '', ''),
  'a NUL in a value': post('x: a\0b', '', ''),
  'a NUL in a name': post('x\0y: a', '', ''),
  'a control character in a value': post('x: \x01', '', ''),
  'a non-ASCII byte in a name': post('x\xe9: a', '', ''),
  'a space before the method': ' GET /a HTTP/1.1\r\nhost: x\r\n\r\n',
  'a tab after the method': 'GET\t/a HTTP/1.1\r\nhost: x\r\n\r\n',
  'a space after the version': 'GET /a HTTP/1.1 \r\nhost: x\r\n\r\n',
  'a space in the path': 'GET /a b HTTP/1.1\r\nhost: x\r\n\r\n',
  'a non-ASCII path': 'GET /\xe9 HTTP/1.1\r\nhost: x\r\n\r\n',
  'no path': 'GET HTTP/1.1\r\nhost: x\r\n\r\n',
  'no version': 'GET /a\r\n\r\n',
  'an older version': 'GET /a HTTP/0.9\r\n\r\n',
  'a newer version': 'GET /a HTTP/2.0\r\n\r\n',
  'an unknown method': 'FETCH /a HTTP/1.1\r\nhost: x\r\n\r\n',
  'HTTP/1.1 without a host': 'GET /a HTTP/1.1\r\nx: y\r\n\r\n',
  'two hosts': 'GET /a HTTP/1.1\r\nhost: x\r\nHost: x\r\n\r\n',
  'a lower-case method': 'get /a HTTP/1.1\r\nhost: x\r\n\r\n',
  'a version that does not exist': 'GET /a HTTP/1.7\r\n\r\n',
  'a lower-case version': 'GET /a http/1.1\r\n\r\n',
  'the HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP/1.0 with chunks': 'POST /a HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'a body that ends early': post('content-length: 500', '', 'hello'),
  'chunks that end early': post('transfer-encoding: chunked', '', '50', 'hello'),
}

for (const [what, [text, expected]] of Object.entries(requests)) {
  test(`${what}: read as ${expected.join(', ')}`, async () => {
    const { received, isRefused } = await sendBytes(text + LAST)
    assert.deepEqual(received.map(lineOf), expected)
    assert.equal(isRefused, false)
  })
}

for (const [what, text] of Object.entries(refused)) {
  test(`${what}: refused, and nothing after it is read`, async () => {
    assert.deepEqual(await sendBytes(text + LAST), { received: [], isRefused: true })
  })
}

test('an upgrade is ignored; the request is answered and the connection closes', async () => {
  const offer = ['connection: upgrade, http2-settings', 'upgrade: h2c', 'http2-settings: x']
  const text = post(...offer, 'content-length: 5', '', 'hello') + LAST
  const replies = await sendParts(open.listener.port, text)
  assert.deepEqual(open.listener.takeRequests().map(lineOf), ['POST /a hello'])
  assert.match(replies, /^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*connection: close\r\n/)
})

test('takes the first value of a repeated header or joins all, depending on its name', async () => {
  const lines = [
    ...['X-Api-Key: a', 'ANTHROPIC-Version: 2023-06-01', 'user-agent: x'],
    ...['x-api-key: b', 'accept: a', 'accept: b', 'cookie: a', 'cookie: b'],
    ...['authorization: a', 'Authorization: b', 'content-type: a', 'content-type: b'],
    ...['x-empty:', 'constructor: y', 'x-spaced:  a b  '],
  ]
  const { received } = await sendBytes(post(...lines, '', LAST))
  assert.deepEqual(received[0]?.headers, {
    host: 'x',
    'x-api-key': 'a, b',
    'anthropic-version': '2023-06-01',
    'user-agent': 'x',
    accept: 'a, b',
    cookie: 'a; b',
    authorization: 'a',
    'content-type': 'a',
    'x-empty': '',
    constructor: 'y',
    'x-spaced': 'a b',
  })
})

const MORE = 'GET /more HTTP/1.1\r\nhost: x\r\n\r\n'

/**
 * Three requests on one connection: with a length, chunked with extensions and trailers, and
 * without a body.
 */
const THREE = [
  post('content-length: 5', 'x-a: b', '', 'hello'),
  post('transfer-encoding: chunked', '', '5;a=b', 'hello', '1', '!', '0', 'x-t: y', '', ''),
  LAST,
].join('')

test('reads three requests the same way wherever their bytes are split', async () => {
  const { received } = await sendBytes(THREE)
  assert.deepEqual(received.map(lineOf), ['POST /a hello', 'POST /a hello!', 'GET /last'])
  for (let i = 1; i < THREE.length; i++) {
    const cut = await sendBytes(THREE.slice(0, i), THREE.slice(i))
    assert.deepEqual(cut.received, received, `cut at ${i}`)
  }
  const single = await sendBytes(...THREE)
  assert.deepEqual(single.received, received, 'byte by byte')
})

test('reads mutated requests the same way, whole or split anywhere (400 runs)', async () => {
  const hostile = fc.constantFrom(
    ...['\r\n', '\n', '\r', '\0', ' ', '\t', ':', ';', ',', '0', '5', 'f', '\r\n\r\n', '0\r\n\r\n'],
    ...['content-length: 3\r\n', 'transfer-encoding: chunked\r\n', 'chunked', '\xff', MORE],
  )
  const change = fc.record({
    at: fc.nat(THREE.length),
    removed: fc.nat(6),
    added: fc.array(hostile, { maxLength: 2 }),
  })
  const changes = fc.array(change, { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(changes, fc.nat(THREE.length), async (made, cutAt) => {
      let text = THREE
      for (const { at: from, removed, added } of made) {
        text = text.slice(0, from) + added.join('') + text.slice(from + removed)
      }
      const whole = await sendBytes(text)
      const cut = await sendBytes(text.slice(0, cutAt), text.slice(cutAt))
      // A refusal in the same packet cuts off an earlier reply, but the earlier request was still
      // read.
      assert.deepEqual(cut.received.slice(0, whole.received.length), whole.received)
      if (whole.received.length > 0) assert.equal(cut.received.length, whole.received.length)
    }),
    { numRuns: 400 },
  )
})
