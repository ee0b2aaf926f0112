// Chooses the connection of a long read: the standby if there is one and it is not behind, else the
// primary.
import { dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { LongReads } from '../../platform/db/long-reads.ts'
import type { Log } from '../../platform/log.ts'
import { reasonOf } from '../printable.ts'
import { beatFindNewest } from './audit-queries.ts'

/** A standby further behind has probably stopped, and would hide what is wrong since. */
const BEHIND_MAX_MS = 5 * 60_000

export type LongReadOptions = {
  readonly db: Db
  readonly log: Log
  /** On the primary. */
  readonly longReads: LongReads
  /** On a standby, if one is configured. */
  readonly standbyReads?: LongReads | undefined
}

export function createLongReads({ db, log, longReads, standbyReads }: LongReadOptions) {
  /**
   * The standby, unless it cannot be read or is behind by the heartbeats, which are written every
   * few seconds. Then the primary is read: a wrong address must not stop the audits.
   */
  return async (): Promise<{ readonly read: LongReads; readonly isStandby: boolean }> => {
    const primary = { read: longReads, isStandby: false }
    if (standbyReads === undefined) return primary
    const newest = await beatFindNewest(db)
    try {
      const seen = (await standbyReads(beatFindNewest)) ?? dateAt(0)
      if (newest === undefined || newest.getTime() - seen.getTime() <= BEHIND_MAX_MS) {
        return { read: standbyReads, isStandby: true }
      }
      log.error({ newest, seen }, 'the standby is behind: the audit reads from the primary')
    } catch (error) {
      const reason = reasonOf(error)
      log.error({ reason }, 'database.standbyUrl fails: the audit reads from the primary')
    }
    return primary
  }
}
