// The same bytes are the same requests here and in node:http: whatever a smuggler, a broken client
// or the cutting of packets makes of them. Where the two differ, ours is the stricter, and it is
// said so.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type Listener, nodes, ours, say, type Understood } from '../../test/spoken.ts'

const at = { ours: undefined as unknown as Listener, nodes: undefined as unknown as Listener }
before(async () => {
  at.ours = await ours()
  at.nodes = await nodes()
})
after(async () => {
  await at.ours.close()
  await at.nodes.close()
})

/** Closes the connection when it is understood as a request. */
const LAST = 'GET /last HTTP/1.1\r\nconnection: close\r\n\r\n'

type Heard = { heard: Understood[]; isRefused: boolean }

async function hearing(listener: Listener, ...parts: readonly string[]): Promise<Heard> {
  const told = await say(listener.port, ...parts)
  return { heard: listener.heard(), isRefused: /HTTP\/1\.1 400 /.test(told) }
}

async function both(text: string): Promise<{ own: Heard; nodes: Heard }> {
  const [own, others] = await Promise.all([hearing(at.ours, text), hearing(at.nodes, text)])
  return { own, nodes: others }
}

const post = (...lines: string[]) => ['POST /a HTTP/1.1', 'host: x', ...lines].join('\r\n')

/** How requests are smuggled past an edge that reads them otherwise, and how clients break them. */
const cases: Readonly<Record<string, string>> = {
  'a plain request': post('content-length: 5', '', 'hello'),
  'no body': post('', ''),
  'a body in chunks': post('transfer-encoding: chunked', '', '5', 'hello', '0', '', ''),
  'chunks with extensions and a trailer': post(
    'Transfer-Encoding: Chunked',
    '',
    '5;a=b;c="d"',
    'hello',
    '0;last',
    'x-trailer: y',
    '',
    '',
  ),
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
  'a length with spaces around': post('content-length:   5  ', '', 'hello'),
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
  'letters beyond ASCII in a value': post('x: \xe9\xff', '', ''),
  'letters beyond ASCII in a name': post('x\xe9: a', '', ''),
  'empty lines first': '\r\n\r\nGET /a HTTP/1.1\r\n\r\n',
  'a space first': ' GET /a HTTP/1.1\r\n\r\n',
  'two spaces between': 'GET  /a HTTP/1.1\r\n\r\n',
  'a tab between': 'GET\t/a HTTP/1.1\r\n\r\n',
  'a space behind the version': 'GET /a HTTP/1.1 \r\n\r\n',
  'a space in the path': 'GET /a b HTTP/1.1\r\n\r\n',
  'a path beyond ASCII': 'GET /\xe9 HTTP/1.1\r\n\r\n',
  'a fragment and a query': 'GET /a?b=c&d#e HTTP/1.1\r\n\r\n',
  'a whole address': 'GET http://other.example/a?b HTTP/1.1\r\n\r\n',
  'an asterisk': 'OPTIONS * HTTP/1.1\r\n\r\n',
  'no path': 'GET HTTP/1.1\r\n\r\n',
  'no version': 'GET /a\r\n\r\n',
  'an older version': 'GET /a HTTP/0.9\r\n\r\n',
  'a newer version': 'GET /a HTTP/2.0\r\n\r\n',
  'an unknown method': 'FETCH /a HTTP/1.1\r\n\r\n',
  'a method in small letters': 'get /a HTTP/1.1\r\n\r\n',
  'a version that is none': 'GET /a HTTP/1.7\r\n\r\n',
  'the version in small letters': 'GET /a http/1.1\r\n\r\n',
  'the next protocol': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an old client': 'GET /a HTTP/1.0\r\n\r\n',
  'an old client that stays': 'GET /a HTTP/1.0\r\nconnection: keep-alive\r\n\r\n',
  'an old client in chunks': 'POST /a HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'a body that a GET has': 'GET /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello',
  'a head that ends early': 'GET /a HTTP/1.1\r\nx: y',
  'a body that ends early': post('content-length: 500', '', 'hello'),
  'chunks that end early': post('transfer-encoding: chunked', '', '50', 'hello'),
  'a close, and more behind it': `${post('connection: close', '', '')}GET /b HTTP/1.1\r\n\r\n`,
}

for (const [what, text] of Object.entries(cases)) {
  test(`${what}: understood as node:http does`, async () => {
    const { own, nodes: others } = await both(text + LAST)
    assert.deepEqual(own.heard, others.heard)
    // Bytes behind a request that closes are refused there, and not listened to here.
    if (own.heard.length === 0) assert.equal(own.isRefused, others.isRefused)
  })
}

for (const line of ['transfer-encoding: gzip, chunked', 'content-length: 5\t']) {
  test(`${JSON.stringify(line)} is refused, which node:http takes`, async () => {
    const heard = await hearing(at.ours, post(line, '', '0', '', LAST))
    assert.deepEqual(heard, { heard: [], isRefused: true })
  })
}

test('an upgrade that is offered is not taken, and the next request is heard', async () => {
  const offer = ['connection: upgrade, http2-settings', 'upgrade: h2c', 'http2-settings: x']
  const { heard } = await hearing(
    at.ours,
    post(...offer, 'content-length: 5', '', 'hello') + post(...offer, '', '') + LAST,
  )
  assert.deepEqual(
    heard.map(({ url, body }) => url + body),
    ['/ahello', '/a', '/last'],
  )
})

test('names in any case, doubled, empty and inherited are read as in node:http', async () => {
  const lines = [
    ...['X-Api-Key: a', 'ANTHROPIC-Version: 2023-06-01', 'user-agent: x'],
    ...['x-api-key: b', 'accept: a', 'accept: b', 'cookie: a', 'cookie: b'],
    ...['authorization: a', 'Authorization: b', 'content-type: a', 'content-type: b'],
    ...['referer: a', 'referer: b', 'from: a', 'from: b', 'age: 1', 'age: 2'],
    ...['x-empty:', 'constructor: y', 'x-spaced:  a b  '],
  ]
  const { own, nodes: others } = await both(post(...lines, '', LAST))
  assert.equal(own.heard.length, 2)
  assert.deepEqual(own.heard, others.heard)
})

/** Without a word about the connection: in a trailer, node:http would listen to that. */
const MORE = 'GET /more HTTP/1.1\r\nhost: x\r\n\r\n'

/** Three on one connection: a length, chunks with all they may have, none. */
const THREE = [
  post('content-length: 5', 'x-a: b', '', 'hello'),
  post('transfer-encoding: chunked', '', '5;a=b', 'hello', '1', '!', '0', 'x-t: y', '', ''),
  LAST,
].join('')

test('three requests are the same three, wherever they are cut', async () => {
  const { heard } = await hearing(at.ours, THREE)
  assert.deepEqual(
    heard.map(({ method, body }) => `${method} ${body}`),
    ['POST hello', 'POST hello!', 'GET '],
  )
  for (let i = 1; i < THREE.length; i++) {
    const cut = await hearing(at.ours, THREE.slice(0, i), THREE.slice(i))
    assert.deepEqual(cut.heard, heard, `cut at ${i}`)
  }
  const single = await hearing(at.ours, ...THREE)
  assert.deepEqual(single.heard, heard, 'byte by byte')
})

test('whatever is done to a request, it is understood as in node:http (400 tries)', async () => {
  const hostile = fc.constantFrom(
    ...['\r\n', '\n', '\r', '\0', ' ', '\t', ':', ';', ',', '0', '5', 'f', '\r\n\r\n', '0\r\n\r\n'],
    ...['content-length: 3\r\n', 'transfer-encoding: chunked\r\n', 'chunked', '\xff', MORE],
  )
  const change = fc.record({
    at: fc.nat(THREE.length),
    removed: fc.nat(6),
    added: fc.array(hostile, { maxLength: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let text = THREE
      for (const { at: from, removed, added } of changes) {
        text = text.slice(0, from) + added.join('') + text.slice(from + removed)
      }
      const { own, nodes: others } = await both(text)
      // Ours may refuse what node:http takes, and never take it for something else.
      const until = own.isRefused ? own.heard.length : undefined
      assert.deepEqual(own.heard, others.heard.slice(0, until))
    }),
    { numRuns: 400 },
  )
})
