// One way to answer with a JSON object of our own.
import type { Exchange } from '../exchange.ts'

export function writeJson({ outgoing, requestId }: Exchange, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value))
  outgoing.begin(200, {
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    'request-id': requestId,
  })
  outgoing.end(body)
}
