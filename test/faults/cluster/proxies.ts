// The fault proxies of the cluster, in a thread of their own: beside hundreds of clients in one
// event loop they would delay the nodes' questions to etcd by seconds, and the primary would step
// down.
import { Worker } from 'node:worker_threads'
import type { NetworkFault } from '../../support/fault-proxy.ts'
import type { Order } from './proxy-thread.ts'

export type Proxies = ReturnType<typeof startProxies>

export type ClusterProxy = {
  readonly port: number
  play(fault: NetworkFault): void
  heal(): void
}

export function startProxies() {
  const worker = new Worker(new URL('./proxy-thread.ts', import.meta.url))
  const listening = new Map<number, (port: number) => void>()
  worker.on('message', ({ id, port }: { id: number; port: number }) => listening.get(id)?.(port))
  const send = (order: Order) => worker.postMessage(order)
  return {
    /** `targetPort` is of this machine. */
    async start(targetPort: number): Promise<ClusterProxy> {
      const id = listening.size
      const { promise, resolve } = Promise.withResolvers<number>()
      listening.set(id, resolve)
      send({ id, act: 'start', targetPort })
      return {
        port: await promise,
        play: (fault) => send({ id, act: 'play', fault }),
        heal: () => send({ id, act: 'heal' }),
      }
    },
    end: () => worker.terminate(),
  }
}
