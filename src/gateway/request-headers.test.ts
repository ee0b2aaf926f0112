// The headers of a request are those that node:http itself would show.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { headersOf, Incoming } from './request-headers.ts'

/** What both servers make of the same lines. */
async function seenBy(lines: readonly string[], own: boolean): Promise<IncomingMessage['headers']> {
  const options = own ? { IncomingMessage: Incoming } : {}
  const server = createServer(options, (incoming, outgoing) => {
    outgoing.end(JSON.stringify({ ...incoming.headers }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  socket.end(['GET / HTTP/1.1', 'host: a', 'connection: close', ...lines, '', ''].join('\r\n'))
  const text = (await socket.setEncoding('latin1').toArray()).join('')
  server.close()
  assert.match(text, /^HTTP\/1\.1 200 /)
  return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
}

const doubled = [
  ['names in any case', ['X-Api-Key: a', 'ANTHROPIC-Version: 2023-06-01', 'user-agent: x']],
  ['joined', ['x-api-key: a', 'X-API-KEY: b', 'accept: a', 'accept: b', 'cookie: a', 'cookie: b']],
  [
    'the first counts',
    ['authorization: a', 'Authorization: b', 'content-type: a', 'content-type: b'],
  ],
  ['first of the rare', ['referer: a', 'referer: b', 'from: a', 'from: b', 'age: 1', 'age: 2']],
  ['empty and odd', ['x-empty:', 'constructor: y', 'x-api-key:  spaced  ']],
] as const

for (const [promise, lines] of doubled) {
  test(`headers are read as node:http reads them: ${promise}`, async () => {
    assert.deepEqual(await seenBy(lines, true), await seenBy(lines, false))
  })
}

test('more names than are remembered are still read', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-zA-Z-]{1,12}$/), { maxLength: 40 }), (names) => {
      const raw = names.flatMap((name, i) => [name, String(i)])
      const headers = headersOf(raw)
      for (const name of names) assert.ok(name.toLowerCase() in headers)
    }),
    { numRuns: 200 },
  )
})
