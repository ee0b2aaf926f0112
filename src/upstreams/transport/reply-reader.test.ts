// The parser gives the same result wherever the bytes are cut, and rejects ambiguous replies.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReplyReader } from './reply-reader.ts'

type Seen = { status: number; headers: object; body: string; isOver: boolean; mayFollow: boolean }

/** Parses the pieces as a connection delivers them, from a reused buffer. */
function read(pieces: readonly string[], closes = false): Seen {
  const reader = new ReplyReader()
  const seen = { status: 0, headers: {}, body: '' }
  const shared = Buffer.alloc(8_192)
  const listener = {
    head(status: number, headers: object) {
      Object.assign(seen, { status, headers })
    },
    data(bytes: Buffer) {
      kept.push(bytes)
    },
  }
  const kept: Buffer[] = []
  for (const piece of pieces) {
    const length = shared.write(piece, 0, 'latin1')
    reader.push(shared.subarray(0, length), listener)
    shared.fill(0x2a, 0, length)
  }
  if (closes) reader.close()
  const body = Buffer.concat(kept).toString('latin1')
  return { ...seen, body, isOver: reader.isOver, mayFollow: reader.mayFollow }
}

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n'
const two = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

const whole: [promise: string, reply: string, expected: Partial<Seen>][] = [
  [
    'by length',
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello',
    { status: 200, body: 'hello', isOver: true, mayFollow: true },
  ],
  [
    'in chunks, with an extension and a trailer',
    `${chunked}5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nx: y\r\n\r\n`,
    { status: 200, body: 'hello world', isOver: true, mayFollow: true },
  ],
  [
    'with sizes in either case',
    `${chunked}1A\r\n${'x'.repeat(26)}\r\n1a\r\n${'y'.repeat(26)}\r\n0\r\n\r\n`,
    { body: 'x'.repeat(26) + 'y'.repeat(26), isOver: true },
  ],
  [
    'after announcements',
    `HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${two}`,
    { status: 200, body: 'ok', isOver: true },
  ],
  ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', isOver: true }],
  ['empty', 'HTTP/1.1 500 \r\ncontent-length: 0\r\n\r\n', { status: 500, isOver: true }],
  ['without a phrase', 'HTTP/1.1 529\r\ncontent-length: 1\r\n\r\nx', { status: 529, isOver: true }],
  [
    'the last on its connection',
    'HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 1\r\n\r\nx',
    { isOver: true, mayFollow: false },
  ],
  [
    'headers joined and trimmed',
    'HTTP/1.1 200 OK\r\nA: 1\r\na:  2 \r\nRetry-After: 3\r\ncontent-length: 0\r\n\r\n',
    { headers: { a: '1, 2', 'retry-after': '3', 'content-length': '0' } },
  ],
]

for (const [promise, reply, expected] of whole) {
  test(`a reply is the same wherever it is cut: ${promise}`, () => {
    const once = read([reply])
    assert.deepEqual({ ...once, ...expected }, once)
    for (let cut = 1; cut < reply.length; cut++) {
      assert.deepEqual(read([reply.slice(0, cut), reply.slice(cut)]), once, `cut at ${cut}`)
    }
    assert.deepEqual(read([...reply]), once, 'byte by byte')
  })
}

test('a reply without a length ends with its connection, which is not reused', () => {
  const reply = ['HTTP/1.0 200 OK\r\n\r\n', 'all ', 'of it']
  const expected = { status: 200, headers: {}, body: 'all of it', mayFollow: false }
  assert.deepEqual(read(reply), { ...expected, isOver: false })
  assert.deepEqual(read(reply, true), { ...expected, isOver: true })
})

test('the end of the connection does not complete a reply with a length', () => {
  for (const reply of [
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n',
    'HTTP/1.1 200 OK\r\ncontent-le',
  ]) {
    assert.equal(read([reply], true).isOver, false, reply)
  }
})

const head = 'HTTP/1.1 200 OK\r\n'
const malformed: [why: string, reply: string][] = [
  ['no reply at all', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['an unknown version', 'HTTP/2 200 OK\r\n\r\n'],
  ['an impossible status', 'HTTP/1.1 099 OK\r\n\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n'],
  ['length and chunks', `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`],
  ['two lengths', `${head}content-length: 5\r\ncontent-length: 6\r\n\r\n`],
  ['a length that is none', `${head}content-length: +5\r\n\r\n`],
  ['a coding that is not known', `${head}transfer-encoding: gzip, chunked\r\n\r\n`],
  ['a header without a name', `${head}: x\r\n\r\n`],
  ['a header without a colon', `${head}nothing\r\n\r\n`],
  ['a folded header', `${head}a: b\r\n c: d\r\n\r\n`],
  ['a blank before the colon', `${head}content-length : 5\r\n\r\n`],
  ['bytes after a length', `${head}content-length: 2\r\n\r\nabc`],
  ['bytes after the last chunk', `${head}transfer-encoding: chunked\r\n\r\n0\r\n\r\nx`],
  ['a chunk without a size', `${head}transfer-encoding: chunked\r\n\r\n\r\n`],
  ['a size that is none', `${head}transfer-encoding: chunked\r\n\r\n-5\r\nhello\r\n`],
  ['a size beyond all', `${head}transfer-encoding: chunked\r\n\r\nfffffffffff\r\n`],
  ['a chunk longer than it says', `${head}transfer-encoding: chunked\r\n\r\n4\r\nhello\r\n`],
  ['lines without CR', `${head}transfer-encoding: chunked\r\n\r\n5\nhello\n`],
  ['a head without an end', `${head}a: ${'x'.repeat(70_000)}`],
  ['a line without an end', `${head}transfer-encoding: chunked\r\n\r\n5;${'x'.repeat(2_000)}`],
]

for (const [why, reply] of malformed) {
  test(`a reply is refused for ${why}, whole and cut anywhere`, () => {
    const pieces = reply.match(/.{1,4000}/gs) ?? []
    assert.throws(() => read(pieces), Error)
    if (reply.length < 1_000) assert.throws(() => read([...reply]), Error)
  })
}
