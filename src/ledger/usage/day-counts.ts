// What all requests of a day used, by model, price list and ending: the counts that the vendor's
// bill is compared with. Charges have them; so have voids of replies that failed, because the
// vendor may bill those too.
import type { Tx } from '../../platform/db/db.ts'
import { createLongReads, type LongReadOptions } from '../upkeep/standby.ts'
import { type DayCounts, dayCountsFind, periodCountsFind } from './day-counts-queries.ts'

/** Read every entry of the time: 10 million take about a minute, on the standby if there is one. */
export function createDayCounts(options: LongReadOptions) {
  const longReads = createLongReads(options)
  return {
    /** In the caller's snapshot, if there is one. */
    async dayCounts(day: string, tx?: Tx): Promise<DayCounts> {
      if (tx !== undefined) return dayCountsFind(tx, day)
      const { read } = await longReads()
      return read((reader) => reader.snapshot((tx) => dayCountsFind(tx, day)))
    },
    /** Of all requests whose entry is in a period; `to` is exclusive. */
    async periodCounts(period: { readonly from: Date; readonly to: Date }): Promise<DayCounts> {
      const { read } = await longReads()
      return read((reader) => reader.snapshot((tx) => periodCountsFind(tx, period)))
    },
  }
}
