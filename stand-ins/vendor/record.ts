// What the stand-in received, byte for byte, and how each exchange ended. Two limits: a ring of the
// newest requests, and a budget for their bodies, of which the oldest are dropped first.
import type { IncomingMessage } from 'node:http'
import type { BillRow, Usage } from './usage.ts'

/**
 * `finished`: the whole answer was handed to the network. `aborted`: the client disconnected first.
 * `cut`: a fault ended it early. `open`: still running.
 */
export type Outcome = 'open' | 'finished' | 'aborted' | 'cut'

export type Received = {
  readonly number: number
  /** Milliseconds since 1970, like the two times below. */
  readonly arrivedAt: number
  readonly method: string
  readonly url: string
  /** Names and values in turn, exactly as received. */
  readonly rawHeaders: readonly string[]
  /** Null once the body was dropped for the budget. */
  body: Buffer | null
  bodyBytes: number
  requestId: string
  status: number | null
  /** Events handed to the network, of a stream. */
  events: number
  /** Body bytes handed to the network, compressed where the answer is. */
  bytesSent: number
  isMessageStopSent: boolean
  /** The final usage of the answer, even if the client disconnected before. */
  usage: Usage | null
  /** What it costs the client so far, by model; empty for what is not billed. */
  billed: readonly BillRow[]
  outcome: Outcome
  endedAt: number | null
  clientGoneAt: number | null
}

export type Counts = Record<Outcome | 'received', number>

type Limits = { readonly requestsMax: number; readonly bodyBytesMax: number }

export function createRecord({ requestsMax, bodyBytesMax }: Limits) {
  const ring = new Map<number, Received>()
  const waiting = new Set<() => void>()
  let counts = noCounts()
  let bodyBytesHeld = 0
  let bodyOldest = 1
  let numberLast = 0

  function dropBody(received: Received | undefined): void {
    if (received?.body == null) return
    bodyBytesHeld -= received.body.length
    received.body = null
  }

  function changed(): void {
    for (const check of waiting) check()
  }

  return {
    arrive(request: IncomingMessage, requestId: string): Received {
      numberLast += 1
      const received: Received = {
        number: numberLast,
        arrivedAt: Date.now(),
        method: request.method ?? '',
        url: request.url ?? '',
        rawHeaders: request.rawHeaders,
        body: null,
        bodyBytes: 0,
        requestId,
        status: null,
        events: 0,
        bytesSent: 0,
        isMessageStopSent: false,
        usage: null,
        billed: [],
        outcome: 'open',
        endedAt: null,
        clientGoneAt: null,
      }
      ring.set(numberLast, received)
      const passed = numberLast - requestsMax
      dropBody(ring.get(passed))
      ring.delete(passed)
      counts.received += 1
      counts.open += 1
      changed()
      return received
    },

    keepBody(received: Received, body: Buffer): void {
      received.bodyBytes = body.length
      // A request that was already cleared would never be dropped again.
      if (!ring.has(received.number)) return
      received.body = body
      bodyBytesHeld += body.length
      for (; bodyBytesHeld > bodyBytesMax && bodyOldest < numberLast; bodyOldest += 1) {
        dropBody(ring.get(bodyOldest))
      }
      changed()
    },

    /** Only the first ending counts; later ones follow from it. */
    end(received: Received, outcome: Exclude<Outcome, 'open'>): void {
      if (received.outcome !== 'open') return
      received.outcome = outcome
      received.endedAt = Date.now()
      if (outcome === 'aborted') received.clientGoneAt = received.endedAt
      if (ring.has(received.number)) {
        counts.open -= 1
        counts[outcome] += 1
      }
      changed()
    },

    changed,

    /** Oldest first. */
    all: (): Received[] => [...ring.values()],

    counts: (): Counts => ({ ...counts }),

    clear(): void {
      ring.clear()
      counts = noCounts()
      bodyBytesHeld = 0
      bodyOldest = numberLast + 1
    },

    /**
     * Resolves as soon as the record satisfies the check, so that tests need no sleep. The limit
     * only ends a test that hangs: a virtual machine may stall for ten seconds.
     */
    until(check: (all: Received[]) => boolean, timeoutMs = 30_000): Promise<void> {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look)
          reject(new Error(`the vendor stand-in did not get there within ${timeoutMs} ms`))
        }, timeoutMs)
        const look = () => {
          if (!check([...ring.values()])) return
          waiting.delete(look)
          clearTimeout(timer)
          resolve()
        }
        waiting.add(look)
        look()
      })
    },
  }
}

export type RequestRecord = ReturnType<typeof createRecord>

function noCounts(): Counts {
  return { received: 0, open: 0, finished: 0, aborted: 0, cut: 0 }
}
