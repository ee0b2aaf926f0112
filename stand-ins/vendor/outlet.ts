// The response writer: writes the bytes of one answer, waits for slow clients, and applies the
// faults of bytes: odd chunks, unrequested compression, connections that end too early. It does not
// depend on messages or events.
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { Faults } from './faults.ts'
import type { Received, RequestRecord } from './record.ts'
import { createDice } from './text.ts'
import type { Wheel } from './wheel.ts'

type Parts = {
  readonly response: ServerResponse
  readonly received: Received
  readonly record: RequestRecord
  readonly faults: Faults
  readonly wheel: Wheel
}

// Random chunks are mostly shorter than an event, so that cuts fall inside events.
const randomChunkBytesMax = 48

export function openOutlet({ response, received, record, faults, wheel }: Parts) {
  const cut = cutOf(faults)
  const sizes = chunkSizes(faults)
  const gzip = faults.gzip ? createSqueezer() : null
  const isPlain = cut === null && sizes === null && gzip === null
  let isOver = false
  let wake: (() => void) | null = null

  response.on('close', () => {
    isOver = true
    record.end(received, response.writableFinished ? 'finished' : 'aborted')
    wake?.()
  })

  /** Writes and, when the client reads slowly, waits until it has caught up or disconnected. */
  async function push(bytes: Buffer): Promise<void> {
    received.bytesSent += bytes.length
    if (response.write(bytes)) return
    await new Promise<void>((resolve) => {
      wake = resolve
      response.once('drain', resolve)
    })
    wake = null
  }

  async function deliver(bytes: Buffer): Promise<void> {
    const room = cut === null ? Number.POSITIVE_INFINITY : cut.at - received.bytesSent
    const due = bytes.subarray(0, Math.min(bytes.length, room))
    for (let at = 0; at < due.length && !isOver; ) {
      const size = sizes === null ? due.length : sizes()
      await push(due.subarray(at, at + size))
      at += size
      // With a turn of the event loop between them, chunks leave in separate packets.
      if (sizes !== null) await nextTurn()
    }
    if (cut !== null && room <= bytes.length && !isOver) await sever(cut.how)
  }

  async function sever(how: Cut['how']): Promise<void> {
    isOver = true
    response.flushHeaders()
    await nextTurn()
    record.end(received, 'cut')
    if (how === 'reset') response.socket?.resetAndDestroy()
    else if (how === 'fin') response.socket?.destroySoon()
    else response.end()
  }

  return {
    /** True once the client has disconnected or a fault has ended the answer. */
    isOver: () => isOver,

    head(status: number, headers: Record<string, string>, bodyBytes: number | null): void {
      received.status = status
      response.writeHead(status, {
        ...headers,
        ...(gzip === null ? {} : { 'content-encoding': 'gzip' }),
        ...(faults.close ? { connection: 'close' } : {}),
        // A content-length would turn every early end into a second fault.
        ...(isPlain && bodyBytes !== null ? { 'content-length': String(bodyBytes) } : {}),
      })
    },

    async write(bytes: Buffer): Promise<void> {
      if (!isOver) await deliver(gzip === null ? bytes : await gzip.squeeze(bytes))
    },

    /** The last bytes and the end of the answer. */
    async end(bytes: Buffer): Promise<void> {
      if (isOver) return
      if (isPlain) {
        received.bytesSent += bytes.length
        response.end(bytes)
        return
      }
      await deliver(gzip === null ? bytes : await gzip.squeeze(bytes))
      if (gzip !== null) await deliver(await gzip.finish())
      if (!isOver) response.end()
    },

    /** Ends after that many milliseconds, or at once when the client disconnects. */
    pause(ms: number): Promise<void> {
      if (isOver) return Promise.resolve()
      // If the status is decided, send it before the wait.
      if (response.headersSent) response.flushHeaders()
      return new Promise((resolve) => {
        const task = Number.isFinite(ms) ? wheel.after(ms, done) : null
        wake = done
        function done() {
          if (task !== null) task.wake = null
          wake = null
          resolve()
        }
      })
    },

    /** Resets the connection before any answer. */
    drop: async () => {
      isOver = true
      record.end(received, 'cut')
      response.socket?.resetAndDestroy()
    },
  }
}

export type Outlet = ReturnType<typeof openOutlet>

type Cut = { readonly at: number; readonly how: 'reset' | 'fin' | 'end' }

function cutOf(faults: Faults): Cut | null {
  for (const how of ['reset', 'fin', 'end'] as const) {
    const at = faults[`${how}-at`]
    if (at !== undefined) return { at, how }
  }
  return null
}

function chunkSizes(faults: Faults): (() => number) | null {
  if (faults.chunk === undefined) return null
  if (faults.chunk !== 'random') {
    const size = Math.max(1, Number(faults.chunk) || 1)
    return () => size
  }
  const dice = createDice(faults.seed ?? 1)
  return () => 1 + Math.floor(dice() * randomChunkBytesMax)
}

/** Compresses piece by piece, each one readable as soon as it arrives. */
function createSqueezer() {
  const gzip = createGzip()
  const out: Buffer[] = []
  gzip.on('data', (bytes: Buffer) => out.push(bytes))
  const take = () => Buffer.concat(out.splice(0))
  return {
    async squeeze(bytes: Buffer): Promise<Buffer> {
      gzip.write(bytes)
      await new Promise<void>((resolve) => gzip.flush(resolve))
      await nextTurn()
      return take()
    },
    async finish(): Promise<Buffer> {
      await new Promise<void>((resolve) => gzip.once('end', resolve).end())
      return take()
    },
  }
}
