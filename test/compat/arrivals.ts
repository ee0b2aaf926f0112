// What reached the gateway, seen from inside Node's HTTP server and therefore without a proxy that
// could change it: one record per attempt of a client, with its headers and bytes as they came.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

export type Arrival = {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly atMs: number
  /** What has been read of the body so far. */
  body(): Buffer
}

const CHANNEL = 'http.server.request.start'

export function watchArrivals(port: number) {
  const all: Arrival[] = []
  const note = (message: unknown) => {
    const { request } = message as { request: IncomingMessage }
    if (request.socket.localPort === port) all.push(arrivalOf(request))
  }
  subscribe(CHANNEL, note)
  return { all, stop: () => unsubscribe(CHANNEL, note) }
}

function arrivalOf(request: IncomingMessage): Arrival {
  const chunks: Buffer[] = []
  const push = request.push.bind(request)
  // A `data` listener would start the flow before the gateway wants it; the parser's own hand-over
  // is overheard instead.
  request.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
    return push(chunk, encoding)
  }
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    atMs: performance.now(),
    body: () => Buffer.concat(chunks),
  }
}
