// An HTTP server that records each request as it parsed it, for tests that send raw bytes.
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { createHttpServer, type HttpOptions } from '../../src/http/http.ts'

export const limits = {
  headBytesMax: 65_536,
  headMs: 60_000,
  requestMs: 60_000,
  keepAliveMs: 60_000,
  unreadMs: 60_000,
}

export type ReceivedRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

export type Listener = {
  readonly port: number
  /** Accepts no new connection; resolves when all are closed. */
  drain(): Promise<void>
  /** The requests received since the last call. */
  takeRequests(): ReceivedRequest[]
  close(): Promise<void>
}

export async function openListener(options: Partial<HttpOptions> = {}): Promise<Listener> {
  const received: ReceivedRequest[] = []
  const server = createHttpServer({
    limits,
    answer(request, reply) {
      const { method, url, headers } = request
      const chunks: Buffer[] = []
      request.read({
        data: (chunk) => void chunks.push(chunk),
        end() {
          received.push({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') })
          reply.begin(200, { 'content-length': 2 })
          reply.end(Buffer.from('ok'))
        },
        broken() {
          reply.begin(400, { 'content-length': 0 })
          reply.end()
        },
      })
    },
    paceDiscarded: () => undefined,
    unaccepted: (error) => {
      throw error
    },
    unparsed: () => ({ status: 400, headers: { 'content-length': 0 }, body: '' }),
    ...options,
  })
  return {
    port: await server.listen(0, '127.0.0.1'),
    takeRequests: () => received.splice(0),
    drain: server.drain,
    async close() {
      const gone = server.drain()
      server.closeAll('drained')
      await gone
    },
  }
}

/** A server that sends nothing for this long is waiting for more bytes. */
const SILENCE_MS = 50

/** Sends the parts, each as a separate read for the server; returns its bytes until it closes. */
export async function sendParts(port: number, ...parts: readonly string[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const told = readUntilClosed(socket)
  for (const part of parts) {
    await new Promise((resolve) => socket.write(part, 'latin1', resolve))
    await setImmediate()
  }
  const timer = setTimeout(() => socket.end(), SILENCE_MS)
  socket.on('data', () => timer.refresh())
  await told
  clearTimeout(timer)
  return told
}

/** All bytes of the server until it closes or resets the connection. */
export function readUntilClosed(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('latin1').on('data', (part) => {
    text += part
  })
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  return new Promise((resolve) => socket.on('close', () => resolve(text)))
}
