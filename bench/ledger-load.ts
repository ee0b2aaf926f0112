// One process of load on the ledger: as many request loops as told, each hold then settle, for some
// seconds; prints how many pairs were acknowledged and the CPU this process used for them.
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
  /** Of how many pairs one costs more than its hold; 0 for none. */
  readonly dearOneIn: number
}

export type LoadResult = { pairs: number; seconds: number; cpuUs: number }

async function run(task: LoadTask): Promise<LoadResult> {
  const ledger = await createTestLedger(task.url)
  const first = BigInt(task.firstBook)
  const counts = { ...noTokens, input: 100n as Tokens, output: 200n as Tokens }
  const [worst, floor, ordinary, dear] = [credits(2000), credits(100), credits(1100), credits(2100)]
  const state = { pairs: 0, isEnding: false }
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
