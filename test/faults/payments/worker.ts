// A process of the payment model's full form: runs batches of random sequences, several at a time,
// and sends the result of each.
import { runBatch } from './sequences.ts'

export type WorkerTask = {
  readonly serverUrl: string
  readonly seeds: readonly number[]
  readonly sequences: number
  readonly lanes: number
  readonly endsClosed: boolean
}

// The program has ended because another process found a broken rule.
process.once('disconnect', () => process.exit(0))

process.once('message', async (task: WorkerTask) => {
  const { serverUrl, sequences, endsClosed } = task
  const seeds = [...task.seeds]
  async function lane(): Promise<void> {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const result = await runBatch({ seed, sequences, serverUrl, endsClosed })
      process.send?.({ seed, result })
    }
  }
  try {
    await Promise.all(Array.from({ length: task.lanes }, lane))
    process.exit(0)
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.stack : String(error) })
  }
})
