// Takes in a request's body, up to the limit and within what the process can afford. It goes into
// one buffer as it comes and what it came in is given back at once, so that a body of 32 MiB costs
// 32 MiB. The buffer is its own memory from end to end: it can be handed to a thread and back.
import type { Request } from '../http/http.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Exchange } from './exchange.ts'

/** From here on a body is read in a worker thread: below, one takes under 0.2 ms. */
export const LARGE_BYTES = 262_144

/**
 * What all bodies together may take of one turn of the event loop, some 2 ms. A connection alone
 * takes up to 2 MiB: with twenty bodies of 32 MiB under way, events of streams came 100 ms late.
 */
const TURN_BYTES_MAX = 1_048_576

/** Begins at the beginning of its memory and is alone in it. */
export type Body = Buffer<ArrayBuffer>

const NOTHING: Body = Buffer.alloc(0)

export type BodyBudget = ReturnType<typeof createBodyBudget>

/** What all bodies of a process share: its memory and its turns. */
export function createBodyBudget(bytesMax: number) {
  const paused: Request[] = []
  let turnBytes = 0

  function nextTurn(): void {
    turnBytes = 0
    for (const incoming of paused.splice(0)) incoming.resume()
  }

  return {
    bytesMax,
    bytes: 0,

    /** Notes what has come in; lets the body wait for the next turn once this one is used up. */
    pace(incoming: Request, bytes: number): void {
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
): Promise<{ body: Body; free: () => void }> {
  const { incoming } = exchange
  const announced = Number(incoming.headers['content-length'] ?? Number.NaN)
  const taken = { bytes: 0 }
  const free = () => {
    budget.bytes -= taken.bytes
    taken.bytes = 0
  }
  const take = (bytes: number) => {
    if (taken.bytes + bytes > bodyBytesMax) throw tooLarge(bodyBytesMax)
    if (budget.bytes + bytes > budget.bytesMax) {
      throw new Refusal('body_bytes_exhausted', 'The service is overloaded; try again shortly.')
    }
    budget.bytes += bytes
    taken.bytes += bytes
  }
  try {
    const whole = incoming.takeWhole()
    if (whole !== undefined) {
      take(whole.length)
      return { body: whole, free }
    }
    const body = Number.isInteger(announced)
      ? await readKnown(incoming, announced, take, budget)
      : await readUnknown(incoming, bodyBytesMax, take, budget)
    return { body, free }
  } catch (error) {
    free()
    incoming.discard()
    throw error
  }
}

async function readKnown(
  incoming: Request,
  length: number,
  take: (bytes: number) => void,
  budget: BodyBudget,
): Promise<Body> {
  take(length)
  let body = NOTHING
  let at = 0
  await eachChunk(incoming, (chunk) => {
    budget.pace(incoming, chunk.length)
    if (chunk.length === length) {
      body = chunk
      at = length
      return
    }
    // Not sooner: who only announces a body is counted for it, and costs nothing. Pages that
    // nobody has written to take no memory, so the rest costs nothing either until it comes.
    if (at === 0) body = Buffer.allocUnsafeSlow(length)
    // The parser never hands over more than content-length announced.
    at += chunk.copy(body, at)
    if (length >= LARGE_BYTES) release(chunk)
  })
  // Never what was in that memory before, whatever the parser let through.
  if (at !== length) throw brokenOff()
  const whole = body
  body = NOTHING // the listener stays with the request, which lasts as long as the reply
  return whole
}

async function readUnknown(
  incoming: Request,
  bodyBytesMax: number,
  take: (bytes: number) => void,
  budget: BodyBudget,
): Promise<Body> {
  let body = NOTHING
  let at = 0
  await eachChunk(incoming, (chunk) => {
    budget.pace(incoming, chunk.length)
    take(chunk.length)
    const needed = at + chunk.length
    if (needed > body.length) body = enlarged(body, at, roomFor(needed, bodyBytesMax))
    at += chunk.copy(body, at)
    release(chunk)
  })
  const whole = body.subarray(0, at)
  body = NOTHING
  return whole
}

/** Resolves at the body's end. What `act` throws ends the reading. */
function eachChunk(incoming: Request, act: (chunk: Body) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    incoming.read({
      data(chunk) {
        try {
          act(chunk)
        } catch (error) {
          incoming.discard()
          reject(error)
        }
      },
      end: resolve,
      broken: () => reject(brokenOff()),
    })
  })
}

// Past a MiB room for the longest body, in pages that are not there until they are written to: to
// double it further would leave the smaller ones behind, with an allocator that keeps them.
function roomFor(bytes: number, bodyBytesMax: number): number {
  return bytes > 1_048_576 ? bodyBytesMax : Math.min(2 * bytes, bodyBytesMax)
}

function enlarged(body: Body, bytes: number, bytesMax: number): Body {
  const larger = Buffer.allocUnsafeSlow(bytesMax)
  body.copy(larger, 0, 0, bytes)
  release(body)
  return larger
}

/**
 * Gives memory back that nobody will read again. Left to the collector, the chunks of a body lie
 * beside it until they amount to as much again.
 */
function release({ buffer, length }: Body): void {
  // What does not fill its memory may share it; NOTHING is shared by all.
  if (length > 0 && length === buffer.byteLength) buffer.transfer(0)
}

function tooLarge(bodyBytesMax: number): Refusal {
  return new Refusal('body_too_large', `Request exceeds the maximum size of ${bodyBytesMax} bytes`)
}

function brokenOff(): Refusal {
  return new Refusal('body_broken_off', 'The request body ended before its announced length.')
}
