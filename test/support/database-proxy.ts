// A TCP proxy between our processes and PostgreSQL. A test can cut it (open connections are reset
// and new ones refused, as with a server that is down), restore it, and point it elsewhere.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type DatabaseProxy = Awaited<ReturnType<typeof createDatabaseProxy>>

/** `serverUrl` is the database server's own address; `url` leads there through the proxy. */
export async function createDatabaseProxy(serverUrl: string) {
  let target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  }
  let isCut = false
  const server = createServer((near) => {
    keep(near)
    if (isCut) {
      near.resetAndDestroy()
      return
    }
    const far = connect(Number(target.port || 5_432), target.hostname)
    keep(far)
    near.pipe(far).pipe(near)
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: a server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href,
    cut(): void {
      isCut = true
      for (const socket of sockets) socket.resetAndDestroy()
    },
    restore(): void {
      isCut = false
    },
    /**
     * Sends new connections to another server. Open connections stay where they
     * are, as behind a proxy or a virtual address.
     */
    moveTo(otherUrl: string): void {
      target = new URL(otherUrl)
    },
    async end(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
