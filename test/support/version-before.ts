// A database as the version before a migration left it, and a customer whom that version serves: by
// the functions of the database, because the ledger of this version needs the new schema.
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Db } from '../../src/platform/db/db.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { dayOfHold, type HoldId, newHoldId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import { createTestDatabase, serverUrl, settingsOf } from './harness.ts'

const migrations = join(import.meta.dirname, '../../migrations')

/** Applies the migrations before `firstNew`, such as `0024`. */
export async function createDatabaseBefore(firstNew: string) {
  const database = await createTestDatabase(serverUrl, 'template0')
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-migrations-'))
  for (const name of await readdir(migrations)) {
    if (/^\d{4}-/.test(name) && name < firstNew) {
      await cp(join(migrations, name), join(folder, name))
    }
  }
  await migrate(settingsOf(database.url), { directory: folder })
  await rm(folder, { recursive: true, force: true })
  return database
}

/** A book with 1,000 credits, and requests in whole credits. */
export async function createOldCustomer(db: Db) {
  const one = async (text: string, values: unknown[] = []) =>
    (await db.query(text, values)).rows[0] as Record<string, unknown>
  const { book } = await one('select ledger_open() as book')
  const tariff = await one(
    `insert into tariffs
       (catalogue_version, model, coefficient, cache_read, cache_write_5m, cache_write_1h)
     values (1, 'model', 1000000, 1000000, 1000000, 1000000) returning id`,
  )
  const credit = (kind: 'purchase' | 'promo', ref: string, amount: number) =>
    one(`select ledger_credit($1, $2::entry_kind, $3, $4, 'clearing', '')`, [
      ...[book, kind, ref, credits(amount)],
    ])
  await credit('purchase', `first ${book}`, 1_000)

  /** Holds so many credits at most, and settles so many. */
  async function request(worst: number, priced: number): Promise<HoldId> {
    const id = newHoldId(0, Date.now())
    const day = dayOfHold(id)
    await one('select ledger_hold(true, 1, 3900, $1, $2, $3, $4, 0, $5, 1)', [
      ...[day, id, book, tariff.id, credits(worst)],
    ])
    const { outcome } = await one(
      `select outcome
       from ledger_settle(true, $1, $2, $3, $4, 1, 0, 0, 0, $5, 'complete', false, null)`,
      [day, id, book, priced - 1, credits(priced)],
    )
    if (outcome !== 'settled') throw new Error(`the settle answered ${outcome}`)
    return id
  }

  return { book, credit, request }
}
