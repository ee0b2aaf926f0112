// Answers with a JSON object.
import type { Exchange } from '../exchange.ts'

export function writeJson({ clientReply, requestId }: Exchange, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value))
  clientReply.begin(200, {
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    'request-id': requestId,
  })
  clientReply.end(body)
}
