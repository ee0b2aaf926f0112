// One process of the model-based test: several connections call the ledger's functions, one-row and
// batched, with random operations, and report every result with its place in the order of commits.
// The place is taken from a sequence inside the transaction, while the book is locked, so that for
// each book the order of places is the order of the operations.
import fc from 'fast-check'
import pg from 'pg'
import type { HoldInput, SettleInput, Verb, VoidInput } from '../../../src/ledger/calls.ts'
import { holdVerb, settleVerb, voidVerb } from '../../../src/ledger/calls.ts'
import { type Row, send as sendStatement } from '../../../src/platform/db/statement.ts'
import type { BookId, HoldId } from '../../../src/platform/ids.ts'
import type { Credits } from '../../../src/units/credits.ts'
import type { Tokens } from '../../../src/units/tokens.ts'
import { noTokens } from '../../../src/units/tokens.ts'
import type { ModelOp } from '../../support/ledger-model.ts'

/** What a connection did, and its place in the order of commits. */
export type Trace = { place: number; at: number; op: ModelOp; fence: bigint; result: string }

export type WorkerTask = {
  readonly url: string
  readonly seed: number
  readonly connections: number
  readonly steps: number
  readonly books: readonly string[]
  readonly tariff: number
}

type Draw = {
  readonly do: 'hold' | 'settle' | 'void'
  readonly offset: number
  readonly isStrange: boolean
  readonly isStale: boolean
  readonly isLost: boolean
}
type Plan = {
  readonly draws: readonly Draw[]
  readonly rare: ModelOp | null
  readonly isBatch: boolean
  readonly isWaiting: boolean
}
type Step = {
  readonly ops: readonly ModelOp[]
  readonly isBatch: boolean
  readonly isWaiting: boolean
}

const hold_ = holdVerb(7n, 3_900)
const void_ = voidVerb(7n)

/** By how many ids a step advances: few, so that connections collide; enough for new holds. */
const STRIDE = 5

// What a step does. Ids are drawn around the step's position: holds ahead, settles behind them,
// voids last. The ranges overlap, so that repeats, races and late operations are common.
function planOf(bookCount: number): fc.Arbitrary<Plan> {
  const rarely = fc.integer({ min: 0, max: 24 }).map((n) => n === 0)
  const drawOf = (verb: Draw['do'], min: number, max: number) =>
    fc.record({
      do: fc.constant(verb),
      offset: fc.integer({ min, max }),
      isStrange: rarely,
      isStale: rarely,
      isLost: fc.boolean(),
    })
  const some = (draw: fc.Arbitrary<Draw>, weight: number) => ({
    weight,
    arbitrary: fc.record({
      draws: fc.uniqueArray(draw, { minLength: 1, maxLength: 12, selector: (one) => one.offset }),
      rare: fc.constant(null),
      isBatch: fc.boolean(),
      isWaiting: fc.boolean(),
    }),
  })
  return fc.oneof(
    some(drawOf('hold', -10, 30), 10),
    some(drawOf('settle', -90, 0), 10),
    some(drawOf('void', -150, -30), 2),
    {
      weight: 5,
      arbitrary: fc.record({
        draws: fc.constant([]),
        rare: rareOf(bookCount),
        isBatch: fc.constant(false),
        isWaiting: fc.constant(true),
      }),
    },
  )
}

function rareOf(bookCount: number): fc.Arbitrary<ModelOp> {
  const book = fc.nat(bookCount - 1)
  const posting = <Verb extends string>(verb: Verb, refs: number, max: bigint) =>
    fc.record({
      do: fc.constant(verb),
      ref: fc.nat(refs),
      book,
      amount: fc.bigInt(1n, max),
    })
  const dayLimit = fc.option(fc.bigInt(1_000n, 20_000n), { freq: 2 })
  return fc.oneof(
    { weight: 14, arbitrary: posting('credit', 3_000, 1_500n) },
    { weight: 2, arbitrary: posting('credit', 20, 3n) },
    { weight: 3, arbitrary: posting('adjust', 1_000, 400n) },
    { weight: 2, arbitrary: posting('force', 1_000, 600n) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('fence' as const), book }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('limit' as const), book, dayLimit }) },
    { weight: 1, arbitrary: fc.constant({ do: 'midnight' as const }) },
  )
}

/** An id has one set of amounts, except when a draw differs on purpose. */
function stepOf(plan: Plan, place: number, bookCount: number): Step {
  const ops = plan.draws.map((draw): ModelOp => {
    const id = Math.max(0, place * STRIDE + draw.offset + 200)
    const odd = draw.isStrange ? 1 : 0
    // Never another book: places are ordered only within one book.
    const book = id % bookCount
    switch (draw.do) {
      case 'hold':
        return {
          do: 'hold',
          id,
          book,
          worst: BigInt(50 + ((id * 37) % 300) + odd),
          floor: BigInt((id * 13) % 50),
          fenceBack: draw.isStale ? 1 : 0,
        }
      case 'settle':
        return { do: 'settle', id, book, priced: BigInt(((id * 29) % 260) + odd) }
      default:
        return { do: 'void', id, book, ending: draw.isLost ? 'process_lost' : 'refused' }
    }
  })
  const all = plan.rare === null ? ops : [plan.rare]
  return { ...plan, ops: plan.isBatch ? all : all.slice(0, 1) }
}

/** Ids are the same in every process: the number is in the last digits. */
function holdId(i: number): HoldId {
  const day = Math.floor(Date.now() / 86_400_000) * 86_400_000
  const time = day.toString(16).padStart(12, '0')
  const tail = i.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${tail}` as HoldId
}

export async function runTask(task: WorkerTask): Promise<Trace[]> {
  const plans = fc.sample(planOf(task.books.length), {
    seed: task.seed,
    numRuns: task.steps * task.connections,
  })
  const traces: Trace[] = []
  await Promise.all(
    Array.from({ length: task.connections }, async (_, c) => {
      const client = new pg.Client({
        connectionString: task.url,
        options: '-c plan_cache_mode=force_generic_plan -c timezone=UTC -c deadlock_timeout=200ms',
      })
      client.on('notice', () => undefined)
      await client.connect()
      client.setTypeParser(20, BigInt)
      for (let s = 0; s < task.steps; s++) {
        const plan = plans[c * task.steps + s] as Plan
        const step = stepOf(plan, s, task.books.length)
        traces.push(...(await takeStep(client, step, task)))
      }
      await client.end()
    }),
  )
  return traces
}

async function takeStep(client: pg.Client, step: Step, task: WorkerTask): Promise<Trace[]> {
  const first = step.ops[0] as ModelOp
  await client.query('begin')
  try {
    const results = await call(client, step, first, task)
    const { rows } = await client.query(`select nextval('model_order') as place`)
    await client.query('commit')
    return results
      .map(({ result, fence }, at) => ({
        place: Number(rows[0].place),
        at,
        op: step.ops[at] as ModelOp,
        fence,
        result,
      }))
      .filter((one) => one.result !== 'busy')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

type Result = { result: string; fence: bigint }

async function call(
  client: pg.Client,
  step: Step,
  op: ModelOp,
  task: WorkerTask,
): Promise<Result[]> {
  switch (op.do) {
    case 'hold': {
      const inputs = await holdAsks(client, step, task)
      const results = await send(client, step, hold_, inputs)
      return results.map((result, i) => ({
        fence: (inputs[i] as HoldInput).fence,
        result: result.outcome === 'granted' ? `granted ${result.granted}` : result.outcome,
      }))
    }
    case 'settle': {
      const inputs = step.ops.map((one) => settleInput(one as ModelOp & { do: 'settle' }, task))
      const results = await send(client, step, settleVerb, inputs)
      return results.map((result) => ({
        fence: 0n,
        result: result.outcome === 'settled' ? `settled ${result.amount}` : result.outcome,
      }))
    }
    case 'void': {
      const inputs = step.ops.map((one) => voidInput(one as ModelOp & { do: 'void' }, task))
      const results = await send(client, step, void_, inputs)
      return results.map((result) => ({ fence: 0n, result: result.outcome }))
    }
    default:
      return [{ fence: 0n, result: await callRare(client, op, task) }]
  }
}

async function send<Input, Result>(
  client: pg.Client,
  step: Step,
  verb: Verb<Input, Result>,
  inputs: Input[],
): Promise<Result[]> {
  const statement = step.isBatch
    ? verb.arrayStatement(inputs, step.isWaiting)
    : verb.statement(inputs[0] as Input)
  const answered = Promise.withResolvers<Row>()
  sendStatement(client, statement, (error, row) => {
    if (error === undefined) answered.resolve(row)
    else answered.reject(error)
  })
  const row = await answered.promise
  return step.isBatch ? verb.readResults(row, inputs) : [verb.readResult(row)]
}

const bookIdOf = (task: WorkerTask, i: number) => BigInt(task.books[i] ?? 0) as BookId

// Reads the fences before the lock, like a gateway's cache: a fence may be stale, and then the
// database must refuse it. The trace contains the fence that was sent.
async function holdAsks(client: pg.Client, step: Step, task: WorkerTask): Promise<HoldInput[]> {
  const { rows } = await client.query('select id, fence from books')
  const fences = new Map(rows.map((row) => [row.id as bigint, row.fence as bigint]))
  return step.ops.map((one) => {
    const op = one as ModelOp & { do: 'hold' }
    const book = bookIdOf(task, op.book)
    const fence = (fences.get(book) ?? 0n) - BigInt(op.fenceBack)
    return {
      id: holdId(op.id),
      book,
      tariff: task.tariff,
      fence,
      worst: op.worst as Credits,
      floor: op.floor as Credits,
    }
  })
}

function settleInput(op: ModelOp & { do: 'settle' }, task: WorkerTask): SettleInput {
  return {
    id: holdId(op.id),
    book: bookIdOf(task, op.book),
    // The tariff of the test prices one output token at one microcredit.
    counts: { ...noTokens, output: op.priced as Tokens },
    priced: op.priced as Credits,
    ending: 'complete',
    isEstimated: false,
    messageId: null,
  }
}

function voidInput(op: ModelOp & { do: 'void' }, task: WorkerTask): VoidInput {
  const book = bookIdOf(task, op.book)
  return { id: holdId(op.id), book, tariff: task.tariff, ending: op.ending, reason: 'test' }
}

async function callRare(client: pg.Client, op: ModelOp, task: WorkerTask): Promise<string> {
  const run = async (text: string, values: unknown[]) =>
    String(Object.values((await client.query(text, values)).rows[0] ?? { none: '' })[0])
  switch (op.do) {
    case 'credit':
      return run(`select outcome from ledger_credit($1, 'purchase', $2, $3, 'clearing', '')`, [
        bookIdOf(task, op.book),
        `c${op.ref}`,
        op.amount,
      ])
    case 'adjust':
      return run(`select outcome from ledger_adjust_down($1, $2, $3, 'loss', '')`, [
        bookIdOf(task, op.book),
        `a${op.ref}`,
        op.amount,
      ])
    case 'force':
      return run(`select outcome from ledger_forced_debit($1, null, $2, $3, 'clearing', '')`, [
        bookIdOf(task, op.book),
        `f${op.ref}`,
        op.amount,
      ])
    case 'fence':
      return run('select ledger_fence_raise($1)', [bookIdOf(task, op.book)])
    case 'limit':
      return run('update books set day_limit = $2 where id = $1', [
        bookIdOf(task, op.book),
        op.dayLimit,
      ])
    default:
      // Midnight falls between transactions: the table lock waits for all running ones.
      await client.query('lock table books in exclusive mode')
      // As a worker's job does each day: the days end after the sixtieth.
      await client.query(
        `select ledger_entries_day_make((ledger_now() at time zone 'UTC')::date + 61)`,
      )
      return run(`update model_clock set shift = shift + interval '1 day'`, [])
  }
}

if (process.send !== undefined && import.meta.main) {
  process.once('message', (task: WorkerTask) => {
    // Report an error's message: a constraint may have refused a bug.
    void runTask(task)
      .catch((error: Error) => error.message)
      .then((traces) => {
        const text = JSON.stringify(traces, (_, value) =>
          typeof value === 'bigint' ? `${value}n` : value,
        )
        process.send?.(text, () => process.exit(0))
      })
  })
}
