// The database's clock steps back and forth over midnight while requests run: no request fails,
// each is charged once, no book's day goes back, and audit and retention go on.
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import { checkDays, createDaysStage, type DaysStage, runPartitionsJob } from './load.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const AHEAD_DAYS = 20
/** The next round begins after every day that a book was on. */
const ROUND_DAYS = 25

export const drill: Drill = async ({ isFull, seed, say }) => {
  const stage = await createDaysStage(random(seed))
  const rounds = isFull ? 5 : 1
  const sums = { requests: 0, steps: 0, detached: 0 }
  try {
    for (let round = 0; round < rounds; round++) {
      let day = 1 + round * ROUND_DAYS
      for (const stepMs of [-300, -2 * HOUR_MS, AHEAD_DAYS * DAY_MS]) {
        const requests = await stepOverMidnight(stage, day, stepMs, isFull ? 3_000 : 500)
        await checkDays(stage, `after a step of ${stepMs} ms`)
        say(`step of ${stepMs} ms at midnight of day ${day}: ${requests} requests, none failed`)
        sums.requests += requests
        sums.steps += 1
        day += 1
      }
      // The days that the clock showed for a moment pass, too, and the worker retires them.
      await stage.turn((round + 1) * ROUND_DAYS * DAY_MS)
      const { detached, waiting, ms } = await runPartitionsJob(stage.ledger, 1)
      ensure(waiting.length === 0, 'all partitions are made')
      ensure(detached.length >= ROUND_DAYS - 2, `retention catches up (${detached.length} days)`)
      await checkDays(stage, 'after retention')
      say(`${detached.length} days retired in ${ms} ms, the chain is whole`)
      sums.detached += detached.length
    }
    return sums
  } finally {
    await stage.end()
  }
}

/** Requests run over midnight of a day; shortly after it, the clock steps, and later back again. */
async function stepOverMidnight(
  stage: DaysStage,
  day: number,
  stepMs: number,
  forMs: number,
): Promise<number> {
  const midnightMs = Math.ceil(Date.now() / DAY_MS) * DAY_MS + (day - 1) * DAY_MS
  const aheadMs = midnightMs - Date.now() - forMs
  await stage.turn(aheadMs)
  const { load, stop } = stage.startLoad()
  // Until 100 ms after midnight: a step back of 300 ms ends before it.
  await sleep(forMs + 100)
  const before = load.requests
  await stage.turn(aheadMs + stepMs)
  await sleep(forMs)
  // The clock is set right again, and with it the long step goes back, too.
  await stage.turn(aheadMs)
  await sleep(forMs)
  await stop()
  ensure(before > 0 && load.requests > before, 'requests ran before and after the step')
  return load.requests
}
