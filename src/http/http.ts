// The door: a server for HTTP/1.1 over node:net, for the one place where every microsecond counts.
// node:http builds a stream for each request and each reply, 28 us that nobody here needs. What
// reads HTTP is the same llhttp; decision 0022 tells the rest.
import { createServer, type Socket } from 'node:net'
import { type Clock, dateAt } from '../platform/clock.ts'
import { Connection, type Host, type HttpLimits, type Problem } from './connection.ts'
import { createParsers } from './llhttp.ts'
import type { Reply } from './reply.ts'
import type { Request } from './request.ts'

export type { Problem } from './connection.ts'
export type { Reply, ReplyHeaders } from './reply.ts'
export type { BodySink, Request } from './request.ts'

export type HttpOptions = {
  readonly limits: HttpLimits
  readonly clock: Clock
  answer(request: Request, reply: Reply): void
  /** Answers what is no request, at once. The connection closes behind it. */
  unparsed(problem: Problem, reply: Reply): void
  /** A connection could not be taken, for want of files as a rule. The server goes on. */
  untaken(error: Error): void
}

/** Limits are seconds and more. */
const LOOK_MS = 1_000
/**
 * A paused socket goes on reading until it has so much, and 64 KiB, the default, can come as 65,536
 * buffers of one byte that take some 16 MB.
 */
const PAUSED_BYTES_MAX = 1_024

export function createHttpServer(options: HttpOptions) {
  const { limits, clock, answer, unparsed } = options
  const all = new Set<Connection>()
  const date = { second: 0, line: '' }
  const host: Host & { isDraining: boolean } = {
    limits,
    clock,
    parsers: createParsers(),
    isDraining: false,
    answer,
    unparsed,
    dateLine() {
      const second = Math.floor(clock.nowMs() / 1_000)
      if (second !== date.second) {
        date.second = second
        date.line = `date: ${dateAt(second * 1_000).toUTCString()}\r\n`
      }
      return date.line
    },
    gone: (connection) => void all.delete(connection),
  }
  function look(): void {
    const nowMs = clock.spanMs()
    for (const connection of all) connection.look(nowMs)
  }
  // Behind the sockets: after a long turn of the event loop what has come is read first.
  const timer = setInterval(() => setImmediate(look), LOOK_MS).unref()
  // Half open, because who has sent a broken request and closed its side can still be told so.
  const server = createServer(
    { allowHalfOpen: true, noDelay: true, highWaterMark: PAUSED_BYTES_MAX },
    (socket: Socket) => {
      all.add(new Connection(host, socket))
    },
  )

  return {
    /** Resolves with the port taken. */
    listen: (port: number, address: string): Promise<number> =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, address, () => {
          server.off('error', reject)
          server.on('error', options.untaken)
          const taken = server.address()
          resolve(typeof taken === 'object' && taken !== null ? taken.port : port)
        })
      }),
    /**
     * Takes no new connection; those that are there may bring requests, and are told to close with
     * the next reply that begins. Resolves when the last one is gone.
     */
    drain(): Promise<void> {
      host.isDraining = true
      return new Promise((resolve) => {
        server.close(() => {
          clearInterval(timer)
          resolve()
        })
      })
    },
    isDraining: () => host.isDraining,
    closeIdle(): void {
      for (const connection of all) if (connection.isIdle) connection.socket.destroy()
    },
    closeAll(): void {
      for (const connection of all) connection.socket.destroy()
    },
  }
}
