// An upstream whose bytes a test writes itself, and a transport to it, for tests of transports.
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { BookId } from '../../src/platform/ids.ts'
import type { Holder } from '../../src/platform/shares.ts'
import { createWaitingPlaces } from '../../src/platform/slots.ts'
import { createTransport, type TransportOptions } from '../../src/upstreams/transport/transport.ts'
import { upstreamDefaults } from '../stages/data-plane.ts'

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** What carries the requests. */
export const carriers = ['direct', 'undici'] as const
export type CarrierName = (typeof carriers)[number]

export type Peer = {
  readonly port: number
  readonly sockets: Socket[]
  /** Requests in the order in which they were complete. */
  readonly asked: { readonly socket: Socket; readonly text: string }[]
}

const ends: (() => void)[] = []

/** For `after`: closes all peers and transports. */
export function closePeers(): void {
  for (const end of ends.splice(0)) end()
}

/** A server that answers each complete request with the given bytes. */
export async function startPeer(
  answer: (socket: Socket, text: string, nth: number) => void,
): Promise<Peer> {
  const peer = { port: 0, sockets: [] as Socket[], asked: [] as Peer['asked'] }
  const server: Server = createServer((socket) => {
    peer.sockets.push(socket)
    socket.on('error', () => {})
    let text = ''
    socket.setEncoding('latin1').on('data', (more: string) => {
      text += more
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0)
      if (end === -1 || text.length < end + 4 + length) return
      const whole = text
      text = ''
      peer.asked.push({ socket, text: whole })
      answer(socket, whole, peer.asked.length)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    server.close()
    for (const socket of peer.sockets) socket.destroy()
  })
  peer.port = (server.address() as { port: number }).port
  return peer
}

/** undici speaks HTTP/1.1 here too: without TLS it does not offer HTTP/2. */
export function transportTo(
  port: number,
  carrier: CarrierName,
  {
    waitingMax,
    secret = () => 'credential',
    ...more
  }: Partial<TransportOptions> & { waitingMax?: number; secret?: () => string } = {},
) {
  const clock = { ms: 0 }
  const transport = createTransport({
    ...upstreamDefaults,
    url: `http://127.0.0.1:${port}`,
    connections: 8,
    http2: carrier === 'undici',
    spanMs: () => clock.ms,
    waiting: createWaitingPlaces(() => clock.ms, waitingMax),
    ...more,
  })
  ends.push(() => transport.close())
  /** Sends a request and returns its result. */
  const ask = (
    name: string,
    body: readonly Buffer[] = [Buffer.from(name)],
    book = 1n,
    untilMs = Number.POSITIVE_INFINITY,
  ) => {
    const over = Promise.withResolvers<{ status: number; body: string }>()
    const began = Promise.withResolvers<void>()
    const seen = { status: 0, body: '' }
    const holder: Holder = { onShed: () => call.abort() }
    const call = transport.send(
      () => ['x-api-key', secret()],
      {
        ...{ book: book as BookId, holder, model: 'any', path: `/${name}`, headers: [], body },
        ...{ isStream: false, untilMs },
      },
      {
        head(status) {
          seen.status = status
        },
        data(bytes) {
          seen.body += bytes.toString('latin1')
          began.resolve()
        },
        end: () => over.resolve(seen),
        fail: (error) => over.reject(error),
      },
    )
    over.promise.catch(() => {})
    return { call, over: over.promise, began: began.promise }
  }
  return { transport, ask, clock }
}
