// Standard output as the log's destination. It never waits for its reader: if the reader stands
// still (a stopped journal, a pipe that nobody reads), a synchronous write would stop the event
// loops of all processes that share the output. Lines wait in memory instead, and beyond its limit
// they are dropped and counted.
import { write, writeSync } from 'node:fs'

const STANDARD_OUTPUT = 1
/** 10,000 lines of requests: 20 s of 500 requests a second. */
const WAITING_BYTES_MAX = 8 << 20
/** Several processes share a pipe, and Linux keeps a write of up to 4 KiB in one piece. */
const WRITE_BYTES_MAX = 4_096
/** After an error: a disk may be full, or the output refuses to wait. */
const RETRY_MS = 100

export function createLogOutput(fd: number) {
  const lines: string[] = []
  const state = {
    /** Bytes of `lines`. */
    waiting: 0,
    /** What the running or the failed write has not written. */
    rest: Buffer.alloc(0) as Buffer,
    /** A write is running, or begins when this turn of the event loop ends. */
    isWriting: false,
    hasFailed: false,
    isExitWatched: false,
    dropped: 0,
    reported: 0,
  }

  function nextRest(): Buffer {
    let [count, bytes] = [0, 0]
    while (count < lines.length) {
      const size = Buffer.byteLength(lines[count] as string)
      if (count > 0 && bytes + size > WRITE_BYTES_MAX) break
      count += 1
      bytes += size
    }
    state.waiting -= bytes
    return Buffer.from(lines.splice(0, count).join(''))
  }

  function writeNext(): void {
    state.hasFailed = false
    if (state.rest.length === 0) state.rest = nextRest()
    state.isWriting = state.rest.length > 0
    if (!state.isWriting) return
    // One of libuv's four threads waits for the reader.
    write(fd, state.rest, (error, written) => {
      if (error !== null) {
        state.hasFailed = true
        setTimeout(writeNext, RETRY_MS).unref()
        return
      }
      state.rest = state.rest.subarray(written)
      reportDropped()
      writeNext()
    })
  }

  /** Once the reader has taken a write, it reads again. */
  function reportDropped(): void {
    const count = state.dropped - state.reported
    if (count === 0 || state.waiting > WAITING_BYTES_MAX / 2) return
    state.reported = state.dropped
    output.onDropped(count)
  }

  /** libuv ends a running write before the process ends; here only the lines behind it are left. */
  function flushAtExit(): void {
    try {
      for (let rest = state.hasFailed ? state.rest : nextRest(); rest.length > 0; ) {
        rest = rest.subarray(writeSync(fd, rest))
        if (rest.length === 0) rest = nextRest()
      }
    } catch {
      // The reader is gone, or the disk is full.
    }
  }

  const output = {
    /** Called with the number of dropped lines when the reader reads again. */
    onDropped: (_count: number): void => undefined,
    /** Lines that were dropped since the process started. */
    dropped: () => state.dropped,
    write(line: string): void {
      const size = Buffer.byteLength(line)
      if (state.waiting + size > WAITING_BYTES_MAX) {
        state.dropped += 1
        return
      }
      if (!state.isExitWatched) process.on('exit', flushAtExit)
      state.isExitWatched = true
      state.waiting += size
      lines.push(line)
      if (state.isWriting) return
      // The lines of one turn share a write: each write takes 20 µs of CPU (2026-11-17).
      state.isWriting = true
      setImmediate(writeNext)
    },
  }
  return output
}

/** A process has one. */
export const standardOutput = createLogOutput(STANDARD_OUTPUT)
