// Compares payments with a model: random sequences of purchases, top-ups, refunds, disputes,
// deleted cards, closed accounts, promo codes, late payments and price changes, while the bank
// fails and clocks jump. After every step: money taken = credits sold = postings, and no charge
// without a living mandate; at rest nothing is left in a closed book. Planted bugs are found.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { startPostgres } from '../../../tools/postgres.ts'
import { type Drill, ensure, PromiseBroken } from '../../support/drill.ts'
import { type Planted, planted } from './planted.ts'
import { type BatchResult, runBatch, runSequence } from './sequences.ts'
import type { WorkerTask } from './worker.ts'
import { createWorld } from './world.ts'

/** A program over these sequences: `payment-model`, and `closing`, which ends them closed. */
export type ModelProgram = {
  readonly name: string
  readonly full: number
  readonly short: { readonly batches: number; readonly sequences: number }
  readonly endsClosed: boolean
  readonly planted: Readonly<Record<string, Planted>>
}

const MODEL: ModelProgram = {
  ...{ name: 'payment-model', full: 5_000, short: { batches: 2, sequences: 6 } },
  ...{ endsClosed: false, planted },
}
const FULL_BATCH = 20
const PROCESSES = 2
/** They wait for PostgreSQL and the bank most of the time. */
const LANES = 3
/** In the full form each planted bug is also searched with this many random sequences. */
const SEARCHED_MAX = 400

type Say = (text: string) => void

export const modelDrill =
  (program: ModelProgram): Drill =>
  async ({ isFull, seed, say }) => {
    const started = performance.now()
    const [sums, found] = isFull
      ? [await runFull(program, seed, say), await findPlanted(program, say, true)]
      : await Promise.all([runShort(program, seed), findPlanted(program, say, false)])
    const seconds = (performance.now() - started) / 1_000
    say(`${sums.sequences} sequences, ${sums.steps} steps in ${seconds.toFixed(1)} s`)
    if (isFull) await searchPlanted(program, seed, say)
    return {
      ...sums,
      perSecond: Number((sums.sequences / seconds).toFixed(2)),
      plantedBugsFound: found,
    }
  }

export const drill = modelDrill(MODEL)

function requireSound(name: string, seed: number, { broken }: BatchResult): void {
  if (broken === undefined) return
  const again = `npm run faults -- ${name} --seed ${seed}`
  throw new PromiseBroken(`${broken.why}\nsteps: ${broken.drawn}\nthe batch: ${again}`)
}

function sumOf(results: readonly BatchResult[]) {
  const add = (of: (one: BatchResult) => number) =>
    results.reduce((total, one) => total + of(one), 0)
  return { sequences: add((one) => one.sequences), steps: add((one) => one.steps) }
}

async function runShort({ name, short, endsClosed }: ModelProgram, seed: number) {
  const results = await Promise.all(
    Array.from({ length: short.batches }, async (_, i) => {
      const result = await runBatch({ seed: seed + i, sequences: short.sequences, endsClosed })
      requireSound(name, seed + i, result)
      return result
    }),
  )
  return sumOf(results)
}

/** On a server of its own without fsync: the model is not about what survives a power failure. */
async function runFull({ name, full, endsClosed }: ModelProgram, seed: number, say: Say) {
  const server = await startPostgres({ settings: { fsync: 'off' } })
  try {
    const results: BatchResult[] = []
    const batches = Math.ceil(full / FULL_BATCH)
    const onResult = (batchSeed: number, result: BatchResult) => {
      requireSound(name, batchSeed, result)
      results.push(result)
      if (results.length % 25 === 0) say(`${results.length} of ${batches} batches`)
    }
    await Promise.all(
      Array.from({ length: PROCESSES }, (_, p) => {
        const seeds = Array.from({ length: batches }, (_, i) => seed + i)
        const own = seeds.filter((_, i) => i % PROCESSES === p)
        const size = { sequences: FULL_BATCH, lanes: LANES }
        const task = { serverUrl: server.url, seeds: own, ...size, endsClosed }
        return inProcess(task, onResult)
      }),
    )
    const sums = sumOf(results)
    ensure(sums.sequences >= full, `${full} sequences ran (${sums.sequences})`)
    return sums
  } finally {
    await server.stop()
  }
}

function inProcess(task: WorkerTask, onResult: (seed: number, result: BatchResult) => void) {
  return new Promise<void>((resolve, reject) => {
    const child = fork(join(import.meta.dirname, 'worker.ts'))
    child.on('message', (message: { seed: number; result: BatchResult; error?: string }) => {
      try {
        if (message.error !== undefined) throw new Error(message.error)
        onResult(message.seed, message.result)
      } catch (error) {
        child.kill()
        reject(error)
      }
    })
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`exit ${code}`))))
    child.send(task)
  })
}

/** Each planted bug is found by its sequence; `isFull`: which breaks no rule without the bug. */
async function findPlanted(program: ModelProgram, say: Say, isFull: boolean): Promise<number> {
  const world = await createWorld()
  try {
    for (const [name, { plant, undo, drawn }] of Object.entries(program.planted)) {
      if (isFull) await runSequence(world, drawn, program.endsClosed)
      await world.stage.db.query(plant)
      const found = await runSequence(world, drawn, program.endsClosed).then(
        () => undefined,
        (error: Error) => error,
      )
      await world.stage.db.query(undo)
      ensure(found instanceof PromiseBroken, `the planted bug is found: ${name} (${found})`)
      say(`planted: ${name}; found: ${found.message.slice(0, 120)}`)
    }
  } finally {
    await world.end()
  }
  return Object.keys(program.planted).length
}

/** Random sequences find each planted bug too. */
async function searchPlanted(program: ModelProgram, seed: number, say: Say): Promise<void> {
  const ends = { endsClosed: program.endsClosed }
  for (const [name, { plant }] of Object.entries(program.planted)) {
    let tried = 0
    for (let i = 0; tried < SEARCHED_MAX; i++) {
      const result = await runBatch({
        seed: seed + i,
        sequences: 20,
        plant,
        isShrunk: false,
        ...ends,
      })
      tried += result.sequences
      if (result.broken === undefined) continue
      say(`planted: ${name}; found at random by sequence ${tried}`)
      break
    }
    ensure(tried < SEARCHED_MAX, `${SEARCHED_MAX} random sequences find the bug: ${name}`)
  }
}
