// Reads large bodies in a worker thread: 32 MiB take some 20 ms, in which ten thousand streams
// would stand still. The body's memory is handed over and back, so only the answer is copied. (Of
// shared memory no collector knows the size: bodies long let go of stayed, up to 300 MiB of them.)
// One thread: it reads over a gigabyte a second, more than a process can take in.
import { Worker } from 'node:worker_threads'
import type { LargeAnswer, LargeAsk } from './worker-messages.ts'

export function createLargeBodies() {
  const waiting = new Map<number, PromiseWithResolvers<LargeAnswer>>()
  const state: { worker: Worker | undefined; number: number } = { worker: undefined, number: 0 }

  // Started by the first large body: most processes of a small operator never see one.
  function started(): Worker {
    if (state.worker !== undefined) return state.worker
    const worker = new Worker(new URL('./worker.ts', import.meta.url))
    worker.unref()
    worker.on('message', (answer: LargeAnswer) => {
      waiting.get(answer.number)?.resolve(answer)
      waiting.delete(answer.number)
    })
    worker.on('error', (error) => {
      state.worker = undefined
      for (const one of waiting.values()) one.reject(error)
      waiting.clear()
    })
    state.worker = worker
    return worker
  }

  return {
    /** Takes the body's memory; what comes back with the answer is the body from then on. */
    read(ask: Omit<LargeAsk, 'number'>): Promise<LargeAnswer> {
      const settled = Promise.withResolvers<LargeAnswer>()
      state.number += 1
      waiting.set(state.number, settled)
      started().postMessage({ ...ask, number: state.number }, [ask.memory])
      return settled.promise
    },
    async stop() {
      await state.worker?.terminate()
    },
  }
}

export type LargeBodies = ReturnType<typeof createLargeBodies>
