// An upstream that is a bare socket: it answers with the first bytes of a recording and cuts the
// connection there, in one of several ways. The prompt names the recording, the way and the byte.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/**
 * `close`: the body ends with the connection, so that in HTTP a cut looks like a regular end.
 * `chunks`: a FIN within a chunked body. `reset`: a RST within one.
 */
export const ways = ['close', 'chunks', 'reset'] as const
export type Way = (typeof ways)[number]
export type Cut = { readonly name: string; readonly way: Way; readonly offset: number }

export type Sample = {
  readonly name: string
  /** The recording byte by byte, as latin1. */
  readonly text: string
  /** What it costs, in microcredits. */
  readonly charge: bigint
  /** The bytes as sent, with headers, and the offset at which the reply is complete. */
  readonly sent: Record<Way, { readonly raw: Buffer; readonly wholeAt: number }>
}

type Usage = {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number
    readonly ephemeral_1h_input_tokens: number
  }
}

/** Chosen so that chunks end in the middle of lines. */
const CHUNK_BYTES = 509

export function sampleOf(name: string, bytes: Buffer, usage: Usage): Sample {
  const text = bytes.toString('latin1')
  const end = /event: message_stop(\r?\n)data: ?\{"type":"message_stop"\}\1\1/.exec(text)
  if (end === null) throw new Error(`${name} has no message_stop`)
  const wholeAt = end.index + end[0].length
  const chunked = chunkedOf(bytes, wholeAt)
  return {
    name,
    text,
    charge: chargeOf(usage),
    sent: {
      close: untilClose(bytes, wholeAt),
      chunks: chunked,
      reset: chunked,
    },
  }
}

/** The published formula with the prices of the example catalogue, in millionths. */
function chargeOf(usage: Usage): bigint {
  const { ephemeral_5m_input_tokens: written5m, ephemeral_1h_input_tokens: written1h } =
    usage.cache_creation
  return BigInt(
    usage.input_tokens * 1_000_000 +
      usage.output_tokens * 5_000_000 +
      usage.cache_read_input_tokens * 100_000 +
      written5m * 1_250_000 +
      written1h * 2_000_000,
  )
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n'

function untilClose(bytes: Buffer, wholeAt: number) {
  const head = Buffer.from(`${HEAD}connection: close\r\n\r\n`)
  return { raw: Buffer.concat([head, bytes]), wholeAt: head.length + wholeAt }
}

function chunkedOf(bytes: Buffer, wholeAt: number) {
  const parts: Buffer[] = []
  let sent = 0
  let wholeAtSent = -1
  const push = (part: Buffer) => {
    parts.push(part)
    sent += part.length
  }
  push(Buffer.from(`${HEAD}transfer-encoding: chunked\r\n\r\n`))
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const chunk = bytes.subarray(at, at + CHUNK_BYTES)
    push(Buffer.from(`${chunk.length.toString(16)}\r\n`))
    if (wholeAt > at && wholeAt <= at + chunk.length) wholeAtSent = sent + wholeAt - at
    push(chunk)
    push(Buffer.from('\r\n'))
  }
  push(Buffer.from('0\r\n\r\n'))
  return { raw: Buffer.concat(parts), wholeAt: wholeAtSent }
}

export function promptOf({ name, way, offset }: Cut): string {
  return `[cut ${name} ${way} ${offset}]`
}

export async function startCutUpstream(samples: readonly Sample[]) {
  const byName = new Map(samples.map((sample) => [sample.name, sample]))
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // The gateway may close or reset a broken connection.
    socket.on('error', () => undefined)
    let request = ''
    socket.on('data', (bytes) => {
      request += bytes.toString('latin1')
      const found = /\[cut (\S+) (\S+) (\d+)\][^[]*\}$/.exec(request)
      if (found === null) return
      request = ''
      const [, name = '', way = '', offset = ''] = found
      answer(socket, byName.get(name), way as Way, Number(offset))
    })
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 })
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function answer(socket: Socket, sample: Sample | undefined, way: Way, offset: number): void {
  const bytes = sample?.sent[way].raw.subarray(0, offset) ?? Buffer.alloc(0)
  if (way !== 'reset') socket.end(bytes)
  else if (bytes.length === 0) socket.resetAndDestroy()
  else socket.write(bytes, () => socket.resetAndDestroy())
}
