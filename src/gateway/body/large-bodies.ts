// Parses large bodies in a worker thread: 32 MiB take about 20 ms, during which ten thousand
// streams would stand still. The body's memory is transferred to the thread and back, so only the
// result is copied. (A SharedArrayBuffer was tried: the garbage collector does not know its size,
// and up to 300 MiB of released bodies stayed in memory.) One thread is enough: it parses over a
// gigabyte a second, more than a process can receive.
import { Worker } from 'node:worker_threads'
import type { ParseTask, ParseTaskResult } from './worker-messages.ts'

export function createLargeBodies() {
  const pending = new Map<number, PromiseWithResolvers<ParseTaskResult>>()
  const state: { worker: Worker | undefined; number: number } = { worker: undefined, number: 0 }

  // The thread is started by the first large body: many processes never receive one.
  function worker(): Worker {
    if (state.worker !== undefined) return state.worker
    const worker = new Worker(new URL('./worker.ts', import.meta.url))
    worker.unref()
    worker.on('message', (result: ParseTaskResult) => {
      pending.get(result.number)?.resolve(result)
      pending.delete(result.number)
    })
    worker.on('error', (error) => {
      state.worker = undefined
      for (const deferred of pending.values()) deferred.reject(error)
      pending.clear()
    })
    state.worker = worker
    return worker
  }

  return {
    /** Transfers the body's memory to the thread; use the memory in the result from then on. */
    read(task: Omit<ParseTask, 'number'>): Promise<ParseTaskResult> {
      const deferred = Promise.withResolvers<ParseTaskResult>()
      state.number += 1
      pending.set(state.number, deferred)
      worker().postMessage({ ...task, number: state.number }, [task.memory])
      return deferred.promise
    },
    async stop() {
      await state.worker?.terminate()
    },
  }
}

export type LargeBodies = ReturnType<typeof createLargeBodies>
