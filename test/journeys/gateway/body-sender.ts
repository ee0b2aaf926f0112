// A thread that sends large bodies at once, each at its own pace or as fast as the gateway reads,
// so that sending does not disturb measurements in the main thread. Posts the status of each
// answer.
import { type ClientRequest, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

export type SendOptions = {
  readonly url: string
  /** Bodies use these keys in turn. */
  readonly keys: readonly string[]
  readonly body: SharedArrayBuffer
  readonly times: number
  /** Per connection; 0 sends as fast as the gateway reads. */
  readonly bytesPerSecond: number
}

// Short enough for a steady flow, long enough for twenty timers.
const TICK_MS = 10

const { url, keys, body, times, bytesPerSecond } = workerData as SendOptions
const bytes = Buffer.from(body)
for (let i = 0; i < times; i++) {
  const outgoing = request(`${url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': keys[i % keys.length],
      'content-type': 'application/json',
      'content-length': body.byteLength,
    },
  })
  outgoing.on('response', (incoming) => {
    incoming.resume().on('end', () => parentPort?.postMessage(incoming.statusCode))
  })
  outgoing.on('error', (error) => parentPort?.postMessage(error.message))
  if (bytesPerSecond === 0) outgoing.end(bytes)
  else flow(outgoing)
}

function flow(outgoing: ClientRequest): void {
  const slice = Math.ceil((bytesPerSecond * TICK_MS) / 1_000)
  let at = 0
  const timer = setInterval(() => {
    outgoing.write(bytes.subarray(at, at + slice))
    at += slice
    if (at < bytes.length) return
    clearInterval(timer)
    outgoing.end()
  }, TICK_MS)
}
