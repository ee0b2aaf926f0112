// A steady load of messages, half of them streams, at a pace that does not depend on the gateway's
// answers. Records the answer to each.
import type { Dispatcher } from 'undici'
import { percentile, sleep } from '../../support/drill.ts'
import { type Answer, call } from './gateway-caller.ts'

/**
 * For short forms: the gateway's default is 10 s, which a reload waits for. Clients that close idle
 * connections earlier send no request at the moment when the gateway closes them; with a limit of
 * 1 s alone, 36 of 17,000 requests met a closed connection on a busy machine (November 2026).
 */
export const SHORT_IDLE = { drainSeconds: 1, clientMs: 300 }

export function startLoad(options: {
  readonly dispatcher: Dispatcher
  readonly url: string
  readonly keys: readonly string[]
  readonly perSecond: number
  /** The number of the last call. */
  readonly numbers: { last: number }
  readonly draw: () => number
}) {
  const { dispatcher, url, keys, perSecond, numbers, draw } = options
  const state = { isEnding: false, sent: 0 }
  const failed: Answer[] = []
  const tookMs: number[] = []
  const asks: Promise<void>[] = []
  const startedMs = performance.now()

  async function one(): Promise<void> {
    numbers.last += 1
    const key = keys[numbers.last % keys.length] as string
    const isStream = draw() < 0.5
    const fault = isStream
      ? `pace-ms=${Math.floor(draw() * 40)}`
      : `headers-ms=${Math.floor(draw() * 200)}`
    const askedMs = performance.now()
    const asked = { number: numbers.last, key, isStream, reply: 'text 8', fault }
    const answer = await call(dispatcher, url, asked)
    tookMs.push(performance.now() - askedMs)
    if (!answer.isWhole) failed.push(answer)
  }

  const sending = (async () => {
    while (!state.isEnding) {
      const due = ((performance.now() - startedMs) / 1_000) * perSecond
      for (; state.sent < due; state.sent++) asks.push(one())
      await sleep(2)
    }
  })()

  return {
    /** Stops sending, and resolves when all requests are answered. */
    async stop() {
      const seconds = (performance.now() - startedMs) / 1_000
      state.isEnding = true
      await sending
      await Promise.all(asks)
      return {
        failed,
        requests: state.sent,
        perSecond: Math.round(state.sent / seconds),
        p50Ms: Math.round(percentile(tookMs, 0.5)),
        p99Ms: Math.round(percentile(tookMs, 0.99)),
      }
    },
  }
}

export function describe(broken: readonly Answer[]): string {
  const { status, error } = broken[0] ?? { status: 0, error: '' }
  return `${broken.length} did not, the first: ${status} ${error}`
}
