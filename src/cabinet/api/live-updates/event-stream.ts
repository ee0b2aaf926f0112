// One stream of Server-Sent Events to one browser: the contract's events, a comment as keep-alive
// while nothing happens, and an end. A stream whose browser does not read is closed; the browser
// then opens a new one.
import { Readable } from 'node:stream'
import type { Clock } from '../../../platform/clock.ts'
import type { LiveEvents } from '../../contract/contract.ts'

/** Proxies close a silent connection after 60 s, some after 30. */
const SILENCE_MS = 15_000
/** A few dozen of our largest events; with more waiting, the browser does not read. */
const WAITING_BYTES_MAX = 256 * 1024
/** How long a browser waits before it reopens a broken stream. */
const RECONNECT_MS = 2_000

export function createEventStream(clock: Clock) {
  const out = new Readable({ read() {} })
  const state = { wroteMs: clock.spanMs(), isOver: false }

  function write(text: string): void {
    if (out.destroyed || state.isOver) return
    state.wroteMs = clock.spanMs()
    out.push(text)
    if (out.readableLength > WAITING_BYTES_MAX) out.destroy()
  }

  write(`retry: ${RECONNECT_MS}\n\n`)
  return {
    /** The body of the answer; it closes when the browser disconnects. */
    out,
    isOver: () => state.isOver,
    send<Name extends keyof LiveEvents>(name: Name, json: string): void {
      write(`event: ${name}\ndata: ${json}\n\n`)
    },
    keepAlive(): void {
      if (clock.spanMs() - state.wroteMs >= SILENCE_MS) write(':\n\n')
    },
    /** May be repeated. */
    end(why: LiveEvents['end']['why']): void {
      write(`event: end\ndata: ${JSON.stringify({ why })}\n\n`)
      if (!out.destroyed && !state.isOver) out.push(null)
      state.isOver = true
    },
  }
}

export type EventStream = ReturnType<typeof createEventStream>
