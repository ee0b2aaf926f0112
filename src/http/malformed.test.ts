// What the gateway makes of bytes that a smuggler, a broken client or the cutting of packets may
// send: exactly the request they are by RFC 9112, or a refusal that closes the connection. A proxy
// before us that reads them differently then finds no second request.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import {
  type Listener,
  openListener,
  say,
  type Understood,
} from '../../test/support/http-listener.ts'

const open = { listener: undefined as unknown as Listener }
before(async () => {
  open.listener = await openListener()
})
after(() => open.listener.close())

/** Closes the connection when it is understood as a request. */
const LAST = 'GET /last HTTP/1.1\r\nconnection: close\r\n\r\n'

type Heard = { heard: Understood[]; isRefused: boolean }

async function hearing(...parts: readonly string[]): Promise<Heard> {
  const told = await say(open.listener.port, ...parts)
  return { heard: open.listener.heard(), isRefused: /HTTP\/1\.1 400 /.test(told) }
}

const lineOf = ({ method, url, body }: Understood) => `${method} ${url} ${body}`.trim()

const post = (...lines: string[]) => ['POST /a HTTP/1.1', 'host: x', ...lines].join('\r\n')

/** The bytes, and the requests that they are. */
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
  'a length with spaces around': [
    post('content-length:   5  ', '', 'hello'),
    ['POST /a hello', 'GET /last'],
  ],
  'a length with a tab behind': [
    post('content-length: 5\t', '', 'hello'),
    ['POST /a hello', 'GET /last'],
  ],
  'letters beyond ASCII in a value': [post('x: \xe9\xff', '', ''), ['POST /a', 'GET /last']],
  'empty lines first': ['\r\n\r\nGET /a HTTP/1.1\r\n\r\n', ['GET /a', 'GET /last']],
  'two spaces between': ['GET  /a HTTP/1.1\r\n\r\n', ['GET /a', 'GET /last']],
  'a fragment and a query': ['GET /a?b=c&d#e HTTP/1.1\r\n\r\n', ['GET /a?b=c&d#e', 'GET /last']],
  'a whole address': [
    'GET http://other.example/a?b HTTP/1.1\r\n\r\n',
    ['GET http://other.example/a?b', 'GET /last'],
  ],
  'an asterisk': ['OPTIONS * HTTP/1.1\r\n\r\n', ['OPTIONS *', 'GET /last']],
  'an old client': ['GET /a HTTP/1.0\r\n\r\n', ['GET /a']],
  'an old client that stays': [
    'GET /a HTTP/1.0\r\nconnection: keep-alive\r\n\r\n',
    ['GET /a', 'GET /last'],
  ],
  'a body that a GET has': [
    'GET /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello',
    ['GET /a hello', 'GET /last'],
  ],
  'a head that ends early': ['GET /a HTTP/1.1\r\nx: y', ['GET /a']],
  'a close, and more behind it': [
    `${post('connection: close', '', '')}GET /b HTTP/1.1\r\n\r\n`,
    ['POST /a'],
  ],
}

/** How smugglers write for a proxy that reads differently, and how clients break requests. */
const refused: Readonly<Record<string, string>> = {
  'both lengths': post('content-length: 5', 'transfer-encoding: chunked', '', '0', '', ''),
  'both lengths, the other order': post(
    'transfer-encoding: chunked',
    'content-length: 5',
    '',
    '0',
    '',
    '',
  ),
  'two lengths': post('content-length: 5', 'content-length: 6', '', 'hello!'),
  'the same length twice': post('content-length: 5', 'content-length: 5', '', 'hello'),
  'lengths in a list': post('content-length: 5, 5', '', 'hello'),
  'a signed length': post('content-length: +5', '', 'hello'),
  'a negative length': post('content-length: -5', '', 'hello'),
  'a length in hex': post('content-length: 0x5', '', 'hello'),
  'a length with a space inside': post('content-length: 1 0', '', 'hellohello'),
  'an empty length': post('content-length:', '', 'hello'),
  'a length beyond all numbers': post(`content-length: ${'9'.repeat(30)}`, '', 'hello'),
  'a space before the colon': post('content-length : 5', '', 'hello'),
  'a tab before the colon': post('transfer-encoding\t: chunked', '', '0', '', ''),
  'a name with a space': post('content length: 5', '', 'hello'),
  'no name': post(': 5', '', 'hello'),
  'a folded header': post('x-long: a', ' b', 'content-length: 5', '', 'hello'),
  'a folded encoding': post('transfer-encoding:', ' chunked', '', '0', '', ''),
  'a first line that is folded': 'GET /a HTTP/1.1\r\n x: y\r\n\r\n',
  'another encoding': post('transfer-encoding: gzip', '', 'hello'),
  'another encoding, then chunked': post('transfer-encoding: gzip, chunked', '', '0', '', ''),
  'chunked, then another': post('transfer-encoding: chunked, identity', '', '0', '', ''),
  'chunked twice': post('transfer-encoding: chunked, chunked', '', '0', '', ''),
  'encodings in two lines': post(
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
  'chunked behind a form feed': post('transfer-encoding:\fchunked', '', '0', '', ''),
  'an empty encoding': post('transfer-encoding:', 'content-length: 5', '', 'hello'),
  'a size in hex with 0x': post('transfer-encoding: chunked', '', '0x5', 'hello', '0', '', ''),
  'a signed size': post('transfer-encoding: chunked', '', '+5', 'hello', '0', '', ''),
  'a negative size': post('transfer-encoding: chunked', '', '-1', 'hello', '0', '', ''),
  'a size with a space': post('transfer-encoding: chunked', '', '5 ', 'hello', '0', '', ''),
  'a size beyond all numbers': post('transfer-encoding: chunked', '', 'f'.repeat(20), 'hello'),
  'a size that is too small': post('transfer-encoding: chunked', '', '3', 'hello', '0', '', ''),
  'a chunk without a line end': post('transfer-encoding: chunked', '', '5', 'hello0', '', ''),
  'a chunk that ends in LF': post('transfer-encoding: chunked', '', '5\nhello', '0', '', ''),
  'an extension with a line feed': post('transfer-encoding: chunked', '', '5;a\nb', 'hello'),
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
  'a control in a value': post('x: \x01', '', ''),
  'letters beyond ASCII in a name': post('x\xe9: a', '', ''),
  'a space first': ' GET /a HTTP/1.1\r\n\r\n',
  'a tab between': 'GET\t/a HTTP/1.1\r\n\r\n',
  'a space behind the version': 'GET /a HTTP/1.1 \r\n\r\n',
  'a space in the path': 'GET /a b HTTP/1.1\r\n\r\n',
  'a path beyond ASCII': 'GET /\xe9 HTTP/1.1\r\n\r\n',
  'no path': 'GET HTTP/1.1\r\n\r\n',
  'no version': 'GET /a\r\n\r\n',
  'an older version': 'GET /a HTTP/0.9\r\n\r\n',
  'a newer version': 'GET /a HTTP/2.0\r\n\r\n',
  'an unknown method': 'FETCH /a HTTP/1.1\r\n\r\n',
  'a method in small letters': 'get /a HTTP/1.1\r\n\r\n',
  'a version that is none': 'GET /a HTTP/1.7\r\n\r\n',
  'the version in small letters': 'GET /a http/1.1\r\n\r\n',
  'the next protocol': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an old client in chunks': 'POST /a HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'a body that ends early': post('content-length: 500', '', 'hello'),
  'chunks that end early': post('transfer-encoding: chunked', '', '50', 'hello'),
}

for (const [what, [text, expected]] of Object.entries(requests)) {
  test(`${what}: understood as ${expected.join(', ')}`, async () => {
    const { heard, isRefused } = await hearing(text + LAST)
    assert.deepEqual(heard.map(lineOf), expected)
    assert.equal(isRefused, false)
  })
}

for (const [what, text] of Object.entries(refused)) {
  test(`${what}: refused, and nothing behind it is read`, async () => {
    assert.deepEqual(await hearing(text + LAST), { heard: [], isRefused: true })
  })
}

test('an upgrade is not taken; the request is answered and the connection closes', async () => {
  const offer = ['connection: upgrade, http2-settings', 'upgrade: h2c', 'http2-settings: x']
  const text = post(...offer, 'content-length: 5', '', 'hello') + LAST
  const told = await say(open.listener.port, text)
  assert.deepEqual(open.listener.heard().map(lineOf), ['POST /a hello'])
  assert.match(told, /^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*connection: close\r\n/)
})

test('of a header that comes twice the first counts, or both are joined', async () => {
  const lines = [
    ...['X-Api-Key: a', 'ANTHROPIC-Version: 2023-06-01', 'user-agent: x'],
    ...['x-api-key: b', 'accept: a', 'accept: b', 'cookie: a', 'cookie: b'],
    ...['authorization: a', 'Authorization: b', 'content-type: a', 'content-type: b'],
    ...['x-empty:', 'constructor: y', 'x-spaced:  a b  '],
  ]
  const { heard } = await hearing(post(...lines, '', LAST))
  assert.deepEqual(heard[0]?.headers, {
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

/** Three on one connection: a length, chunks with all they may have, none. */
const THREE = [
  post('content-length: 5', 'x-a: b', '', 'hello'),
  post('transfer-encoding: chunked', '', '5;a=b', 'hello', '1', '!', '0', 'x-t: y', '', ''),
  LAST,
].join('')

test('three requests are the same three, wherever they are cut', async () => {
  const { heard } = await hearing(THREE)
  assert.deepEqual(heard.map(lineOf), ['POST /a hello', 'POST /a hello!', 'GET /last'])
  for (let i = 1; i < THREE.length; i++) {
    const cut = await hearing(THREE.slice(0, i), THREE.slice(i))
    assert.deepEqual(cut.heard, heard, `cut at ${i}`)
  }
  const single = await hearing(...THREE)
  assert.deepEqual(single.heard, heard, 'byte by byte')
})

test('a changed request is understood the same, whole or cut anywhere (400 tries)', async () => {
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
      const whole = await hearing(text)
      const cut = await hearing(text.slice(0, cutAt), text.slice(cutAt))
      // A refusal in the same packet takes an earlier reply with it, not the request before it.
      assert.deepEqual(cut.heard.slice(0, whole.heard.length), whole.heard)
      if (whole.heard.length > 0) assert.equal(cut.heard.length, whole.heard.length)
    }),
    { numRuns: 400 },
  )
})
