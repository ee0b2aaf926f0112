// The database of a program: its sessions, its cell and its role are checked before the modules
// start, and audits get connections of their own. Migrations number a new database.
import { claimCell, ledgerSession, requireCell } from './ledger/ledger.ts'
import type { Config } from './platform/config.ts'
import { addressesOf, checkSessions } from './platform/db/addresses.ts'
import { openDatabase } from './platform/db/db.ts'
import { openLongReads } from './platform/db/long-reads.ts'
import { requireOrdinaryRole } from './platform/db/own-role.ts'

/**
 * Throws UnfitDatabase if the sessions, the cell or the role are not as configured. Every command
 * calls it before it starts its modules.
 */
export function checkDatabase({ database, cell }: Config): Promise<void> {
  return checkSessions(addressesOf(database), ledgerSession, async (executor) => {
    if (database.roles === 'separate') await requireOrdinaryRole(executor)
    await requireCell(executor, cell)
  })
}

/** Before a migration: the database may have no tables yet. Throws UnfitDatabase. */
export function checkDatabaseSessions({ database }: Config): Promise<void> {
  return checkSessions(addressesOf(database), ledgerSession, async () => undefined)
}

/** After the migrations: gives a database without books the configured number. */
export async function claimDatabase({ database, cell }: Config): Promise<boolean> {
  const { direct } = addressesOf(database)
  const db = openDatabase({ ...direct, poolSize: 1 }, 'migrate', () => undefined)
  return claimCell(db, cell).finally(() => db.end())
}

/** Audits read from a standby if there is one. */
export function longReadsOf({ database }: Config, role: string) {
  const { direct } = addressesOf(database)
  const standbyUrl = database.standbyUrl.reveal()
  const standby = standbyUrl === 'none' ? undefined : { ...direct, url: standbyUrl }
  return {
    longReads: openLongReads(direct, `${role} reads`),
    standbyReads: standby && openLongReads(standby, `${role} reads`),
  }
}
