// Takes in a request's body, up to the limit and within what the process can afford. It goes into
// one buffer as it comes and what it came in is given back at once, so that a body of 32 MiB costs
// 32 MiB. The buffer is its own memory from end to end: it can be handed to a thread and back.
import type { ClientRequest } from '../../http/http.ts'
import type { BookId } from '../../platform/ids.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Exchange } from '../exchange.ts'

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

/**
 * What all bodies of a process share: its memory and its turns. Bytes count when they arrive. While
 * more than half of the memory is in use, an account takes at most a quarter of it, so no two
 * accounts can use it up: one that came first and alone has half, the next a quarter. Of the
 * default of 512 MiB a quarter is four of the largest bodies. Below half memory is not short, and
 * no account is limited.
 */
export function createBodyBudget(bytesMax: number) {
  const bytesOf = new Map<BookId, number>()
  const paused: ClientRequest[] = []
  let turnBytes = 0

  function nextTurn(): void {
    turnBytes = 0
    for (const incoming of paused.splice(0)) incoming.resume()
  }

  const budget = {
    bytes: 0,

    /** Refuses: body_bytes_exhausted. */
    take(book: BookId, bytes: number): void {
      const ofAll = budget.bytes + bytes
      const ofBook = (bytesOf.get(book) ?? 0) + bytes
      if (ofAll > bytesMax) throw exhausted('The service is overloaded; try again shortly.')
      if (ofAll > bytesMax / 2 && ofBook > bytesMax / 4) {
        throw exhausted('The requests of this account under way are too large; try again shortly.')
      }
      budget.bytes = ofAll
      bytesOf.set(book, ofBook)
    },

    /** What was taken before. */
    give(book: BookId, bytes: number): void {
      budget.bytes -= bytes
      const ofBook = (bytesOf.get(book) ?? 0) - bytes
      if (ofBook > 0) bytesOf.set(book, ofBook)
      else bytesOf.delete(book)
    },

    /** Notes what has come in; lets the body wait for the next turn once this one is used up. */
    pace(incoming: ClientRequest, bytes: number): void {
      turnBytes += bytes
      if (turnBytes < TURN_BYTES_MAX) return
      incoming.pause()
      if (paused.push(incoming) === 1) setImmediate(nextTurn)
    },
  }
  return budget
}

/**
 * Refuses: body_too_large, body_broken_off, body_bytes_exhausted. `free` gives the bytes back to
 * the budget and may be repeated; a body that is refused has given them back already.
 */
export async function readBody(
  { incoming }: Exchange,
  book: BookId,
  bodyBytesMax: number,
  budget: BodyBudget,
): Promise<{ body: Body; free: () => void }> {
  const announced = Number(incoming.headers['content-length'] ?? Number.NaN)
  const isAnnounced = Number.isInteger(announced)
  const taken = { bytes: 0 }
  const free = () => {
    budget.give(book, taken.bytes)
    taken.bytes = 0
  }
  const take = (bytes: number) => {
    if (taken.bytes + bytes > bodyBytesMax) throw tooLarge(bodyBytesMax)
    budget.take(book, bytes)
    taken.bytes += bytes
  }
  try {
    const whole = incoming.takeWhole()
    if (whole !== undefined) take(whole.length)
    else if (announced > bodyBytesMax) throw tooLarge(bodyBytesMax)
    const body =
      whole ?? (await readChunks(incoming, isAnnounced ? announced : bodyBytesMax, take, budget))
    // Never what was in that memory before, whatever the parser let through.
    if (isAnnounced && body.length !== announced) throw brokenOff()
    return { body, free }
  } catch (error) {
    free()
    incoming.discard()
    throw error
  }
}

/** `bytesMax` is the announced length or, of a body in chunks, the most that one may have. */
async function readChunks(
  incoming: ClientRequest,
  bytesMax: number,
  take: (bytes: number) => void,
  budget: BodyBudget,
): Promise<Body> {
  let body = NOTHING
  let at = 0
  await eachChunk(incoming, (chunk) => {
    budget.pace(incoming, chunk.length)
    take(chunk.length)
    if (chunk.length === bytesMax) {
      body = chunk
      at = bytesMax
      return
    }
    const needed = at + chunk.length
    if (needed > body.length) body = enlarged(body, at, roomFor(needed, bytesMax))
    // The parser never hands over more than content-length announced.
    at += chunk.copy(body, at)
    if (bytesMax >= LARGE_BYTES) release(chunk)
  })
  const whole = body.subarray(0, at)
  body = NOTHING // the listener stays with the request, which lasts as long as the reply
  return whole
}

/** Resolves at the body's end. What `act` throws ends the reading. */
function eachChunk(incoming: ClientRequest, act: (chunk: Body) => void): Promise<void> {
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

/**
 * Grows with what has come, not with what was announced: V8 counts the whole buffer, and 2,000
 * sockets that announced 32 MiB and sent one byte cost 12 s of garbage collection. From 1 MiB on it
 * is all of it at once: pages that nobody has written to take no memory, while doubling further
 * would leave the smaller buffers with an allocator that keeps them.
 */
function roomFor(bytes: number, bytesMax: number): number {
  return bytes > 1_048_576 ? bytesMax : Math.min(2 * bytes, bytesMax)
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

function exhausted(sentence: string): Refusal {
  return new Refusal('body_bytes_exhausted', sentence)
}

function brokenOff(): Refusal {
  return new Refusal('body_broken_off', 'The request body ended before its announced length.')
}
