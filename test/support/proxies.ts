// Small proxies for tests: HTTP with CONNECT, and SOCKS5 (RFC 1928, 1929) with addresses and names.
// They count tunnels and may ask for a login.
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { startClosable } from './closable-server.ts'

export type TestProxy = {
  readonly url: string
  /** Where tunnels went, as `host:port`. */
  readonly tunnels: string[]
  close(): Promise<void>
}

export async function startConnectProxy(login?: string): Promise<TestProxy> {
  const tunnels: string[] = []
  const expected = login && `Basic ${Buffer.from(login).toString('base64')}`
  const server = createHttpServer((_, response) => response.writeHead(405).end())
  server.on('connect', (request, socket: Socket, head: Buffer) => {
    if (expected !== undefined && request.headers['proxy-authorization'] !== expected) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
      return
    }
    const { hostname, port } = new URL(`http://${request.url}`)
    tunnels.push(`${hostname}:${port || 80}`)
    tunnel(socket, hostname, Number(port || 80), () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      if (head.length > 0) socket.unshift(head)
    })
  })
  return listening('http', server, tunnels)
}

const VERSION = 5
const [NO_LOGIN, LOGIN, REFUSED] = [0, 2, 0xff]
const [IPV4, NAME] = [1, 3]

export async function startSocksProxy(login?: string): Promise<TestProxy> {
  const tunnels: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    void serveSocks(socket, login, tunnels).catch(() => socket.destroy())
  })
  return listening('socks5', server, tunnels)
}

async function serveSocks(socket: Socket, login: string | undefined, tunnels: string[]) {
  const read = reader(socket)
  const [, methods = 0] = await read(2)
  const offered = await read(methods)
  const method = login === undefined ? NO_LOGIN : LOGIN
  const isOffered = offered.includes(method)
  socket.write(Buffer.from([VERSION, isOffered ? method : REFUSED]))
  if (!isOffered) return socket.end()
  if (login !== undefined) {
    const [, userBytes = 0] = await read(2)
    const user = await read(userBytes)
    const [passwordBytes = 0] = await read(1)
    const isRight = `${user}:${await read(passwordBytes)}` === login
    socket.write(Buffer.from([1, isRight ? 0 : 1]))
    if (!isRight) return socket.end()
  }
  const [, , , type] = await read(4)
  const host =
    type === NAME ? String(await read((await read(1))[0] ?? 0)) : (await read(4)).join('.')
  const port = (await read(2)).readUInt16BE()
  tunnels.push(`${host}:${port}`)
  socket.removeAllListeners('readable')
  tunnel(socket, host, port, () =>
    socket.write(Buffer.from([VERSION, 0, 0, IPV4, 0, 0, 0, 0, 0, 0])),
  )
  return undefined
}

/** Reads exactly as many bytes as asked for, in order. */
function reader(socket: Socket): (bytes: number) => Promise<Buffer> {
  return async (bytes) => {
    if (bytes === 0) return Buffer.alloc(0)
    for (;;) {
      const found = socket.read(bytes) as Buffer | null
      if (found !== null) return found
      await once(socket, 'readable')
    }
  }
}

function tunnel(socket: Socket, host: string, port: number, ready: () => void): void {
  const onward = connect({ host, port, noDelay: true }, () => {
    ready()
    socket.pipe(onward).pipe(socket)
  })
  socket.on('error', () => onward.destroy()).once('close', () => onward.destroy())
  onward.on('error', () => socket.destroy()).once('close', () => socket.destroy())
}

async function listening(scheme: string, server: Server, tunnels: string[]): Promise<TestProxy> {
  const { port, close } = await startClosable(server)
  return { url: `${scheme}://127.0.0.1:${port}`, tunnels, close }
}
