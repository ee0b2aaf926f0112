// Voids many holds without waiting long for a few: while a book is locked, its voids wait in the
// batcher, and the sweeper must go on watching heartbeats. A void that still waits is not sent a
// second time.
import type { HoldId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { FreeEnding } from '../../units/endings.ts'
import type { VoidInput } from '../calls.ts'
import type { OpenHold } from './upkeep.ts'

/** A sweeper waits twice in a tick, and after a pause of 15 s it would start over. */
const WAIT_MS = 3_000

export function createVoids(options: {
  readonly voidHold: (input: VoidInput) => Promise<unknown>
  readonly log: Log
}) {
  const waiting = new Set<HoldId>()

  async function send(hold: OpenHold, ending: FreeEnding, reason: string): Promise<boolean> {
    if (waiting.has(hold.id)) return false
    waiting.add(hold.id)
    const { id, book, tariff } = hold
    try {
      await options.voidHold({ id, book, tariff, ending, reason })
      return true
    } catch (error) {
      options.log.error({ err: error, hold: id, book: String(book) }, 'a hold was not voided')
      return false
    } finally {
      waiting.delete(id)
    }
  }

  /** Voids these holds; returns those that are closed by now. */
  return async function voidAll<Hold extends OpenHold>(
    holds: readonly Hold[],
    ending: FreeEnding,
    reason: string,
  ): Promise<Hold[]> {
    const closed: Hold[] = []
    const sent = holds.map(async (hold) => {
      if (await send(hold, ending, reason)) closed.push(hold)
    })
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, WAIT_MS)
    await Promise.race([Promise.all(sent), limit.promise])
    clearTimeout(timer)
    return [...closed]
  }
}
