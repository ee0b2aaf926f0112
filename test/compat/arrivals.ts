// What reached the gateway, seen from inside its HTTP server and therefore without a proxy that
// could change it: one record per attempt of a client, with its headers and bytes as they came.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingHttpHeaders } from 'node:http'
import type { Request } from '../../src/http/http.ts'

export type Arrival = {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly atMs: number
  /** What has been read of the body so far. */
  body(): Buffer
}

const CHANNEL = 'tollgate.http.request.start'

export function watchArrivals(port: number) {
  const all: Arrival[] = []
  const note = (message: unknown) => {
    const { request, port: at } = message as { request: Request; port: number }
    if (at === port) all.push(arrivalOf(request))
  }
  subscribe(CHANNEL, note)
  return { all, stop: () => unsubscribe(CHANNEL, note) }
}

function arrivalOf(request: Request): Arrival {
  const chunks: Buffer[] = []
  const arrive = request.arrive.bind(request)
  // To read it would start the flow before the gateway wants it; what the connection hands over is
  // overheard instead.
  request.arrive = (chunk) => {
    chunks.push(Buffer.from(chunk))
    arrive(chunk)
  }
  return {
    method: request.method,
    url: request.url,
    headers: request.headers,
    atMs: performance.now(),
    body: () => Buffer.concat(chunks),
  }
}
