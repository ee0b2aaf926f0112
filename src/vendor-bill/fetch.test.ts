// Tests of the fetch of a report from servers that misbehave: it ends, and takes little memory.
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Masked } from '../platform/masked.ts'
import { fetchReport } from './fetch.ts'

const key = new Masked('sk-report-key')
const days = { from: '2026-11-13', to: '2026-11-16' }

/** Fetches a report from a server that answers like this; what it was asked, in order. */
async function fetchFrom(answer: RequestListener) {
  const asked: string[] = []
  const server = createServer((request, reply) => {
    asked.push(request.url ?? '')
    answer(request, reply)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const outcome = await fetchReport({ url, key }, days).catch((error: Error) => error.message)
  server.closeAllConnections()
  server.close()
  return { outcome, asked }
}

test('stops reading a report that does not end', async () => {
  const chunk = Buffer.alloc(1_048_576, ' ')
  const sent = { bytes: 0 }
  const { outcome } = await fetchFrom((_, reply) => {
    // Ends after 64 MiB, so that this test ends also when the fetch reads everything.
    const write = (): void => {
      if (reply.destroyed || sent.bytes >= 64 * chunk.length) return void reply.end()
      sent.bytes += chunk.length
      reply.write(chunk, write)
    }
    write()
  })
  assert.equal(outcome, 'the report is longer than 8 MiB')
  assert.ok(sent.bytes < 24 * chunk.length, `${sent.bytes} bytes were sent`)
})

test('the limit applies to all pages together', async () => {
  const page = JSON.stringify({ data: 'x'.repeat(3_000_000), has_more: true, next_page: 'again' })
  const { outcome, asked } = await fetchFrom((_, reply) => void reply.end(page))
  assert.equal(outcome, 'the report is longer than 8 MiB')
  assert.equal(asked.length, 3)
})

test('gives up on pages without end', async () => {
  const page = '{"data":[],"has_more":true,"next_page":"again"}'
  const { outcome, asked } = await fetchFrom((_, reply) => void reply.end(page))
  assert.equal(outcome, 'the report has more than 20 pages')
  assert.equal(asked.length, 20)
})

test('follows no redirect, and repeats nothing that an error says', async () => {
  for (const status of [302, 401, 500]) {
    const { outcome, asked } = await fetchFrom((_, reply) => {
      reply.writeHead(status, { location: 'http://127.0.0.1:9/' })
      reply.end('sk-report-key is wrong')
    })
    assert.equal(outcome, `the vendor's report answered with ${status}`)
    assert.equal(asked.length, 1)
  }
})
