// The record of API calls received: method, path, key, body and answer.
import { createRing } from './ring.ts'

export type ReceivedCall = {
  sequence: number
  /** By the provider's clock. */
  at: string
  method: string
  /** With its query, from /v3 on. */
  path: string
  key: string | null
  orderId: string | null
  body: string
  /** Null while there is no answer, and for good when none was sent. */
  status: number | null
  fault: string | null
  tookMs: number
}

// A call with its body is about 1.5 KiB.
const callsMax = 50_000

export function createCalls(now: () => number) {
  const ring = createRing<ReceivedCall>(callsMax)
  let sequence = 0
  return {
    /** Kept at once, completed by `end`. */
    begin(call: Pick<ReceivedCall, 'method' | 'path' | 'key' | 'orderId' | 'body' | 'fault'>) {
      sequence += 1
      const startedMs = performance.now()
      const at = new Date(now()).toISOString()
      const received: ReceivedCall = { sequence, at, ...call, status: null, tookMs: 0 }
      ring.add(received)
      return {
        end(status: number | null): void {
          received.status = status
          received.tookMs = Math.round(performance.now() - startedMs)
        },
      }
    },
    last: ring.last,
    count: () => ring.size,
    clear: ring.clear,
  }
}

export type Calls = ReturnType<typeof createCalls>
