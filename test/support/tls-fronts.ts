// TLS in front of an upstream that has none: HTTP/1.1 as a plain tunnel, or HTTP/2, whose requests
// are sent on over HTTP/1.1. With `asksCertificate` only clients of our authority are served.
import { request as sendOn } from 'node:http'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { connect, type Server } from 'node:net'
import { createServer } from 'node:tls'
import type { Certificates } from './certificates.ts'
import { startClosable } from './closable-server.ts'

export type TlsFront = { readonly url: string; close(): Promise<void> }

type Options = { readonly isHttp2?: boolean; readonly asksCertificate?: boolean }

export async function startTlsFront(
  to: string,
  { ca, server: pair }: Certificates,
  { isHttp2 = false, asksCertificate = false }: Options = {},
): Promise<TlsFront> {
  const { hostname, port } = new URL(to)
  const settings = {
    ...pair,
    ca,
    requestCert: asksCertificate,
    rejectUnauthorized: asksCertificate,
  }
  const server: Server = isHttp2
    ? createSecureServer(settings, (request, response) => forward(to, request, response))
    : createServer(settings, (socket) => {
        const onward = connect({ host: hostname, port: Number(port), noDelay: true })
        socket.on('error', () => onward.destroy()).once('close', () => onward.destroy())
        onward.on('error', () => socket.destroy()).once('close', () => socket.destroy())
        socket.pipe(onward).pipe(socket)
      })
  const front = await startClosable(server)
  return { url: `https://localhost:${front.port}`, close: front.close }
}

/** Headers of a connection, which HTTP/2 does not have. */
const HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'proxy-connection'])

function forward(to: string, request: Http2ServerRequest, response: Http2ServerResponse): void {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !name.startsWith(':')),
  )
  const onward = sendOn(to + request.url, { method: request.method, headers }, (reply) => {
    const kept = Object.entries(reply.headers).filter(([name]) => !HOP.has(name))
    response.writeHead(reply.statusCode ?? 502, Object.fromEntries(kept))
    reply.on('error', () => response.stream?.close(2))
    reply.pipe(response)
  })
  onward.on('error', () => response.stream?.close(2))
  // The gateway left: so must we.
  response.once('close', () => onward.destroy())
  request.pipe(onward)
}
