// An upstream that lets the test write every byte of a reply, at any time: for replies that a
// correct server cannot send. It reads requests with a content-length and passes each one to the
// test with its socket.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export type RawRequest = {
  readonly headers: ReadonlyMap<string, string>
  /** Undefined when the upstream does not keep bodies. */
  readonly body: Buffer | undefined
  readonly bodyBytes: number
}

export type RawUpstream = Awaited<ReturnType<typeof startRawUpstream>>

/** Calls `serve` for each request, once it has arrived completely. */
export async function startRawUpstream(
  serve: (socket: Socket, request: RawRequest) => void,
  { keepsBodies = true } = {},
) {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // The gateway resets connections that it abandons: tests expect that.
    socket.on('error', () => undefined)
    readRequests(socket, keepsBodies, (request) => serve(socket, request))
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 })
  await once(server, 'listening')
  // Safe: the address of a server that listens on a TCP port is an AddressInfo.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const HEAD_END = '\r\n\r\n'

function readRequests(
  socket: Socket,
  keepsBodies: boolean,
  handle: (request: RawRequest) => void,
): void {
  let head: Buffer = Buffer.alloc(0)
  let headers: Map<string, string> | undefined
  let chunks: Buffer[] = []
  let missing = 0
  let length = 0
  const onData = (chunk: Buffer) => {
    if (headers === undefined) {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
      const end = head.indexOf(HEAD_END)
      if (end < 0) return
      headers = headersOf(head.toString('latin1', 0, end))
      length = Number(headers.get('content-length') ?? 0)
      missing = length
      const rest = head.subarray(end + HEAD_END.length)
      head = Buffer.alloc(0)
      onData(rest)
      return
    }
    const bodyPart = chunk.subarray(0, missing)
    missing -= bodyPart.length
    if (keepsBodies) chunks.push(bodyPart)
    if (missing > 0) return
    const request = {
      headers,
      body: keepsBodies ? Buffer.concat(chunks) : undefined,
      bodyBytes: length,
    }
    headers = undefined
    chunks = []
    handle(request)
    if (chunk.length > bodyPart.length) onData(chunk.subarray(bodyPart.length))
  }
  socket.on('data', onData)
}

function headersOf(text: string): Map<string, string> {
  const [, ...lines] = text.split('\r\n')
  return new Map(
    lines.map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    }),
  )
}

/** The status line and headers of a reply with a chunked body. */
export function headOf(status: number, type: string, more: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status} -`, `content-type: ${type}`, ...more]
  return [...lines, 'transfer-encoding: chunked', '', ''].join('\r\n')
}

/** One HTTP chunk; an empty one ends the body. */
export function chunkOf(bytes: Buffer | string): Buffer {
  const size = Buffer.byteLength(bytes)
  return Buffer.concat([
    Buffer.from(`${size.toString(16)}\r\n`),
    Buffer.from(bytes),
    Buffer.from('\r\n'),
  ])
}
