// Runs random sequences of steps with fast-check and shrinks the first one that breaks a rule. A
// batch is named by its seed; the same seed draws the same sequences.
import fc from 'fast-check'
import { ensure } from '../../support/drill.ts'
import { type Choice, type StepName, steps, weights } from './steps.ts'
import { createWorld, type World } from './world.ts'

export type Drawn = readonly (readonly [StepName, Choice, Choice])[]
export type Batch = {
  readonly seed: number
  readonly sequences: number
  readonly serverUrl?: string
  /** SQL that breaks the product, to see that the model finds it. */
  readonly plant?: string
  /** Each sequence ends with both accounts closed. */
  readonly endsClosed?: boolean
  /** False: a broken rule is enough, the sequence need not be short. */
  readonly isShrunk?: boolean
}
export type BatchResult = {
  readonly sequences: number
  readonly steps: number
  /** The rule that a sequence broke, and the shortest sequence that breaks it. */
  readonly broken?: { readonly why: string; readonly drawn: string }
}

const STEPS_MAX = 16
/** A batch with its shrinking stops after this long, with the shortest sequence found so far. */
const BATCH_MS_MAX = 180_000

const choice = fc.nat({ max: 11 })
const step = fc.oneof(
  ...Object.entries(weights).map(([name, weight]) => ({
    weight,
    arbitrary: fc.tuple(fc.constant(name as StepName), choice, choice),
  })),
)
const sequence = fc.array(step, { minLength: 4, maxLength: STEPS_MAX, size: 'max' })

/** Runs one sequence to its rest; throws PromiseBroken when it breaks a rule. */
export async function runSequence(world: World, drawn: Drawn, endsClosed = false): Promise<void> {
  const at = await world.begin()
  for (const [name, a, b] of drawn) await at.check(await steps[name](at, a, b))
  if (endsClosed) await at.closeAll()
  await at.rest()
  if (endsClosed) await at.awaitClosed()
}

/** Runs a batch in a world of its own. */
export async function runBatch(batch: Batch): Promise<BatchResult> {
  const world = await createWorld(batch)
  const count = { sequences: 0, steps: 0 }
  const found = await fc.check(
    fc.asyncProperty(sequence, async (drawn: Drawn) => {
      count.sequences += 1
      count.steps += drawn.length
      await runSequence(world, drawn, batch.endsClosed)
    }),
    {
      seed: batch.seed,
      numRuns: batch.sequences,
      interruptAfterTimeLimit: BATCH_MS_MAX,
      markInterruptAsFailure: false,
      endOnFailure: batch.isShrunk === false,
    },
  )
  const findings = await world.end()
  if (found.failed) {
    const [shortest] = found.counterexample ?? [[]]
    const drawn = JSON.stringify(shortest)
    const error = found.errorInstance
    const why = error instanceof Error ? `${error.stack}` : `${error}`
    return { ...count, broken: { why, drawn } }
  }
  ensure(findings.length === 0, `the audit is empty: ${findings[0]?.rule} ${findings[0]?.detail}`)
  return count
}
