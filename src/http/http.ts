// The HTTP server for clients: node:http behind a small interface for requests and replies. It adds
// limits that node:http does not have, and rejects what node:http accepts leniently, so that no
// proxy in front of us reads a request differently.
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { ClientReply, type CloseCause, LINGER_MS, type ReplyHeaders } from './reply.ts'
import { ClientRequest } from './request.ts'

export type { ClientReply, CloseCause, ReplyHeaders } from './reply.ts'
export type { ClientRequest, RequestBodySink } from './request.ts'

/** Why bytes did not become a request, or not all of one. */
export type Problem = 'malformed' | 'overflow' | 'cut' | 'late'

export type HttpLimits = {
  readonly headBytesMax: number
  /**
   * From the first byte of a request, or from the start of the connection, to the end of the head.
   */
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
  /** The answer to bytes that are not a request. The connection is closed after it. */
  unparsed(problem: Problem): { status: number; headers: ReplyHeaders; body: string }
  /** Called for each part of a body that is read and dropped; may pause the request. */
  paceDiscarded(request: ClientRequest, bytes: number): void
  /** A connection could not be accepted, usually because file descriptors ran out. */
  unaccepted(error: Error): void
}

/** A connection that another process accepted, and keeps a copy of. */
export type GivenConnection = {
  readonly socket: Socket
  /** A process that has died had it before, perhaps with the first bytes of a request. */
  readonly isInherited: boolean
  /** Called when a request arrives on an idle connection, before anything else is done with it. */
  setBusy(): void
  /** Called when all requests are answered and another may follow. */
  setIdle(): void
}

/** Clients send two dozen. node:http silently drops headers beyond its own limit. */
const HEADERS_MAX = 1_000
/**
 * Unanswered requests of one connection. One read of the socket holds 3,600 of the shortest, and
 * node:http creates 3 KB of objects for each, so a client that never reads its replies would cost
 * 10 MB. No client library sends a second request before it has read the first reply.
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
  /** Why this side closed it; undefined when the client did. */
  closedFor: CloseCause | undefined
  /** No request has arrived. */
  isFresh: boolean
  /** What had been read of it when its last reply had left; more is the beginning of a request. */
  idleSinceByte: number
  given: GivenConnection | undefined
}

export function createHttpServer(options: HttpOptions) {
  const { limits } = options
  const connections = new Map<Socket, Connection>()
  const state = {
    ...{ isDraining: false, isTaking: false, onEmpty: () => {} },
    closedFor: undefined as CloseCause | undefined,
  }

  function accept(socket: Socket): void {
    const connection = newConnection()
    connections.set(socket, connection)
    // A client that closes its side while we answer has left. One that closes it in the middle of
    // its body gets an error.
    socket.on('end', () => {
      if (isAnswering(connection) && !connection.request?.isBroken) socket.destroy()
    })
    socket.on('close', () => {
      for (const reply of connection.replies) reply.close()
      connections.delete(socket)
      if (connections.size === 0) state.onEmpty()
    })
  }

  function take(given: GivenConnection): void {
    const { socket } = given
    if (!state.isTaking) {
      state.isTaking = true
      server.emit('listening') // node:http then starts to check its time limits
    }
    socket.allowHalfOpen = true // as node:http sets it for connections that it accepts
    server.emit('connection', socket)
    const connection = connections.get(socket)
    if (connection !== undefined) connection.given = given
  }

  /** `expects` means that the client sends its body only after `100 Continue`. */
  function answer(message: IncomingMessage, response: ServerResponse, expects = false): void {
    const { socket } = message
    const connection = connections.get(socket) as Connection
    // Ignore further requests of a packet in which one was refused.
    if (socket.destroyed || connection.isRefused) return
    if (connection.replies.size === 0) connection.given?.setBusy()
    const problem = problemOf(message)
    if (problem !== undefined) {
      refuse(socket, connection, problem)
      return
    }
    if (connection.replies.size >= PIPELINED_MAX) {
      socket.destroy()
      return
    }
    connection.isFresh = false
    const askForBody = expects ? () => response.writeContinue() : undefined
    const request = new ClientRequest(message, options.paceDiscarded, askForBody)
    const reply = new ClientReply(request, message, response, state, connection)
    // node:http drops the bytes that follow an upgrade request in the same read. Closing the
    // connection shows the client, or a proxy, that they were not answered.
    reply.isLast = message.headers.upgrade !== undefined
    connection.request = request
    connection.reply = reply
    connection.replies.add(reply)
    // node:http emits it after the last byte has left, and when the connection is lost.
    response.on('close', () => {
      connection.replies.delete(reply)
      reply.close()
      connection.idleSinceByte = socket.bytesRead
      if (connection.replies.size === 0 && socket.writable) connection.given?.setIdle()
      // An idle connection must not keep its last request in memory.
      if (connection.reply !== reply) return
      connection.request = undefined
      connection.reply = undefined
    })
    options.answer(request, reply)
  }

  /** Answers bytes that are not a request, unless the answer would end up inside another reply. */
  function refuse(socket: Socket, connection: Connection, problem: Problem): void {
    connection.isRefused = true
    connection.given?.setBusy()
    // The process that died may have read the beginning, so the client has made no mistake.
    const isRest = connection.given?.isInherited === true && connection.isFresh
    if (isRest || !socket.writable || connection.replies.size > 0) {
      socket.destroy()
      return
    }
    endWith(socket, options.unparsed(problem))
  }

  function failed(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = connections.get(socket)
    // Ignore bytes after a request that said `connection: close`.
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
        // The gateway refuses the incomplete body; the client still reads our answer.
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
      // node:http would answer a missing Host header in its own format; `problemOf` refuses it.
      requireHostHeader: false,
      noDelay: true,
    },
    (message, response) => answer(message, response),
  )
  server.maxHeadersCount = HEADERS_MAX + 1
  server.timeout = limits.unreadMs
  server.on('connection', accept)
  // Ignore an unknown `expect` header.
  server.on('checkExpectation', (message, response) => answer(message, response))
  // Without this, node:http would ask for the body before the key is checked.
  server.on('checkContinue', (message, response) => answer(message, response, true))
  server.on('clientError', (error, socket) => failed(error, socket as Socket))
  server.on('connect', (_, socket) => {
    // node:http has removed its listeners; an error without a listener would end the process.
    socket.on('error', () => socket.destroy())
    refuse(socket as Socket, connections.get(socket as Socket) as Connection, 'malformed')
  })
  server.on('timeout', (socket) => {
    const connection = connections.get(socket)
    // A reply under way may be silent for minutes; the gateway has its own limits for it.
    if (connection === undefined || !isAnswering(connection)) socket.destroy()
  })

  return {
    /** Serves a connection that another process has accepted; instead of `listen`. */
    take,

    /** Resolves with the port in use. */
    listen: (port: number, address: string) => listenOn(server, port, address, options.unaccepted),

    /**
     * Accepts no new connection. Open ones may still bring requests; the next reply on each says
     * `connection: close`. Resolves when the last connection has closed.
     */
    drain(): Promise<void> {
      state.isDraining = true
      // net.Server's close, because http.Server's closes idle connections at once, also those on
      // which a request is on its way.
      if (server.listening) NetServer.prototype.close.call(server)
      return new Promise((resolve) => {
        state.onEmpty = resolve
        if (connections.size === 0) resolve()
      })
    },

    isDraining: () => state.isDraining,
    /**
     * Closes connections without a request. http.Server's function of that purpose also closes
     * those of an ended reply whose last bytes wait for a slow client to read.
     */
    closeIdle(): void {
      for (const [socket, connection] of connections) {
        if (isIdle(socket, connection)) socket.destroy()
      }
    },
    /** Closes every connection; replies that are not complete learn the cause. */
    closeAll(cause: CloseCause): void {
      state.closedFor = cause
      server.closeAllConnections()
    },
  }
}

function listenOn(
  server: Server,
  port: number,
  address: string,
  onError: (error: Error) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => {
      server.off('error', reject)
      server.on('error', onError)
      const taken = server.address()
      resolve(typeof taken === 'object' && taken !== null ? taken.port : port)
    })
  })
}

/** Writes an answer without node:http, which has no request to answer, and closes. */
function endWith(
  socket: Socket,
  { status, headers, body }: ReturnType<HttpOptions['unparsed']>,
): void {
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.on('close', () => clearTimeout(timer))
}

function newConnection(): Connection {
  return {
    replies: new Set(),
    request: undefined,
    reply: undefined,
    isRefused: false,
    closedFor: undefined,
    isFresh: true,
    idleSinceByte: 0,
    given: undefined,
  }
}

/** Finds what llhttp accepts but another parser might read differently. */
function problemOf({ httpVersion, rawHeaders, headers }: IncomingMessage): Problem | undefined {
  if (rawHeaders.length > 2 * HEADERS_MAX) return 'overflow'
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'malformed'
  const hosts = hostCount(rawHeaders)
  // As RFC 9112, section 3.2, requires. HTTP/1.0 has no such header.
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return 'malformed'
  const encoding = headers['transfer-encoding']
  if (encoding === undefined) return undefined
  const isPlainChunked = httpVersion === '1.1' && encoding.toLowerCase() === 'chunked'
  return isPlainChunked ? undefined : 'malformed'
}

/** node:http keeps only the first of several Host headers. */
function hostCount(rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

/** Undefined when the client cannot be answered. */
function problemOfError({ code }: NodeJS.ErrnoException, socket: Socket): Problem | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return socket.bytesRead === 0 ? undefined : 'late'
  if (code === 'HPE_INVALID_EOF_STATE') return 'cut'
  if (code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'overflow'
  return code?.startsWith('HPE_') ? 'malformed' : undefined
}

function isIdle(socket: Socket, { replies, idleSinceByte }: Connection): boolean {
  return replies.size === 0 && socket.bytesRead === idleSinceByte
}

function isAnswering({ replies }: Connection): boolean {
  for (const reply of replies) if (!reply.isEnded) return true
  return false
}
