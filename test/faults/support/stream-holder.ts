// A client process that opens streams one after the other, keeps all of them open at the same time,
// and reads each to its end. It uses undici's `dispatch`: nine thousand Readable objects would cost
// more than what is measured.
import { type Dispatcher, Pool } from 'undici'
import { percentile } from '../../support/drill.ts'

export type HolderTask = {
  readonly url: string
  readonly keys: readonly string[]
  readonly streams: number
  /** The streams are opened evenly over this time. */
  readonly rampMs: number
  /** All streams are then open together for at least this time. */
  readonly togetherMs: number
}

export type HolderNews =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'over'
      readonly whole: number
      readonly errors: number
      readonly firstError: string
      /** How much later than PACE_MS after the previous event an event arrived. */
      readonly delayP99Ms: number
    }

/** The stand-in sends an event every two seconds: a slow model, but the gateway is not idle. */
const PACE_MS = 2_000

type Count = { open: number; over: number; whole: number; errors: string[]; delaysMs: number[] }

async function main(task: HolderTask): Promise<void> {
  const pool = new Pool(task.url, { connections: task.streams, pipelining: 1 })
  const count: Count = { open: 0, over: 0, whole: 0, errors: [], delaysMs: [] }
  const done = Promise.withResolvers<void>()
  const startedMs = performance.now()
  // One event per word, and six around them, so each stream outlasts `rampMs + togetherMs`.
  const words = Math.ceil((task.rampMs + task.togetherMs) / PACE_MS)
  for (let i = 0; i < task.streams; i++) {
    const dueMs = (i / task.streams) * task.rampMs - (performance.now() - startedMs)
    if (dueMs > 1) await new Promise((resolve) => setTimeout(resolve, dueMs))
    pool.dispatch(requestOf(task, i, words), handlerOf(task, count, done.resolve))
  }
  await done.promise
  await pool.close()
  tell({
    kind: 'over',
    whole: count.whole,
    errors: count.errors.length,
    firstError: count.errors[0] ?? '',
    delayP99Ms: Math.round(percentile(count.delaysMs, 0.99)),
  })
  process.disconnect?.()
}

function requestOf(task: HolderTask, i: number, words: number): Dispatcher.DispatchOptions {
  const fault = `usage-output=${i + 1} pace-ms=${PACE_MS}`
  return {
    method: 'POST',
    path: '/v1/messages',
    headers: {
      'content-type': 'application/json',
      'x-api-key': task.keys[i % task.keys.length] as string,
    },
    body: JSON.stringify({
      model: 'model-large',
      max_tokens: 20_000,
      stream: true,
      messages: [{ role: 'user', content: `[[reply: text ${words}]] [[fault: ${fault}]]` }],
    }),
    headersTimeout: 60_000,
    bodyTimeout: 60_000,
  }
}

function handlerOf(
  { streams }: HolderTask,
  count: Count,
  done: () => void,
): Dispatcher.DispatchHandler {
  const state = { lastMs: 0, tail: '', status: 0 }
  const over = (error: string | undefined) => {
    count.over += 1
    if (error === undefined) count.whole += 1
    else count.errors.push(error)
    if (count.over === streams) done()
  }
  return {
    onRequestStart: () => undefined,
    onResponseStart(_, status) {
      state.status = status
      state.lastMs = performance.now()
      count.open += 1
      if (count.open === streams) tell({ kind: 'open' })
    },
    onResponseData(_, chunk) {
      const nowMs = performance.now()
      // Skip events that arrive together with the previous one; 200,000 samples are enough.
      const lateMs = nowMs - state.lastMs - PACE_MS
      if (lateMs > -PACE_MS / 2 && count.delaysMs.length < 200_000) count.delaysMs.push(lateMs)
      state.lastMs = nowMs
      state.tail = (state.tail + chunk.toString('latin1')).slice(-200)
    },
    onResponseEnd() {
      const isWhole = state.status === 200 && state.tail.includes('event: message_stop')
      over(isWhole ? undefined : `${state.status} ${state.tail}`)
    },
    onResponseError: (_, error) => over(`${state.status} ${error.message}`),
  }
}

function tell(news: HolderNews): void {
  process.send?.(news)
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? '{}') as HolderTask)
