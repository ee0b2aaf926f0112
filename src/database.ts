// The database of a program: its sessions, its cell and its role are checked before the modules
// start, and audits get connections of their own. Migrations number a new database.
import { claimCell, ledgerSession, requireCell } from './ledger/ledger.ts'
import type { Config } from './platform/config.ts'
import { addressesOf, checkSessions } from './platform/db/addresses.ts'
import { openClient, openDatabase } from './platform/db/db.ts'
import { openLongReads } from './platform/db/long-reads.ts'
import { requireOrdinaryRole } from './platform/db/own-role.ts'
import type { Log } from './platform/log.ts'

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

/**
 * A program's pool and, if it has one, the keeper's connection, with which the worker makes and
 * detaches partitions. They end together.
 */
export function openProgramDatabase({ database }: Config, role: string, log: Log) {
  const { pool, direct } = addressesOf(database)
  const onLost = (error: Error) => log.warn({ err: error }, 'an idle database connection was lost')
  const own = openDatabase(pool, role, onLost)
  const url = database.keeperUrl.reveal()
  if (url === 'none') return { db: own }
  const settings = { ...direct, url, urlName: 'database.keeperUrl', poolSize: 1 }
  const keeper = {
    db: openDatabase(settings, `${role} keeper`, onLost),
    connect: () => openClient(settings, `${role} keeper`, ledgerSession),
  }
  const end = async () => {
    await Promise.all([own.end(), keeper.db.end()])
  }
  return { db: { ...own, end }, keeper }
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
