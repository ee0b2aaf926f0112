// Receives the body of a request, within the limit of one body and the memory of the process. Each
// chunk is copied into one buffer and its own memory is freed at once, so that a body of 32 MiB
// costs 32 MiB. The buffer shares its memory with nothing else, so that it can be transferred to a
// thread and back.
import type { ClientRequest } from '../../http/http.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Refusal } from '../../platform/refusal.ts'
import type { Admission } from '../admission.ts'
import type { Exchange } from '../exchange.ts'
import { gatewayRefusal } from '../refusals.ts'
import type { Pace } from './pace.ts'

/**
 * A body of this size or more is parsed in a worker thread; parsing a smaller one takes under 0.2
 * ms.
 */
export const LARGE_BYTES = 262_144

/** A buffer that starts at offset 0 of its ArrayBuffer and shares it with no other buffer. */
export type Body = Buffer<ArrayBuffer>

const EMPTY: Body = Buffer.alloc(0)

/**
 * Bytes count against the account's share of memory when they arrive. Refuses: body_too_large,
 * body_broken_off, body_bytes_exhausted. `release` returns the bytes and may be called again; for a
 * refused body that has already happened.
 */
export async function readBody(
  exchange: Exchange,
  book: BookId,
  bodyBytesMax: number,
  { admission, pace }: { readonly admission: Admission; readonly pace: Pace },
): Promise<{ body: Body; release: () => void }> {
  const { clientRequest } = exchange
  const announced = Number(clientRequest.headers['content-length'] ?? Number.NaN)
  const isAnnounced = Number.isInteger(announced)
  const use = admission.bodies.open(book, exchange)
  const release = () => use.close()
  const take = (bytes: number) => {
    if (use.amount + bytes > bodyBytesMax) throw tooLarge(bodyBytesMax)
    if (!use.take(bytes)) throw exhausted()
  }
  try {
    const whole = clientRequest.takeWhole()
    if (whole !== undefined) take(whole.length)
    else if (announced > bodyBytesMax) throw tooLarge(bodyBytesMax)
    const body =
      whole ??
      (await readChunks(exchange, isAnnounced ? announced : bodyBytesMax, (chunk) => {
        pace(clientRequest, chunk.length, book)
        take(chunk.length)
      }))
    // The buffer is not zeroed: a body shorter than announced must never expose what it held
    // before.
    if (isAnnounced && body.length !== announced) throw brokenOff(clientRequest)
    return { body, release }
  } catch (error) {
    release()
    clientRequest.discard()
    throw error
  }
}

/** `bytesMax` is the announced length or, for a chunked body, the limit. */
async function readChunks(
  exchange: Exchange,
  bytesMax: number,
  count: (chunk: Body) => void,
): Promise<Body> {
  let body = EMPTY
  let at = 0
  await eachChunk(exchange, (chunk) => {
    count(chunk)
    if (chunk.length === bytesMax) {
      body = chunk
      at = bytesMax
      return
    }
    const needed = at + chunk.length
    if (needed > body.length) body = enlarged(body, at, bytesToAllocate(needed, bytesMax))
    // node:http never delivers more than content-length announced.
    at += chunk.copy(body, at)
    if (bytesMax >= LARGE_BYTES) freeMemory(chunk)
  })
  const whole = body.subarray(0, at)
  body = EMPTY // the listener lives as long as the reply and must not keep the buffer alive
  return whole
}

/**
 * Resolves at the body's end. If `onChunk` throws, or another account needs the memory, the rest is
 * discarded and the promise rejects.
 */
function eachChunk(exchange: Exchange, onChunk: (chunk: Body) => void): Promise<void> {
  const { clientRequest } = exchange
  const read = new Promise<void>((resolve, reject) => {
    exchange.onShed = () => {
      clientRequest.discard()
      reject(exhausted())
    }
    clientRequest.read({
      data(chunk) {
        try {
          onChunk(chunk)
        } catch (error) {
          clientRequest.discard()
          reject(error)
        }
      },
      end: resolve,
      broken: () => reject(brokenOff(clientRequest)),
    })
  })
  return read.finally(() => {
    exchange.onShed = undefined
  })
}

/**
 * The size to allocate. It grows with the bytes received, not with the announced length: V8 counts
 * the whole buffer, and 2,000 sockets that announced 32 MiB and sent one byte cost 12 s of garbage
 * collection. Above 1 MiB allocate `bytesMax` at once: untouched pages cost no memory, while
 * doubling leaves smaller buffers that the allocator keeps.
 */
function bytesToAllocate(bytes: number, bytesMax: number): number {
  return bytes > 1_048_576 ? bytesMax : Math.min(2 * bytes, bytesMax)
}

function enlarged(body: Body, bytes: number, bytesMax: number): Body {
  const larger = Buffer.allocUnsafeSlow(bytesMax)
  body.copy(larger, 0, 0, bytes)
  freeMemory(body)
  return larger
}

/**
 * Frees memory that is no longer read. If this is left to the garbage collector, the chunks of a
 * body stay until they take as much memory as the body.
 */
function freeMemory({ buffer, length }: Body): void {
  // A buffer that does not fill its ArrayBuffer may share it; EMPTY is shared by all requests.
  if (length > 0 && length === buffer.byteLength) buffer.transfer(0)
}

function tooLarge(bodyBytesMax: number): Refusal {
  return gatewayRefusal(
    'body_too_large',
    `Request exceeds the maximum size of ${bodyBytesMax} bytes`,
  )
}

function exhausted(): Refusal {
  return gatewayRefusal(
    'body_bytes_exhausted',
    'The requests of this account under way are too large; try again shortly.',
  )
}

function brokenOff({ headers }: ClientRequest): Refusal {
  const message =
    headers['content-length'] === undefined
      ? 'The request body did not end, or came in too many small chunks.'
      : 'The request body ended before its announced length.'
  return gatewayRefusal('body_broken_off', message)
}
