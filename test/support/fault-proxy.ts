// A TCP proxy that plays the faults of a network between two programs: latency, a black hole (bytes
// are neither passed on nor answered), resets, and a half-close. It tunnels bytes, so TLS passes.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type NetworkFault =
  | { readonly kind: 'latency'; readonly ms: number }
  | { readonly kind: 'black-hole' }
  /** Resets open connections and new ones. */
  | { readonly kind: 'reset' }
  /** Ends the direction towards the server and passes the server's bytes on. */
  | { readonly kind: 'half-close' }

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>

type Pair = { readonly near: Socket; readonly far: Socket }

/** `port` 0, the default, takes a free one. `targetPort` is of the same machine. */
export async function startFaultProxy(targetPort: number, port = 0) {
  const pairs = new Set<Pair>()
  let fault: NetworkFault | undefined

  /** Passes bytes on as the fault allows, and waits while the reader is slow. */
  function pass(from: Socket, to: Socket): void {
    const later: (() => void)[] = []
    /** In the order of arrival, also when the latency ends while earlier bytes still wait. */
    const inOrder = (act: () => void) => {
      const ms = fault?.kind === 'latency' ? fault.ms : 0
      if (ms === 0 && later.length === 0) return act()
      later.push(act)
      setTimeout(() => later.shift()?.(), ms)
    }
    from.on('data', (bytes: Buffer) => {
      if (fault?.kind === 'black-hole') return
      inOrder(() => {
        if (to.destroyed || to.writableEnded || to.write(bytes)) return
        from.pause()
        to.once('drain', () => from.resume())
      })
    })
    from.on('end', () => {
      if (fault?.kind !== 'black-hole') inOrder(() => to.end())
    })
    from.on('error', () => undefined)
    from.once('close', () => {
      // The other side of a black hole does not learn that this side has gone.
      if (fault?.kind !== 'black-hole') inOrder(() => to.destroy())
    })
  }

  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (fault?.kind === 'reset') {
      near.on('error', () => undefined)
      near.resetAndDestroy()
      return
    }
    const far = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    near.setNoDelay(true)
    const pair = { near, far }
    pairs.add(pair)
    // In a black hole one side stays when the other has gone; `heal` resets it.
    const forget = () => near.destroyed && far.destroyed && pairs.delete(pair)
    for (const socket of [near, far]) socket.once('close', forget)
    pass(near, far)
    pass(far, near)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')

  const resetAll = () => {
    for (const { near, far } of pairs) for (const one of [near, far]) one.resetAndDestroy()
  }
  return {
    // Safe: a server that listens on a port has an address of this kind.
    port: (server.address() as AddressInfo).port,
    play(next: NetworkFault): void {
      fault = next
      if (next.kind === 'reset') resetAll()
      if (next.kind === 'half-close') for (const { far } of pairs) far.end()
    },
    /** Connections that lived through a black hole have lost bytes, so they are reset. */
    heal(): void {
      const wasBlackHole = fault?.kind === 'black-hole'
      fault = undefined
      if (wasBlackHole) resetAll()
    },
    async end(): Promise<void> {
      fault = undefined
      resetAll()
      server.close()
      await once(server, 'close')
    },
  }
}
