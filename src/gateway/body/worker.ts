// The thread of large-bodies.ts: parses a body and bounds its input tokens, so that streams do not
// wait.
import { parentPort } from 'node:worker_threads'
import { boundInput } from '../../wire/bound.ts'
import { readCountRequest, readMessageRequest } from '../../wire/request.ts'
import type { ParseTask, ParseTaskResult } from './worker-messages.ts'

parentPort?.on('message', (task: ParseTask) => {
  parentPort?.postMessage(runTask(task), [task.memory])
})

function runTask({ number, memory, bytes, kind, windows }: ParseTask): ParseTaskResult {
  const body = Buffer.from(memory, 0, bytes)
  const result = kind === 'message' ? readMessageRequest(body) : readCountRequest(body)
  if (!result.ok) return { number, memory, result, bound: undefined }
  const { shape, model } = result.request
  const window = windows[model]
  const bound = window === undefined ? undefined : boundInput(shape, body, window)
  const request = { ...result.request, shape: { ...shape, images: [] } }
  return { number, memory, result: { ok: true, request }, bound }
}
