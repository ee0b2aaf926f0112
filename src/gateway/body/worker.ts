// The thread behind large-bodies.ts: reads a body and bounds its input, away from the streams.
import { parentPort } from 'node:worker_threads'
import { boundInput } from '../../wire/bound.ts'
import { readCountRequest, readMessageRequest } from '../../wire/request.ts'
import type { LargeAnswer, LargeAsk } from './worker-messages.ts'

parentPort?.on('message', (ask: LargeAsk) => {
  parentPort?.postMessage(answerTo(ask), [ask.memory])
})

function answerTo({ number, memory, bytes, kind, windows }: LargeAsk): LargeAnswer {
  const body = Buffer.from(memory, 0, bytes)
  const result = kind === 'message' ? readMessageRequest(body) : readCountRequest(body)
  if (!result.ok) return { number, memory, result, bound: undefined }
  const { shape, model } = result.request
  const window = windows[model]
  const bound = window === undefined ? undefined : boundInput(shape, body, window)
  const request = { ...result.request, shape: { ...shape, images: [] } }
  return { number, memory, result: { ok: true, request }, bound }
}
