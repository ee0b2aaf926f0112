// The smallest relay on node:http and undici's dispatch: no key, no price, no ledger, no limit, no
// deadline. The difference to our gateway is the cost of these.
import { createServer } from 'node:http'
import { Pool } from 'undici'

function run(port: number, upstream: string): void {
  const pool = new Pool(upstream, { connections: 20_000, pipelining: 1 })
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => void parts.push(part))
    incoming.on('end', () => {
      const chunks: Buffer[] = []
      let isStream = false
      pool.dispatch(
        {
          method: 'POST',
          path: incoming.url ?? '/',
          headers: ['content-type', 'application/json', 'x-api-key', 'key-of-the-upstream'],
          body: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts),
        },
        {
          onRequestStart: () => undefined,
          onResponseStart(_, status, headers) {
            isStream = headers['transfer-encoding'] !== undefined
            const type = String(headers['content-type'])
            const length = Number(headers['content-length'])
            outgoing.writeHead(status, {
              'content-type': type,
              ...(isStream ? {} : { 'content-length': length }),
            })
          },
          onResponseData(_, chunk) {
            if (isStream) outgoing.write(chunk)
            else chunks.push(chunk)
          },
          onResponseEnd: () =>
            void outgoing.end(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)),
          onResponseError: () => void outgoing.destroy(),
        },
      )
    })
  })
  server.keepAliveTimeout = 75_000
  server.listen(port, '127.0.0.1')
}

if (import.meta.main) run(Number(process.argv[2]), process.argv[3] ?? '')
