// The upstream of the transport benchmark: a small JSON reply, or with ?events=N a stream of N
// events. Over plain HTTP, TLS with HTTP/1.1, and TLS with HTTP/2; one port each.
import { readFileSync } from 'node:fs'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { EVENT } from './event.ts'

const COMMON = {
  'request-id': 'req_011CSHoEeqs5C35K2UUqR7Fy',
  'anthropic-organization-id': '5b0dd5a2-2b9c-4d4b-a64c-2c3a8b7e2f10',
  'anthropic-ratelimit-requests-limit': '4000',
  'anthropic-ratelimit-requests-remaining': '3999',
  'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
  server: 'stub',
}
const MESSAGE = Buffer.from(
  JSON.stringify({
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: 'model-large',
    content: [{ type: 'text', text: 'The toll was paid before the gate was opened. '.repeat(8) }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 131, output_tokens: 78 },
  }),
)

const answer: RequestListener = (request, response) => {
  const query = new URL(request.url ?? '/', 'http://a').searchParams
  const events = Number(query.get('events') ?? 0)
  request.resume().once('end', () => {
    if (events === 0) {
      const type = 'application/json'
      const length = MESSAGE.length
      response.writeHead(200, { ...COMMON, 'content-type': type, 'content-length': length })
      response.end(MESSAGE)
      return
    }
    response.writeHead(200, { ...COMMON, 'content-type': 'text/event-stream; charset=utf-8' })
    response.flushHeaders()
    streams.add({
      left: events,
      write: () => void response.write(EVENT),
      end: () => response.end(),
    })
  })
}

type OpenStream = { left: number; write(): void; end(): void }
const streams = new Set<OpenStream>()

function tick(): void {
  for (const stream of streams) {
    if (stream.left === 0) {
      streams.delete(stream)
      stream.end()
    } else {
      stream.left -= 1
      stream.write()
    }
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1', 4_096)
  await new Promise((resolve) => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

async function serve([key = '', cert = '', paceMs]: readonly string[]): Promise<void> {
  const pem = { key: readFileSync(key), cert: readFileSync(cert) }
  const h2 = createSecureServer(pem, answer as never)
  const servers = [createHttp(answer), createHttps(pem, answer), h2 as unknown as Server]
  for (const one of servers.slice(0, 2)) Object.assign(one, { keepAliveTimeout: 75_000 })
  const [plain, tls, http2] = await Promise.all(servers.map(listen))
  setInterval(tick, Number(paceMs))
  process.send?.({ plain, tls, http2 })
  process.on('disconnect', () => process.exit())
}

if (import.meta.main) await serve(process.argv.slice(2))
