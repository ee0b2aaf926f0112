// Starts a server of a test on a free port of this machine; `close` also ends its connections.
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

export async function startClosable(
  server: Server,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
