// A reply to a client. The head is sent together with the first bytes of the body, so that a plain
// reply takes one write.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { ClientRequest } from './request.ts'

/** Why this side closes a connection before its reply is complete. */
export type CloseCause = 'client_slow' | 'drained' | 'shed'

export type ReplyHeaders = Readonly<Record<string, string | number | undefined>>

/**
 * How long the rest of a request is read and discarded after its reply has been written. If we
 * closed a connection on which the client still sends, the client's kernel would discard our
 * answer.
 */
export const LINGER_MS = 5_000

type ServerState = { readonly isDraining: boolean; readonly closedFor: CloseCause | undefined }

export class ClientReply {
  /** 0 until a head was written for a client that is still connected. */
  statusCode = 0
  /** Bytes of the body that were given to the connection. */
  bytes = 0
  /** `begin` was called; the head may not have been sent yet. */
  isBegun = false
  isEnded = false
  /** Makes the head say that the connection closes after this reply. */
  isLast = false
  /**
   * Called once, when the connection closes before the reply has ended; without a cause when the
   * client closed it.
   */
  onDisconnect: ((cause: CloseCause | undefined) => void) | undefined
  private readonly request: ClientRequest
  private readonly message: IncomingMessage
  private readonly response: ServerResponse
  private readonly server: ServerState
  private readonly connection: { closedFor: CloseCause | undefined }
  private isClosed = false

  constructor(
    request: ClientRequest,
    message: IncomingMessage,
    response: ServerResponse,
    server: ServerState,
    connection: { closedFor: CloseCause | undefined },
  ) {
    this.request = request
    this.message = message
    this.response = response
    this.server = server
    this.connection = connection
  }

  /** Adds a header to the head that `begin` will write. */
  setHeader(name: string, value: string): void {
    this.response.setHeader(name, value)
  }

  /** Throws when a value contains a line break; `begin` may then be called again. */
  begin(status: number, headers: ReplyHeaders): void {
    const head: Record<string, string | number> = {}
    for (const name in headers) {
      const value = headers[name]
      if (value !== undefined) head[name] = value
    }
    const { isBodyWithheld, isBroken } = this.request
    // A client whose body we do not want may send it nevertheless, or the next request.
    const isLast = this.isLast || isBodyWithheld || isBroken || this.server.isDraining
    if (isLast) head.connection = 'close'
    if (!this.isClosed) {
      this.response.writeHead(status, STATUS_CODES[status], head)
      this.statusCode = status
    }
    this.isBegun = true
  }

  /** Sends the head alone, so that the client sees that its reply has begun. */
  flush(): void {
    if (!this.isClosed) this.response.flushHeaders()
  }

  /**
   * False when the client reads more slowly than we write; `afterDrain` calls back when it has
   * caught up.
   */
  write(bytes: Buffer): boolean {
    if (this.isClosed) return true
    this.bytes += bytes.length
    return this.response.write(bytes)
  }

  afterDrain(act: () => void): void {
    this.response.once('drain', act)
  }

  end(body?: Buffer): void {
    if (this.isEnded) return
    this.isEnded = true
    if (this.isClosed) return
    this.bytes += body?.length ?? 0
    if (this.message.complete) this.response.end(body)
    else this.linger(body)
  }

  /**
   * Closes the connection without a proper end of the reply. The cause is reported to each reply on
   * the connection that is not complete.
   */
  destroy(cause?: CloseCause): void {
    this.connection.closedFor ??= cause
    this.message.socket.destroy()
  }

  /** Called by the server when the connection has closed or the reply is sent. May be repeated. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    if (!this.isEnded) this.onDisconnect?.(this.connection.closedFor ?? this.server.closedFor)
  }

  /**
   * The client is still sending: writes all of the reply, and ends it when the request's body has
   * ended.
   */
  private linger(body: Buffer | undefined): void {
    const { message, response } = this
    if (body === undefined || body.length === 0) response.flushHeaders()
    else response.write(body)
    const timer = setTimeout(() => this.destroy(), LINGER_MS)
    message.once('end', () => response.end())
    message.once('close', () => clearTimeout(timer))
    this.request.discard()
  }
}
