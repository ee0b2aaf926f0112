// Sends raw bytes, over TLS to the edge or in plain text to the gateway, and reads the answers one
// after the other, until the connection closes or stays silent.
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { API_HOST, type Edge } from './stage.ts'

/** Answers take milliseconds; after this silence the server waits for bytes that never come. */
const SILENCE_MS = 4_000

export type Answer = {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export type Exchange = { readonly answers: Answer[]; readonly isClosed: boolean }

export type Way = (bytes: Buffer) => Promise<Exchange>

export const throughEdge =
  ({ port, certificate }: Edge): Way =>
  (bytes) => {
    const to = { port, host: '127.0.0.1', servername: API_HOST, ca: certificate }
    return exchange(connectTls(to), 'secureConnect', bytes)
  }

export const directly =
  (port: number): Way =>
  (bytes) =>
    exchange(connect(port, '127.0.0.1'), 'connect', bytes)

export function exchange(socket: Socket, opened: string, bytes: Buffer): Promise<Exchange> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let timer = setTimeout(() => end(false), SILENCE_MS)
    const end = (isClosed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ answers: answersOf(Buffer.concat(chunks).toString('latin1')), isClosed })
    }
    socket.once(opened, () => socket.write(bytes))
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      clearTimeout(timer)
      timer = setTimeout(() => end(false), SILENCE_MS)
    })
    // The server refused while we were still sending; keep the answers so far.
    socket.on('error', () => undefined)
    socket.once('close', () => end(true))
  })
}

/** Text that is not HTTP/1.x, such as an HTTP/0.9 reply, is one answer with status 0. */
function answersOf(text: string): Answer[] {
  const answers: Answer[] = []
  let rest = text
  while (rest !== '') {
    const [head] = rest.split('\r\n\r\n', 1) as [string]
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0)
    if (status === 0) return [...answers, { status, headers: new Map(), body: rest }]
    const headers = headersOf(head)
    rest = rest.slice(head.length + 4)
    if (status < 200) continue
    const body = bodyOf(rest, headers)
    rest = rest.slice(body.taken)
    answers.push({ status, headers, body: body.text })
  }
  return answers
}

function headersOf(head: string): Map<string, string> {
  const lines = head.split('\r\n').slice(1)
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}

function bodyOf(rest: string, headers: ReadonlyMap<string, string>) {
  const length = headers.get('content-length')
  if (length !== undefined) return { text: rest.slice(0, Number(length)), taken: Number(length) }
  if (headers.get('transfer-encoding') !== 'chunked') return { text: rest, taken: rest.length }
  const end = rest.indexOf('0\r\n\r\n')
  const taken = end < 0 ? rest.length : end + 5
  return { text: rest.slice(0, taken), taken }
}
