// The loops of a worker: jobs by cron come by the minute, and a payer looks at the page for
// seconds. Each loop runs one round at a time and its failures end with the round. While the
// database is away every round fails alike, which each loop says once.
import { isDatabaseUnavailable } from '../db/database-errors.ts'
import type { Log } from '../log.ts'

export type Round = {
  readonly name: string
  readonly everyMs: number
  run(): Promise<unknown>
}

export function createRounds(rounds: readonly Round[], log: Log) {
  const timers: NodeJS.Timeout[] = []
  const underWay = new Map<string, Promise<void>>()
  const waiting = new Set<string>()

  function failed(round: Round, error: unknown): void {
    const isAway = isDatabaseUnavailable(error)
    if (isAway && waiting.has(round.name)) return
    if (isAway) waiting.add(round.name)
    log.warn({ round: round.name, err: error }, 'a round failed')
  }

  function start(round: Round): void {
    if (underWay.has(round.name)) return // the last round is not over; the next one will do
    const work = round
      .run()
      .then(
        () => void waiting.delete(round.name),
        (error: unknown) => failed(round, error),
      )
      .then(() => void underWay.delete(round.name))
    underWay.set(round.name, work)
  }

  return {
    start(): void {
      for (const round of rounds) timers.push(setInterval(() => start(round), round.everyMs))
    },
    /** No new rounds; resolves when those under way are over. */
    async stop(): Promise<void> {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await Promise.all(underWay.values())
    },
  }
}
