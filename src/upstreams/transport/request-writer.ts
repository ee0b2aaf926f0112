// Writes a request to a connection of our own client: a small one in one piece, a large body in
// pieces, each in a turn of the event loop of its own.
import type { Socket } from 'node:net'
import { JOIN_BYTES_MAX, type OutgoingRequest, PIECE_BYTES } from './carrier.ts'

/** A larger body is written in pieces, one in each turn of the event loop. */
const WHOLE_BYTES_MAX = 1_048_576

type WriteListener = {
  /** Whether the connection still carries this request. */
  isCurrent(): boolean
  /** The last byte was passed to the socket. */
  written(): void
  /** The kernel has taken the last byte. */
  flushed(): void
}

export function writeRequest(
  socket: Socket,
  request: OutgoingRequest,
  authority: string,
  listener: WriteListener,
): void {
  const { body, bodyBytes } = request
  const head = headOf(request, authority)
  if (bodyBytes > WHOLE_BYTES_MAX) {
    socket.write(head, 'latin1')
    void writeInTurns(socket, body, listener)
    return
  }
  if (bodyBytes <= JOIN_BYTES_MAX) {
    const joined = Buffer.allocUnsafe(head.length + bodyBytes)
    let at = joined.write(head, 0, 'latin1')
    for (const slice of body) at += slice.copy(joined, at)
    socket.write(joined, () => listener.flushed())
  } else {
    socket.cork()
    socket.write(head, 'latin1')
    for (const slice of body.slice(0, -1)) socket.write(slice)
    socket.write(body.at(-1) as Buffer, () => listener.flushed())
    socket.uncork()
  }
  listener.written()
}

function headOf({ path, headers, bodyBytes }: OutgoingRequest, authority: string): string {
  let head = `POST ${path} HTTP/1.1\r\nhost: ${authority}\r\n`
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
  return `${head}content-length: ${bodyBytes}\r\n\r\n`
}

async function writeInTurns(
  socket: Socket,
  body: readonly Buffer[],
  listener: WriteListener,
): Promise<void> {
  const pieces = [...piecesOf(body)]
  for (const [i, piece] of pieces.entries()) {
    if (!listener.isCurrent()) return
    const taken = new Promise<void>((resolve) => {
      socket.write(piece, () => setImmediate(resolve))
    })
    if (i === pieces.length - 1) listener.written()
    await taken
  }
  listener.flushed()
}

/** Views of a body's parts, none larger than a socket should get at once. */
export function* piecesOf(body: readonly Buffer[]): Generator<Buffer> {
  for (const slice of body) {
    for (let at = 0; at < slice.length; at += PIECE_BYTES) {
      yield slice.subarray(at, at + PIECE_BYTES)
    }
  }
}
