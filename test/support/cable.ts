// A cable between a process of ours and the database that a test can cut, mend and move: a TCP
// proxy. Cut, it breaks what is open and refuses what is new, as a database that is gone does.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Cable = Awaited<ReturnType<typeof createCable>>

/** `serverUrl` is the database server's own address; `url` is the same through the cable. */
export async function createCable(serverUrl: string) {
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
    mend(): void {
      isCut = false
    },
    /**
     * The address leads to another server from now on. Connections that are open stay where they
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
