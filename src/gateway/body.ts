// Takes in a request's body, up to the limit and within what the process can afford. A body of
// known length goes into one buffer of that length, so a 32 MiB body costs 32 MiB and not twice; a
// large one goes into shared memory, where a worker thread can read it without another copy.
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../platform/refusal.ts'
import type { Exchange } from './exchange.ts'

/** From here on a body is read in a worker thread: below, one takes under 0.2 ms. */
export const LARGE_BYTES = 262_144

/**
 * How long and how much of an unwanted body is still taken, so that the client reads our answer.
 */
const DRAIN_MS = 5_000
const DRAIN_BYTES_MAX = 67_108_864

/**
 * What all bodies together may take of one turn of the event loop, some 2 ms. A connection alone
 * takes up to 2 MiB: with twenty bodies of 32 MiB under way, events of streams came 100 ms late.
 */
const TURN_BYTES_MAX = 1_048_576

export type BodyBudget = ReturnType<typeof createBodyBudget>

/** What all bodies of a process share: its memory and its turns. */
export function createBodyBudget(bytesMax: number) {
  const paused: IncomingMessage[] = []
  let turnBytes = 0

  function nextTurn(): void {
    turnBytes = 0
    for (const incoming of paused.splice(0)) incoming.resume()
  }

  return {
    bytesMax,
    bytes: 0,

    /** Notes what has come in; lets the body wait for the next turn once this one is used up. */
    pace(incoming: IncomingMessage, bytes: number): void {
      turnBytes += bytes
      if (turnBytes < TURN_BYTES_MAX) return
      incoming.pause()
      if (paused.push(incoming) === 1) setImmediate(nextTurn)
    },
  }
}

/** Refuses: body_too_large, body_broken_off, body_bytes_exhausted. `free` gives the bytes back. */
export async function readBody(
  exchange: Exchange,
  bodyBytesMax: number,
  budget: BodyBudget,
): Promise<{ body: Buffer; free: () => void }> {
  const { incoming } = exchange
  // Gone while its key was looked up: it will say nothing more, not even that it closed.
  if (incoming.destroyed) throw brokenOff()
  const announced = Number(incoming.headers['content-length'] ?? Number.NaN)
  if (announced > bodyBytesMax) {
    drain(incoming)
    throw tooLarge(bodyBytesMax)
  }
  const taken = { bytes: 0 }
  const free = () => {
    budget.bytes -= taken.bytes
    taken.bytes = 0
  }
  const take = (bytes: number) => {
    if (budget.bytes + bytes > budget.bytesMax) {
      free()
      drain(incoming)
      throw new Refusal('body_bytes_exhausted', 'The service is overloaded; try again shortly.')
    }
    budget.bytes += bytes
    taken.bytes += bytes
  }
  try {
    const body = Number.isInteger(announced)
      ? await readKnown(incoming, announced, take, budget)
      : await readUnknown(incoming, bodyBytesMax, take, budget)
    return { body, free }
  } catch (error) {
    free()
    throw error
  }
}

function readKnown(
  incoming: IncomingMessage,
  length: number,
  take: (bytes: number) => void,
  budget: BodyBudget,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    take(length)
    const body = allocate(length)
    let at = 0
    incoming.on('data', (chunk: Buffer) => {
      // The parser never hands over more than content-length announced.
      chunk.copy(body, at)
      at += chunk.length
      budget.pace(incoming, chunk.length)
    })
    incoming.once('end', () => resolve(body))
    onBroken(incoming, () => reject(brokenOff()))
  })
}

function readUnknown(
  incoming: IncomingMessage,
  bodyBytesMax: number,
  take: (bytes: number) => void,
  budget: BodyBudget,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bodyBytesMax) {
        incoming.removeAllListeners('data')
        chunks.length = 0
        drain(incoming)
        reject(tooLarge(bodyBytesMax))
        return
      }
      try {
        take(chunk.length)
      } catch (error) {
        incoming.removeAllListeners('data')
        reject(error)
        return
      }
      chunks.push(chunk)
      budget.pace(incoming, chunk.length)
    })
    incoming.once('end', () => {
      const body = allocate(bytes)
      let at = 0
      for (const chunk of chunks) at += chunk.copy(body, at)
      resolve(body)
    })
    onBroken(incoming, () => reject(brokenOff()))
  })
}

// Every request closes; an error with its stack is made only for one that has not ended.
function onBroken(incoming: IncomingMessage, act: () => void): void {
  incoming.once('close', () => {
    if (!incoming.readableEnded) act()
  })
  incoming.once('error', act)
}

function allocate(bytes: number): Buffer {
  return bytes >= LARGE_BYTES
    ? Buffer.from(new SharedArrayBuffer(bytes))
    : Buffer.allocUnsafeSlow(bytes)
}

// A client that is still sending when we close sees a reset instead of our answer. So the rest is
// taken and thrown away, for a while.
function drain(incoming: IncomingMessage): void {
  let bytes = 0
  const timer = setTimeout(() => incoming.destroy(), DRAIN_MS)
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DRAIN_BYTES_MAX) incoming.destroy()
  })
  incoming.once('close', () => clearTimeout(timer))
  incoming.once('end', () => clearTimeout(timer))
}

function tooLarge(bodyBytesMax: number): Refusal {
  return new Refusal('body_too_large', `Request exceeds the maximum size of ${bodyBytesMax} bytes`)
}

function brokenOff(): Refusal {
  return new Refusal('body_broken_off', 'The request body ended before its announced length.')
}
