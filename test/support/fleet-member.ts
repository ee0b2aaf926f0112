// A process of a fleet that does nothing but answer each connection with its number and close it.
// What the client sends may be an order: `fill` takes its file descriptors for some seconds,
// `freeze` blocks its event loop.
import { joinFleet } from '../../src/fleet/fleet.ts'
import { takeDescriptors } from './descriptors.ts'

const FILLED_MS = 5_000

await joinFleet().serve({
  listen: async () => undefined,
  health: () => ({ isDatabaseAway: false, areUpstreamsAway: false }),
  metrics: async () => [],
  take({ socket, setBusy }) {
    socket.once('data', (order) => {
      setBusy()
      socket.end(`${process.pid}`)
      // After the close, which frees a descriptor.
      if (`${order}` === 'fill') {
        socket.once('close', () => setTimeout(takeDescriptors(), FILLED_MS))
      }
      while (`${order}` === 'freeze');
    })
    socket.resume()
  },
})
