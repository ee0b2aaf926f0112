// What all requests of a day used, by model, price list and ending: the counts that the vendor's
// bill is compared with. Charges have them; so have voids of replies that failed, because the
// vendor may bill those too.
import { createLongReads, type LongReadOptions } from '../upkeep/standby.ts'
import { type DayCounts, dayCountsFind } from './day-counts-queries.ts'

/** Reads every entry of a day: 10 million take about a minute, on the standby if there is one. */
export function createDayCounts(options: LongReadOptions) {
  const longReads = createLongReads(options)
  return async (day: string): Promise<DayCounts> => {
    const { read } = await longReads()
    return read((reader) => reader.snapshot((tx) => dayCountsFind(tx, day)))
  }
}
