// A process that holds and settles through the real ledger at the pace of its task. It writes each
// acknowledgement to standard output synchronously, so that lines written before a SIGKILL are
// complete.
import { writeSync } from 'node:fs'
import { systemClock } from '../../../src/platform/clock.ts'
import type { BookId } from '../../../src/platform/ids.ts'
import { newHoldId } from '../../../src/platform/ids.ts'
import { isRefusal } from '../../../src/platform/refusal.ts'
import { credits } from '../../../src/units/credits.ts'
import type { Tokens } from '../../../src/units/tokens.ts'
import { noTokens } from '../../../src/units/tokens.ts'
import { random, sleep } from '../../support/drill.ts'
import { createTestLedger } from '../../support/harness.ts'

export type WriterTask = {
  readonly url: string
  readonly spoolDirectory: string
  readonly books: readonly string[]
  readonly tariff: number
  readonly seed: number
  /** Requests at a time. */
  readonly loops: number
  /** This many loops use only the first book; the others never use it. */
  readonly pinnedLoops: number
  /** The longest time between hold and settle. */
  readonly servedMsMax: number
  /** The pause after each request, so that the ledger is not saturated. */
  readonly pauseMs: number
  readonly holdWaitMs: number
  readonly spoolAfterMs: number
}

// Lines: `held <id> <ms>`, `settled <id> <amount> <ms>`, `spooled <id> <amount> <ms>`,
// `refused <code> <ms>`. A settle's amount is what was requested; the grant covers it.
async function main(task: WriterTask): Promise<void> {
  const ledger = await createTestLedger(task.url, {
    spoolDirectory: task.spoolDirectory,
    holdWaitMs: task.holdWaitMs,
    spoolAfterMs: task.spoolAfterMs,
  })
  const draw = random(task.seed)
  const state = { isEnding: false }
  process.once('SIGTERM', () => {
    state.isEnding = true
  })
  say('ready')
  await Promise.all(
    Array.from({ length: task.loops }, async (_, i) => {
      const [from, count] = rangeOf(task, i)
      while (!state.isEnding) {
        const book = BigInt(task.books[from + Math.floor(draw() * count)] ?? 0) as BookId
        await oneRequest(ledger, task, book, draw)
        if (task.pauseMs > 0) await sleep(task.pauseMs * 2 * draw())
      }
    }),
  )
  await ledger.end()
  say('ended')
}

/** The books of a loop: where they start and how many they are. */
function rangeOf(task: WriterTask, loop: number): [number, number] {
  if (task.pinnedLoops === 0) return [0, task.books.length]
  return loop < task.pinnedLoops ? [0, 1] : [1, task.books.length - 1]
}

async function oneRequest(
  ledger: Awaited<ReturnType<typeof createTestLedger>>,
  task: WriterTask,
  book: BookId,
  draw: () => number,
): Promise<void> {
  const id = newHoldId(0, systemClock.nowMs())
  const startedMs = systemClock.spanMs()
  const took = () => (systemClock.spanMs() - startedMs).toFixed(2)
  try {
    await ledger.hold({
      id,
      book,
      tariff: task.tariff,
      fence: 0n,
      worst: credits(1000),
      floor: credits(1000),
    })
  } catch (error) {
    if (!isRefusal(error)) throw error
    say(`refused ${error.code} ${took()}`)
    return
  }
  say(`held ${id} ${took()} ${book}`)
  if (task.servedMsMax > 0) await sleep(draw() * task.servedMsMax)
  const output = BigInt(1 + Math.floor(draw() * 900)) as Tokens
  const servedMs = systemClock.spanMs()
  const settled = await ledger.settle({
    id,
    book,
    counts: { ...noTokens, output },
    priced: credits(output),
    ending: 'complete',
    isEstimated: false,
    messageId: 'msg_test',
  })
  const ms = (systemClock.spanMs() - servedMs).toFixed(2)
  say(`${settled.isSpooled ? 'spooled' : 'settled'} ${id} ${credits(output)} ${ms} ${book}`)
}

function say(line: string): void {
  writeSync(1, `${line}\n`)
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? '{}') as WriterTask)
