// Refused settles are sent again: when a process claims the files of a dead one, so also at every
// start, and every ten minutes. A settle is repeatable by its id, so none is charged twice. The
// file of a settle that commits is removed; the others wait for a repair or for an operator.
import { Fault } from '../../platform/assert.ts'
import type { Clock } from '../../platform/clock.ts'
import { dateAt } from '../../platform/clock.ts'
import type { BookId, HoldId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Credits } from '../../units/credits.ts'
import type { Batcher } from '../batch/batch.ts'
import type { PaidEnding } from '../calls.ts'
import { settleVerb } from '../calls.ts'
import type { RefusedFile, RefusedFiles } from './refused.ts'
import { askOf } from './settle-text.ts'

/** At most this long after its repair the database has charged what it refused, with no help. */
const RETRY_MS = 600_000
/**
 * Refused settles sent again at once. One that is refused again makes the batcher send its whole
 * array one by one, other customers' settles too: 32 calls of 0.6 ms.
 */
const RETRIES_AT_ONCE = 32
/** One whose book is locked or damaged keeps the others waiting this long, and no longer. */
const RETRY_WAIT_MS = 5_000

/** A settle that the database refused, for an operator. */
export type RefusedSettle = {
  readonly hold: HoldId
  /** Undefined when the bytes of its file are damaged. */
  readonly known:
    | {
        readonly book: BookId
        readonly priced: Credits
        readonly ending: PaidEnding
        readonly reason: string
        readonly at: Date
        /** All of it, as one line. */
        readonly text: string
      }
    | undefined
}

/** Of one spool directory and all its processes; `unseen` says why nothing is known of it. */
export type RefusedList =
  | { readonly directory: string; readonly settles: readonly RefusedSettle[] }
  | { readonly directory: string; readonly unseen: string }

export function createRefusedRetry(options: {
  readonly batcher: Batcher
  readonly files: RefusedFiles
  readonly clock: Clock
  readonly log: Log
  readonly spoolDirectory: string
}) {
  const { batcher, files, clock, log } = options
  const underWay = new Set<string>()
  const state = { lastMs: clock.spanMs() }

  /** Sends refused settles again, some at a time. Those still under way are left out. */
  async function retry(keys: readonly string[]): Promise<void> {
    const errors: unknown[] = []
    const due = keys.filter((key) => !underWay.has(key))
    for (const key of due) underWay.add(key)
    for (let i = 0; i < due.length; i += RETRIES_AT_ONCE) {
      const some = due.slice(i, i + RETRIES_AT_ONCE).map(async (key) => {
        await retryOne(key).catch((error: unknown) => errors.push(error))
        underWay.delete(key)
      })
      await atMost(RETRY_WAIT_MS, Promise.all(some))
    }
    if (errors.length === 0) return
    log.error({ err: errors[0], settles: errors.length }, 'settles were refused again')
  }

  async function retryOne(key: string): Promise<void> {
    const record = await files.read(key)
    if (record === undefined) return
    const reply = await batcher.submit(settleVerb, askOf(record.settle)).reply
    if (reply.outcome !== 'settled') throw new Fault(`answered ${reply.outcome}`)
    await files.done(key)
    log.info({ settle: record.settle }, 'a refused settle was charged')
  }

  return {
    /** Sends all of this process again, once in ten minutes; call it often. */
    tick(): void {
      if (clock.spanMs() - state.lastMs < RETRY_MS) return
      state.lastMs = clock.spanMs()
      void retry(files.keys())
    },

    /** Claims what processes that are gone have left behind, and sends it at once. */
    async adopt(): Promise<void> {
      const claimed = await files.adopt()
      if (claimed.length > 0) log.info({ settles: claimed.length }, 'retrying refused settles')
      void retry(claimed)
    },

    async list(): Promise<RefusedList> {
      const directory = options.spoolDirectory
      const listed = await files.list()
      if ('unseen' in listed) return { directory, unseen: listed.unseen }
      return { directory, settles: listed.files.map(refusedSettle) }
    },
  }
}

/** Resolves with the work, or after this long without it. */
async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, ms).unref()
  await Promise.race([work, over.promise])
  clearTimeout(timer)
}

function refusedSettle({ hold, record }: RefusedFile): RefusedSettle {
  if (record === undefined) return { hold, known: undefined }
  const { book, priced, ending } = askOf(record.settle)
  const { reason, atMs, settle: text } = record
  return { hold, known: { book, priced, ending, reason, at: dateAt(atMs), text } }
}
