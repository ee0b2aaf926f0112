// Test databases, cloned from a migrated template, and real modules built on them. The first test
// creates the template of a set of migrations and a day; a clone takes about 50 ms.
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createKeys, type KeysOptions } from '../../src/keys/keys.ts'
import type { Ledger, LedgerOptions } from '../../src/ledger/ledger.ts'
import { createLedger, ledgerSession } from '../../src/ledger/ledger.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Db } from '../../src/platform/db/db.ts'
import { openClient, openDatabase } from '../../src/platform/db/db.ts'
import { openLongReads } from '../../src/platform/db/long-reads.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { newInstanceId } from '../../src/platform/ids.ts'
import type { Log } from '../../src/platform/log.ts'
import { createLog } from '../../src/platform/log.ts'
import { Masked } from '../../src/platform/masked.ts'
import { urlAs } from '../../tools/program-roles.ts'

export const serverUrl =
  process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'

export const quiet: Log = createLog({ level: 'fatal' })

export function settingsOf(url: string) {
  return {
    url,
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 60_000,
    lockTimeoutMs: 250,
    poolSize: 8,
  }
}

function urlOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

/** Connects as the owner outside any test database, or to the address given, and disconnects. */
export async function onServer<T>(
  work: (client: pg.Client) => Promise<T>,
  server: string = serverUrl,
): Promise<T> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function digestOfMigrations(): Promise<string> {
  const directory = join(import.meta.dirname, '../../migrations')
  const hash = createHash('sha256')
  for (const name of (await readdir(directory)).sort()) {
    if (name.endsWith('.sql')) hash.update(await readFile(join(directory, name)))
  }
  // The day is part of the name: migrations create partitions from the current day on.
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  return `${day}_${hash.digest('hex').slice(0, 12)}`
}

async function ensureTemplate(server: string): Promise<string> {
  const name = `tollgate_template_${await digestOfMigrations()}`
  await onServer(async (client) => {
    // Test files run in several processes; one makes the template, the others wait for it.
    await client.query(`select pg_advisory_lock(hashtext($1))`, [name])
    const { rows } = await client.query('select from pg_database where datname = $1', [name])
    if (rows.length === 0) {
      const half = `${name}_half`
      await client.query(`drop database if exists ${half}`)
      await client.query(`create database ${half}`)
      await migrate(settingsOf(urlOf(server, half)))
      await client.query(`alter database ${half} rename to ${name}`)
      await dropOld(client, name)
    }
    await ensureStageRole(client)
  }, server)
  return name
}

/**
 * The database role of modules that play several programs in one process: it may do what they may,
 * and nothing that only the owner may, who prepares the database and looks at it.
 */
const STAGE_ROLE = 'tollgate_stage'

async function ensureStageRole(client: pg.Client): Promise<void> {
  const { rows } = await client.query('select from pg_roles where rolname = $1', [STAGE_ROLE])
  if (rows.length > 0) return
  const programs = 'tollgate_gateway, tollgate_cabinet, tollgate_worker, tollgate_operator'
  await client.query(`create role ${STAGE_ROLE} login in role ${programs}`)
}

/** Drops the templates of earlier days, except those in use. */
async function dropOld(client: pg.Client, name: string): Promise<void> {
  const { rows } = await client.query(
    `select datname from pg_database
     where datname ~ '^tollgate_template_' and left(datname, 26) < left($1, 26)`,
    [name],
  )
  for (const { datname } of rows) {
    await client.query(`drop database if exists ${datname}`).catch(() => undefined)
  }
}

export type TestDatabase = {
  /** The owner's. */
  readonly url: string
  /** For modules that play several programs in one process. */
  readonly stageUrl: string
  readonly name: string
  readonly db: Db
  drop(): Promise<void>
}

/** A migrated database of the test's own; with `base`, a copy of that database. */
export async function createTestDatabase(
  server: string = serverUrl,
  base?: string,
): Promise<TestDatabase> {
  const template = base ?? (await ensureTemplate(server))
  const name = `tollgate_test_${process.pid}_${newInstanceId().toString(36)}`
  await onServer((client) => client.query(`create database ${name} template ${template}`), server)
  const url = urlOf(server, name)
  const db = openDatabase(settingsOf(url), 'test', () => undefined)
  return {
    url,
    stageUrl: urlAs(url, STAGE_ROLE),
    name,
    db,
    async drop() {
      await db.end()
      await onServer((client) => client.query(`drop database if exists ${name} (force)`), server)
    },
  }
}

/**
 * What cannot be undone needs the database's clock and the process's. The process's is far ahead in
 * tests, so that the database's decides, which they turn.
 */
const farAheadClock = { ...systemClock, nowMs: () => Date.UTC(2200, 0) }

export type TestLedger = Awaited<ReturnType<typeof createTestLedger>>

/** A real ledger on a test database, started, with a spool directory of its own. */
export async function createTestLedger(
  url: string,
  changes: Partial<LedgerOptions> = {},
  { isStarted } = { isStarted: true },
) {
  const spoolDirectory =
    changes.spoolDirectory ?? (await mkdtemp(join(tmpdir(), 'tollgate-spool-')))
  const db = openDatabase(settingsOf(url), 'test ledger', () => undefined)
  const ledger = await createLedger({
    db,
    cell: 0,
    connect: () => openClient(settingsOf(url), 'ledger', ledgerSession),
    longReads: openLongReads(settingsOf(url), 'test reads'),
    instance: newInstanceId(),
    role: 'test',
    clock: farAheadClock,
    log: quiet,
    connections: 2,
    lanes: 4,
    deadlineMs: 5_000,
    holdSeconds: 3_900,
    holdWaitMs: 30_000,
    spoolAfterMs: 10_000,
    chargeLogDays: 6,
    exportDirectory: 'none',
    sessionsKeptDays: 90,
    ...changes,
    spoolDirectory,
  })
  if (isStarted) await ledger.start()
  return {
    ...ledger,
    db,
    spoolDirectory,
    async end() {
      await ledger.stop(5_000)
      await db.end()
      if (changes.spoolDirectory === undefined) {
        await rm(spoolDirectory, { recursive: true, force: true })
      }
    },
  }
}

/** Every test process has the same secrets, as the processes of one deployment do. */
export const keySettings = {
  slug: 'vendor',
  cell: 0,
  tagSecret: new Masked('tag secret of the tests, 32 bytes or more'),
  lookupSecret: new Masked('lookup secret of the tests, 32 bytes or more'),
  verifiedMax: 100_000,
  wrongMax: 100_000,
  verifyQueue: 64,
  wrongPerMinute: 20,
}

export function createTestKeys(
  db: Db,
  ledger: Pick<Ledger, 'raiseFence'>,
  changes: Partial<KeysOptions> = {},
) {
  return createKeys({ db, ledger, clock: systemClock, log: quiet, ...keySettings, ...changes })
}

/** Shifts the database's clock: every ledger function calls ledger_now(). */
export async function turnClock(db: Db, interval: string): Promise<void> {
  await db.query(
    `create or replace function ledger_now() returns timestamptz language sql volatile
     as $$ select clock_timestamp() + interval '${interval}' $$`,
  )
}
