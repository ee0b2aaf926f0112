// A reply to a client as the gateway writes it. The head waits for the first bytes of the body and
// leaves with them: one write for a plain reply.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { ClientRequest } from './request.ts'

export type ReplyHeaders = Readonly<Record<string, string | number | undefined>>

/**
 * How long the rest of a request is read and thrown away after its reply has been written. Closing
 * a connection on which the client still sends makes its kernel discard our answer.
 */
export const LINGER_MS = 5_000

export class ClientReply {
  statusCode = 200
  /** The head is decided; it may not have left. */
  isBegun = false
  isEnded = false
  /** Makes the head say that the connection closes after this reply. */
  isLast = false
  /** Called once, when the client disconnects before the reply has ended. */
  onGone: (() => void) | undefined
  private readonly request: ClientRequest
  private readonly message: IncomingMessage
  private readonly response: ServerResponse
  private readonly server: { readonly isDraining: boolean }
  private isClosed = false

  constructor(
    request: ClientRequest,
    message: IncomingMessage,
    response: ServerResponse,
    server: { readonly isDraining: boolean },
  ) {
    this.request = request
    this.message = message
    this.response = response
    this.server = server
  }

  /** A header for whatever head follows. */
  setHeader(name: string, value: string): void {
    this.response.setHeader(name, value)
  }

  /** Throws when a value could start another header; another head may then be begun. */
  begin(status: number, headers: ReplyHeaders): void {
    const head: Record<string, string | number> = {}
    for (const name in headers) {
      const value = headers[name]
      if (value !== undefined) head[name] = value
    }
    if (this.isLast || this.server.isDraining) head.connection = 'close'
    if (!this.isClosed) this.response.writeHead(status, STATUS_CODES[status], head)
    this.statusCode = status
    this.isBegun = true
  }

  /** Sends the head alone: the client learns that its reply has begun. */
  flush(): void {
    if (!this.isClosed) this.response.flushHeaders()
  }

  /** False when the client reads more slowly than we write; `afterDrain` calls when it has read. */
  write(bytes: Buffer): boolean {
    return this.isClosed || this.response.write(bytes)
  }

  afterDrain(act: () => void): void {
    this.response.once('drain', act)
  }

  end(body?: Buffer): void {
    if (this.isEnded) return
    this.isEnded = true
    if (this.isClosed) return
    if (this.message.complete) this.response.end(body)
    else this.linger(body)
  }

  /** Breaks the connection off: the client sees no end. */
  destroy(): void {
    this.message.socket.destroy()
  }

  /** Called by the server: no byte of this reply can reach the client any more. May be repeated. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    if (!this.isEnded) this.onGone?.()
  }

  /** The client is still sending: all of the reply is written, its end waits for the body's. */
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
