// The listening socket of a fleet. The parent accepts each connection, passes it to one process
// after the other in turn, and keeps a copy of the socket while the process has it. When a process
// dies, its connections on which no request is under way go to another process with the bytes that
// wait in the kernel, so their clients notice nothing. While no process takes connections, they
// wait here.
import { createServer, type Server, type Socket } from 'node:net'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { MARKS, type Marks } from './marks.ts'
import type { ConnectionsReport, ParentMessage } from './messages.ts'

/**
 * Connections that a process may have in its message channel: one that it takes and the next one. A
 * frozen process delays only these.
 */
const UNTAKEN_MAX = 2
/** Connections that wait for a process: 5 s of 2,000 new ones a second. */
const WAITING_MAX = 10_000
/** As long as a request waits for the database. */
const WAITING_MS_MAX = 30_000
/** After four dead processes that answered nothing, the connection may be what kills them. */
const PASSES_MAX = 4

export type ListenAddress = {
  readonly host: string
  readonly port: number
  /** A listening socket that somebody else opened; host and port are then not used. */
  readonly fd?: number | undefined
}

type Connection = {
  readonly socket: Socket
  /** How many processes got it since a request of it was answered. */
  passes: number
  /** One of them may have read from it. */
  isInherited: boolean
  waitsSinceMs: number
}

/** A process, as this file sees it. */
type Receiver = {
  readonly send: (message: ParentMessage, socket: Socket, onUnsent: () => void) => void
  readonly marks: Marks
  readonly kept: Map<number, Connection>
  readonly freeSlots: number[]
  slots: number
  isTaking: boolean
  /** Connections in its message channel. */
  untaken: number
}

export type { Receiver }

type ConnectionsOptions = {
  readonly log: Log
  readonly clock: Clock
  /** Each takes a file descriptor and 4 KB of memory here; more are closed at once. */
  readonly connectionsMax?: number
}

export function createConnections({ log, clock, connectionsMax = MARKS }: ConnectionsOptions) {
  /** In the order of their turns. */
  const receivers = new Set<Receiver>()
  const waiting: Connection[] = []
  const counts = { kept: 0, inherited: 0, dropped: 0 }
  const state: { server: Server | undefined; isClosed: boolean } = {
    server: undefined,
    isClosed: false,
  }

  function nextInTurn(): Receiver | undefined {
    for (const receiver of receivers) {
      if (!receiver.isTaking || receiver.untaken >= UNTAKEN_MAX) continue
      receivers.delete(receiver)
      receivers.add(receiver)
      return receiver
    }
    return undefined
  }

  function accept(socket: Socket): void {
    socket.on('error', () => undefined) // the process that has it sees the error too
    const connection = { socket, passes: 0, isInherited: false, waitsSinceMs: 0 }
    if (counts.kept + waiting.length < connectionsMax) pass(connection)
    else drop(connection)
  }

  function pass(connection: Connection): void {
    const receiver = nextInTurn()
    if (receiver !== undefined) give(receiver, connection)
    else if (waiting.length < WAITING_MAX) {
      connection.waitsSinceMs = clock.spanMs()
      waiting.push(connection)
    } else drop(connection)
  }

  function give(receiver: Receiver, connection: Connection): void {
    const { socket, isInherited } = connection
    const slot = receiver.freeSlots.pop() ?? receiver.slots++
    connection.passes += 1
    receiver.untaken += 1
    receiver.marks.setUnused(slot)
    receiver.kept.set(slot, connection)
    counts.kept += 1
    if (isInherited) counts.inherited += 1
    receiver.send({ kind: 'connection', slot, isInherited }, socket, () => {
      // A dead process is no longer among the receivers, and its connections are passed on.
      if (receivers.has(receiver)) takeBack(receiver, slot)
    })
  }

  /** The process did not get the connection. It gets no other before its next beat. */
  function takeBack(receiver: Receiver, slot: number): void {
    receiver.untaken -= 1
    receiver.isTaking = false
    passOn(release(receiver, slot))
  }

  function passOn(connection: Connection | undefined): void {
    if (connection === undefined) return
    if (state.isClosed || connection.passes >= PASSES_MAX) drop(connection)
    else pass(connection)
  }

  function drop({ socket }: Connection): void {
    counts.dropped += 1
    socket.destroy()
  }

  function passWaiting(): void {
    while (waiting.length > 0) {
      const receiver = nextInTurn()
      if (receiver === undefined) return
      give(receiver, waiting.shift() as Connection)
    }
  }

  /** Forgets a copy; the socket closes if the process has closed it. */
  function release(receiver: Receiver, slot: number): Connection | undefined {
    const connection = receiver.kept.get(slot)
    if (connection === undefined) return undefined
    receiver.kept.delete(slot)
    receiver.freeSlots.push(slot)
    counts.kept -= 1
    return connection
  }

  return {
    counts: () => ({ ...counts, waiting: waiting.length }),

    /**
     * Opens the port, or uses the open socket `fd`; resolves with the port's number. It stays open
     * whatever happens to processes.
     */
    listen: ({ port, host, fd }: ListenAddress): Promise<number> =>
      new Promise((resolve, reject) => {
        const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true })
        server.on('connection', accept)
        server.once('error', reject)
        server.listen(fd === undefined ? { port, host } : { fd }, () => {
          server.off('error', reject)
          server.on('error', (error) => log.warn({ err: error }, 'a connection was not accepted'))
          const taken = server.address()
          resolve(typeof taken === 'object' && taken !== null ? taken.port : port)
        })
        state.server = server
      }),

    /** A process that is started; it gets connections when `setTaking` says so. */
    add(marks: Marks, send: Receiver['send']): Receiver {
      const receiver: Receiver = {
        ...{ send, marks, kept: new Map(), freeSlots: [], slots: 0 },
        ...{ isTaking: false, untaken: 0 },
      }
      receivers.add(receiver)
      return receiver
    },

    setTaking(receiver: Receiver, isTaking: boolean): void {
      receiver.isTaking = isTaking
      if (isTaking) passWaiting()
    },

    /**
     * A process has taken connections from its channel, has closed some, and was too short of file
     * descriptors to receive some.
     */
    report(receiver: Receiver, { taken, closed, unreceived }: ConnectionsReport): void {
      receiver.untaken -= taken
      for (const slot of closed) release(receiver, slot)?.socket.destroy()
      for (const slot of unreceived) takeBack(receiver, slot)
      passWaiting()
    },

    /** A process has died: the others inherit its idle connections. */
    remove(receiver: Receiver): void {
      receivers.delete(receiver)
      const markOf = receiver.marks.read(receiver.slots)
      for (const slot of [...receiver.kept.keys()]) {
        const connection = release(receiver, slot) as Connection
        const mark = markOf(slot)
        if (mark === 'busy') connection.socket.destroy()
        else {
          if (mark === 'served') connection.passes = 0
          connection.isInherited = true
          passOn(connection)
        }
      }
      receiver.marks.close()
    },

    /** Disconnects clients that have waited too long. */
    tick(): void {
      const nowMs = clock.spanMs()
      while (nowMs - (waiting[0]?.waitsSinceMs ?? nowMs) > WAITING_MS_MAX) {
        drop(waiting.shift() as Connection)
      }
    },

    /** Accepts no connection any more; those that wait go to a process, if there is one. */
    close(): void {
      state.isClosed = true
      state.server?.close()
      const alive = [...receivers].filter(({ isTaking }) => isTaking)
      for (const [i, connection] of waiting.splice(0).entries()) {
        const receiver = alive[i % Math.max(1, alive.length)]
        if (receiver === undefined) drop(connection)
        else give(receiver, connection)
      }
    },
  }
}

export type Connections = ReturnType<typeof createConnections>
