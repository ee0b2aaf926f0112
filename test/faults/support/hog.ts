// A client process of one account that uses as much of the gateway as it can over its connections:
// it announces large bodies and sends one byte, floods the free endpoints, reads streams slowly or
// not at all, and sends the largest bodies one after the other. Prints the counts of its answers.
import { connect, type Socket } from 'node:net'

export type HogTask = {
  readonly port: number
  readonly key: string
  readonly seconds: number
  /** When it begins, in ms since 1970: by then Node has started and compiled. */
  readonly beginMs: number
  /** Connections of each kind. */
  readonly kinds: Readonly<Record<HogKind, number>>
}

export type HogKind = 'announced' | 'counts' | 'reads' | 'slow' | 'unread' | 'huge'

/** The largest body that the gateway takes. */
const HUGE_BYTES = 33_554_432
const SLOW_BYTES_PER_SECOND = 1_024
/** A client that is refused comes back at once, but not more often than this. */
const REOPEN_MS = 100
/** Time between two connections: a burst would measure how the stand-in makes long replies. */
const RAMP_MS = 20

const task = JSON.parse(process.argv[2] ?? '{}') as HogTask
const counts: Record<string, number> = {}
const state = { isOver: false }
const sockets = new Set<Socket>()

function headOf(method: string, path: string, length: number): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'host: gateway', `x-api-key: ${task.key}`]
  if (method === 'POST') lines.push('content-type: application/json', `content-length: ${length}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

function post(path: string, body: string): string {
  return headOf('POST', path, Buffer.byteLength(body)) + body
}

const MESSAGE = { model: 'model-small', max_tokens: 20_000 }
const COUNT = post(
  '/v1/messages/count_tokens',
  JSON.stringify({ model: 'model-small', messages: [{ role: 'user', content: 'how many?' }] }),
)
// About 4 MB of events, which no socket buffer holds.
const STREAM = post(
  '/v1/messages',
  JSON.stringify({
    ...MESSAGE,
    stream: true,
    messages: [{ role: 'user', content: '[[fault: huge=4000000]]' }],
  }),
)
const HUGE_START = `{"model":"model-small","max_tokens":16,"messages":[{"role":"user","content":"`
const HUGE_END = '"}]}'
const HUGE = Buffer.concat([
  Buffer.from(headOf('POST', '/v1/messages', HUGE_BYTES) + HUGE_START),
  Buffer.alloc(HUGE_BYTES - HUGE_START.length - HUGE_END.length, 'x'),
  Buffer.from(HUGE_END),
])

function note(what: string): void {
  counts[what] = (counts[what] ?? 0) + 1
}

/** Opens a connection, and another one whenever it has closed. */
function keepOpen(kind: HogKind, begin: (socket: Socket) => void): void {
  if (state.isOver) return
  const socket = connect(task.port, '127.0.0.1')
  sockets.add(socket)
  socket.on('error', () => note(`${kind} broken`))
  socket.once('connect', () => begin(socket))
  socket.once('close', () => {
    sockets.delete(socket)
    setTimeout(() => keepOpen(kind, begin), REOPEN_MS)
  })
}

/** Counts the statuses of answers; calls `next` after each. */
function onAnswer(kind: HogKind, socket: Socket, next: () => void): void {
  socket.on('data', (chunk) => {
    const status = /^HTTP\/1\.1 (\d+)/.exec(chunk.toString('latin1', 0, 16))?.[1]
    if (status === undefined) return
    note(`${kind} ${status}`)
    next()
  })
}

const begins: Record<HogKind, (socket: Socket) => void> = {
  announced(socket) {
    onAnswer('announced', socket, () => socket.destroy())
    socket.write(`${headOf('POST', '/v1/messages', HUGE_BYTES)}{`)
  },
  counts(socket) {
    onAnswer('counts', socket, () => socket.write(COUNT))
    socket.write(COUNT)
  },
  reads(socket) {
    const path = () => (Math.random() < 0.5 ? '/v1/me' : '/v1/models')
    onAnswer('reads', socket, () => socket.write(headOf('GET', path(), 0)))
    socket.write(headOf('GET', path(), 0))
  },
  slow(socket) {
    socket.write(STREAM)
    // The kernel's buffers take most of it; what the program takes decides when they empty.
    const timer = setInterval(() => socket.read(SLOW_BYTES_PER_SECOND), 1_000)
    socket.on('readable', () => undefined)
    socket.once('close', () => clearInterval(timer))
  },
  unread(socket) {
    socket.pause()
    socket.write(STREAM)
  },
  huge(socket) {
    onAnswer('huge', socket, () => socket.destroy())
    socket.write(HUGE)
  },
}

const waitMs = Math.max(0, task.beginMs - Date.now())
const kinds = (Object.keys(begins) as HogKind[]).flatMap((kind) =>
  Array.from({ length: task.kinds[kind] }, () => kind),
)
for (const [i, kind] of kinds.entries()) {
  setTimeout(() => keepOpen(kind, begins[kind]), waitMs + i * RAMP_MS)
}
setTimeout(
  () => {
    state.isOver = true
    for (const socket of sockets) socket.destroy()
    console.log(JSON.stringify(counts))
    process.exit(0)
  },
  waitMs + task.seconds * 1_000,
)
