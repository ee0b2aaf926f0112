// Counts of refused requests, by book, day and reason, for the owner and for operators. A request
// that is refused before its hold leaves no entry; this is its only trace besides the log. Each
// process counts in memory and adds to the table every few seconds, so that a flood of refused
// requests costs one statement. A process that is killed loses the counts of its last seconds.
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { deleteOld } from './delete-old.ts'
import {
  type RefusedCount,
  refusedAdd,
  refusedDeleteOld,
  refusedList,
  refusedListMost,
} from './refused-queries.ts'

/** As long as the longest period that people look back on; also the bound of the table. */
const KEPT_DAYS = 90
/**
 * Pairs of a book and a reason that a process keeps while the database is away: about 2 MB. Further
 * pairs are not counted here; metrics count them.
 */
const PAIRS_MAX = 10_000
/** Rows per statement: about 20 ms of database work. */
const ROWS_MAX = 1_000

type Pair = {
  readonly book: BookId
  readonly reason: string
  requests: number
  lastMs: number
}

export function createRefused({ db, clock, log }: { db: Db; clock: Clock; log: Log }) {
  let pairs = new Map<string, Pair>()
  let flushing: Promise<void> | undefined

  function add(book: BookId, reason: string, requests: number, lastMs: number): void {
    const name = `${book} ${reason}`
    const known = pairs.get(name)
    if (known !== undefined) {
      known.requests += requests
      known.lastMs = Math.max(known.lastMs, lastMs)
    } else if (pairs.size < PAIRS_MAX) pairs.set(name, { book, reason, requests, lastMs })
  }

  async function write(): Promise<void> {
    const taken = [...pairs.values()]
    pairs = new Map()
    for (let at = 0; at < taken.length; at += ROWS_MAX) {
      const nowMs = clock.spanMs()
      const counts = taken.slice(at, at + ROWS_MAX).map(
        ({ book, reason, requests, lastMs }): RefusedCount => ({
          ...{ book, reason, requests },
          ageMs: nowMs - lastMs,
        }),
      )
      try {
        await refusedAdd(db, counts)
      } catch (error) {
        // Kept for the next time. If PostgreSQL did commit them, they are counted twice.
        for (const one of taken.slice(at)) add(one.book, one.reason, one.requests, one.lastMs)
        log.warn({ err: error }, 'counts of refused requests wait')
        return
      }
    }
  }

  /** Writes what was counted so far; never rejects. */
  function flush(): Promise<void> {
    if (pairs.size === 0 && flushing === undefined) return Promise.resolve()
    flushing ??= write().finally(() => {
      flushing = undefined
    })
    return flushing
  }

  return {
    keptDays: KEPT_DAYS,

    /** Counts one refused request. Costs no query. */
    count: (book: BookId, reason: string): void => add(book, reason, 1, clock.spanMs()),

    flush,

    /** The refused requests of a book in a period, by reason, the latest first. */
    list: (p: Parameters<typeof refusedList>[1]) => refusedList(db, p),

    /** The reasons with the most refused requests of the last days, of one book or by books. */
    listMost: (p: Parameters<typeof refusedListMost>[1]) => refusedListMost(db, p),

    /** Removes the days that are no longer kept; returns how many rows. */
    removeOld: (): Promise<number> =>
      deleteOld((limit) => refusedDeleteOld(db, { keptDays: KEPT_DAYS, limit })),
  }
}
