// The HTTP server that clients reach: node:http, behind the few calls that the gateway makes on a
// request and a reply. It adds the limits that node:http leaves to us and refuses what node:http
// reads leniently, so that no proxy before us reads a request differently.
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { ClientReply, LINGER_MS, type ReplyHeaders } from './reply.ts'
import { ClientRequest } from './request.ts'

export type { ClientReply, ReplyHeaders } from './reply.ts'
export type { BodySink, ClientRequest } from './request.ts'

/** Why bytes did not become a request, or not all of one. */
export type Problem = 'malformed' | 'overflow' | 'cut' | 'late'

export type HttpLimits = {
  readonly headBytesMax: number
  /** From the first byte of a request, or from a connection's begin, to the end of the head. */
  readonly headMs: number
  /** From the first byte to the last. */
  readonly requestMs: number
  readonly keepAliveMs: number
  /** A client that reads nothing of an ended reply for this long is disconnected. */
  readonly unreadMs: number
}

export type HttpOptions = {
  readonly limits: HttpLimits
  answer(request: ClientRequest, reply: ClientReply): void
  /** The answer to bytes that are not a request. The connection closes behind it. */
  unparsed(problem: Problem): { status: number; headers: ReplyHeaders; body: string }
  /** A connection could not be accepted, usually because file descriptors ran out. */
  unaccepted(error: Error): void
}

/** A client sends two dozen. node:http drops what exceeds its own limit without a word. */
const HEADERS_MAX = 1_000
/**
 * Requests of one connection that are not answered yet. One read of the socket holds 3,600 of the
 * shortest, and node:http makes 3 KB of objects for each: a connection that never reads its replies
 * would cost 10 MB. No client library sends a second request before it has read the first reply.
 */
const PIPELINED_MAX = 16
/** How often node:http compares its connections with `headMs` and `requestMs`. */
const CHECK_MS = 1_000

type Connection = {
  /** Replies that have not left the process. */
  readonly replies: Set<ClientReply>
  /** The newest request: the one whose body may still be arriving. */
  request: ClientRequest | undefined
  reply: ClientReply | undefined
  isRefused: boolean
}

export function createHttpServer(options: HttpOptions) {
  const { limits } = options
  const connections = new WeakMap<Socket, Connection>()
  const state = { isDraining: false }

  function accept(socket: Socket): void {
    const connection: Connection = {
      replies: new Set(),
      request: undefined,
      reply: undefined,
      isRefused: false,
    }
    connections.set(socket, connection)
    // A client that closes its side while we answer has left. One that closes it in the middle of
    // its body is told so.
    socket.on('end', () => {
      if (isAnswering(connection) && !connection.request?.isBroken) socket.destroy()
    })
    socket.on('close', () => {
      for (const reply of connection.replies) reply.close()
    })
  }

  function answer(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message
    const connection = connections.get(socket) as Connection
    // Further requests of the packet in which one was refused.
    if (socket.destroyed || connection.isRefused) return
    const problem = problemOf(message)
    if (problem !== undefined) {
      refuse(socket, connection, problem)
      return
    }
    if (connection.replies.size >= PIPELINED_MAX) {
      socket.destroy()
      return
    }
    const request = new ClientRequest(message)
    const reply = new ClientReply(request, message, response, state)
    // node:http drops the bytes that follow such a request in the same read. Closing the connection
    // tells the client, and a proxy, that they were not answered.
    reply.isLast = message.headers.upgrade !== undefined
    connection.request = request
    connection.reply = reply
    connection.replies.add(reply)
    // node:http emits it after the last byte has left, and when the connection is lost.
    response.on('close', () => {
      connection.replies.delete(reply)
      reply.close()
      // An idle connection keeps nothing of its last request.
      if (connection.reply !== reply) return
      connection.request = undefined
      connection.reply = undefined
    })
    options.answer(request, reply)
  }

  /** Answers what is not a request, unless its bytes would end up inside of a reply. */
  function refuse(socket: Socket, connection: Connection, problem: Problem): void {
    connection.isRefused = true
    if (!socket.writable || connection.replies.size > 0) {
      socket.destroy()
      return
    }
    const { status, headers, body } = options.unparsed(problem)
    const lines = Object.entries({ ...headers, connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    )
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.on('close', () => clearTimeout(timer))
  }

  function failed(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = connections.get(socket)
    // Bytes behind a request that said `connection: close` are nobody's.
    if (connection === undefined || error.code === 'HPE_CLOSED_CONNECTION') return
    if (connection.isRefused) return
    const problem = problemOfError(error, socket)
    if (problem === undefined) {
      socket.destroy()
      return
    }
    const { request, reply } = connection
    if (request !== undefined && reply !== undefined && !request.isWhole && !reply.isBegun) {
      if (problem === 'cut') {
        // The pipeline refuses the broken body; the client still reads.
        reply.isLast = true
        request.break()
        return
      }
      connection.replies.delete(reply)
      reply.close()
      request.break()
    }
    refuse(socket, connection, problem)
  }

  const server = createServer(
    {
      keepAliveTimeout: limits.keepAliveMs,
      headersTimeout: limits.headMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: CHECK_MS,
      maxHeaderSize: limits.headBytesMax,
      // node:http would refuse its absence in a shape of its own; nothing here depends on it.
      requireHostHeader: false,
      noDelay: true,
    },
    answer,
  )
  server.maxHeadersCount = HEADERS_MAX + 1
  server.timeout = limits.unreadMs
  server.on('connection', accept)
  // An expectation that we do not know is ignored.
  server.on('checkExpectation', answer)
  server.on('clientError', (error, socket) => failed(error, socket as Socket))
  server.on('connect', (_, socket) => {
    // node:http has taken its own listeners off; an error without one would end the process.
    socket.on('error', () => socket.destroy())
    refuse(socket as Socket, connections.get(socket as Socket) as Connection, 'malformed')
  })
  server.on('timeout', (socket) => {
    const connection = connections.get(socket)
    // A reply under way may be silent for minutes; the pipeline has its own limits for it.
    if (connection === undefined || !isAnswering(connection)) socket.destroy()
  })

  return {
    /** Resolves with the port taken. */
    listen: (port: number, address: string): Promise<number> =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, address, () => {
          server.off('error', reject)
          server.on('error', options.unaccepted)
          const taken = server.address()
          resolve(typeof taken === 'object' && taken !== null ? taken.port : port)
        })
      }),

    /**
     * Accepts no new connection; those that are there may bring requests, and are told to close
     * with the next reply that begins. Resolves when the last one is gone.
     */
    drain(): Promise<void> {
      state.isDraining = true
      return new Promise((resolve) => {
        // The close of net.Server: that of http.Server closes idle connections at once, also those
        // on which a request is under way to us.
        NetServer.prototype.close.call(server, () => resolve())
      })
    },

    isDraining: () => state.isDraining,
    closeIdle: () => server.closeIdleConnections(),
    closeAll: () => server.closeAllConnections(),
  }
}

/** What llhttp lets through and another reader of the same bytes might understand differently. */
function problemOf({ httpVersion, rawHeaders, headers }: IncomingMessage): Problem | undefined {
  if (rawHeaders.length > 2 * HEADERS_MAX) return 'overflow'
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'malformed'
  const encoding = headers['transfer-encoding']
  if (encoding === undefined) return undefined
  const isPlainChunked = httpVersion === '1.1' && encoding.toLowerCase() === 'chunked'
  return isPlainChunked ? undefined : 'malformed'
}

/** Undefined when nobody is there to be told. */
function problemOfError({ code }: NodeJS.ErrnoException, socket: Socket): Problem | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return socket.bytesRead === 0 ? undefined : 'late'
  if (code === 'HPE_INVALID_EOF_STATE') return 'cut'
  if (code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'overflow'
  return code?.startsWith('HPE_') ? 'malformed' : undefined
}

function isAnswering({ replies }: Connection): boolean {
  for (const reply of replies) if (!reply.isEnded) return true
  return false
}
