// The thread that runs the fault proxies of the cluster; proxies.ts starts it.
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { type FaultProxy, type NetworkFault, startFaultProxy } from '../../support/fault-proxy.ts'
import { CLUSTER_NICENESS } from './process.ts'

export type Order = { readonly id: number } & (
  | { readonly act: 'start'; readonly targetPort: number }
  | { readonly act: 'play'; readonly fault: NetworkFault }
  | { readonly act: 'heal' }
)

const proxies = new Map<number, FaultProxy>()

try {
  setPriority(CLUSTER_NICENESS)
} catch {
  // A container may forbid it.
}

parentPort?.on('message', async (order: Order) => {
  const { id } = order
  if (order.act === 'start') {
    const proxy = await startFaultProxy(order.targetPort)
    proxies.set(id, proxy)
    parentPort?.postMessage({ id, port: proxy.port })
  } else if (order.act === 'play') proxies.get(id)?.play(order.fault)
  else proxies.get(id)?.heal()
})
