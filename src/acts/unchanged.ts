// Entries, postings and price lists never change, so PostgreSQL's own counts of their updated and
// deleted rows never rise. They show a person with the owner's password who switched a trigger off,
// changed a row and switched it on again in one transaction, which no look at the triggers shows.
import type { TableCounts } from './queries.ts'
import type { ActFinding } from './verify.ts'

/** Acts are not among them: their chain shows what was changed. */
export const UNCHANGING = [
  ...(['entries', 'postings', 'tariffs', 'catalogue_versions', 'month_seals'] as const),
]

/**
 * What happened between two looks. Counts that became lower were reset: PostgreSQL does that after
 * a crash, and then we compare with what it counts from there on.
 */
export function changedTables(
  before: readonly TableCounts[],
  now: readonly TableCounts[],
): ActFinding[] {
  const known = new Map(before.map((counts) => [counts.table, counts]))
  return now.flatMap(({ table, oid, file, changed }): ActFinding[] => {
    const was = known.get(table)
    if (was === undefined || table === 'operator_acts') return []
    if (was.oid !== oid) {
      return [{ rule: 'table_replaced', subject: table, detail: 'another table has its name' }]
    }
    if (was.file !== file) {
      const detail = 'its rows are in another file: they were rewritten, or removed'
      return [{ rule: 'table_rewritten', subject: table, detail }]
    }
    const rows = changed - was.changed
    if (rows <= 0n) return []
    const detail = `PostgreSQL counted ${rows} updated or deleted rows, which nothing does`
    return [{ rule: 'rows_changed', subject: table, detail }]
  })
}
