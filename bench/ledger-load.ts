// One load process of the ledger benchmark: runs the request loops of its task, each hold then
// settle, for some seconds; prints the number of acknowledged pairs and the CPU time it used.
import type { BookId } from '../src/platform/ids.ts'
import { newHoldId } from '../src/platform/ids.ts'
import { credits } from '../src/units/credits.ts'
import type { Tokens } from '../src/units/tokens.ts'
import { noTokens } from '../src/units/tokens.ts'
import { createTestLedger } from '../test/support/harness.ts'

export type LoadTask = {
  readonly url: string
  readonly firstBook: string
  readonly books: number
  readonly tariff: number
  readonly loops: number
  readonly seconds: number
  /** One in this many pairs costs more than its hold; 0: none. */
  readonly dearOneIn: number
  /** Settles name their price list and carry the details of a reply. */
  readonly isDetailed: boolean
}

export type LoadResult = { pairs: number; seconds: number; cpuUs: number }

async function run(task: LoadTask): Promise<LoadResult> {
  const ledger = await createTestLedger(task.url)
  const first = BigInt(task.firstBook)
  const counts = { ...noTokens, input: 100n as Tokens, output: 200n as Tokens }
  const [worst, floor, ordinary, dear] = [credits(2000), credits(100), credits(1100), credits(2100)]
  const state = { pairs: 0, isEnding: false }
  // What the gateway knows of an ordinary reply.
  const details = {
    ...{ firstByteMs: 412, totalMs: 5_930, waitedMs: 3, bytesIn: 4_096, bytesOut: 12_288 },
    ...{ status: 200, retries: 0, isStream: true, stopReason: 'end_turn', target: 'east' },
    ...{ vendorRequestId: 'req_011CSHoEeqs5C35K2UUqR7Fy', serviceTier: 'standard' },
  }
  const pair = async () => {
    const id = newHoldId(0, Date.now())
    const book = (first + BigInt(Math.floor(Math.random() * task.books))) as BookId
    const priced = task.dearOneIn > 0 && state.pairs % task.dearOneIn === 0 ? dear : ordinary
    await ledger.hold({ id, book, tariff: task.tariff, fence: 0n, worst, floor })
    await ledger.settle({
      id,
      book,
      counts,
      priced,
      ending: 'complete',
      isEstimated: false,
      messageId: 'msg_0123456789abcdef',
      ...(task.isDetailed ? { tariff: task.tariff, details } : {}),
    })
    state.pairs += 1
  }
  const loops = Array.from({ length: task.loops }, async () => {
    while (!state.isEnding) await pair()
  })
  await new Promise((resolve) => setTimeout(resolve, 1_000)) // plans and code warm up
  const from = { pairs: state.pairs, ms: performance.now(), cpu: process.cpuUsage() }
  await new Promise((resolve) => setTimeout(resolve, task.seconds * 1_000))
  const cpu = process.cpuUsage(from.cpu)
  const result = {
    pairs: state.pairs - from.pairs,
    seconds: (performance.now() - from.ms) / 1_000,
    cpuUs: cpu.user + cpu.system,
  }
  state.isEnding = true
  await Promise.all(loops)
  await ledger.end()
  return result
}

if (import.meta.main) {
  console.log(JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}') as LoadTask)))
}
