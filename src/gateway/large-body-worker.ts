// The thread behind large-bodies.ts: reads a body and bounds its input, away from the streams.
import { parentPort } from 'node:worker_threads'
import { boundInput } from '../wire/bound.ts'
import { readCountRequest, readMessageRequest } from '../wire/request.ts'
import type { LargeAnswer, LargeAsk } from './large-ask.ts'

parentPort?.on('message', (ask: LargeAsk) => {
  const body = Buffer.from(ask.shared, 0, ask.bytes)
  const result = ask.kind === 'message' ? readMessageRequest(body) : readCountRequest(body)
  const window = result.ok ? ask.windows[result.request.model] : undefined
  const answer: LargeAnswer = {
    number: ask.number,
    result,
    bound:
      result.ok && window !== undefined
        ? boundInput(result.request.shape, body, window)
        : undefined,
  }
  parentPort?.postMessage(answer)
})
