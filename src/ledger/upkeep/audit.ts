// The audit: does the ledger say the same thing everywhere? 'new' reads what was written since the
// last look and runs every minute; 'all' reads everything and runs at night and before anything
// irreversible. The rules themselves are SQL (../sql/audit.sql), so that an operator can run them
// by hand.
import type { Db } from '../../platform/db/db.ts'
import type { Finding } from './upkeep.ts'
import { auditMark, findingList } from './upkeep.ts'

/** Findings, empty when all is well. Reads one snapshot; a book that moves meanwhile is fine. */
export function audit(db: Db, scope: 'new' | 'all'): Promise<Finding[]> {
  return db.snapshot(async (tx) => {
    const findings = await findingList(tx, scope)
    // Marks move only past a clean chain: a finding is reported until someone has dealt with it.
    if (scope === 'new' && findings.length === 0) await auditMark(tx)
    return findings
  })
}
