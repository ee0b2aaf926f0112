// What a session must be before it takes work: its settings are those that our statements rest on,
// and its other end is PostgreSQL itself. One statement at connect shows both, and none is needed
// later. The settings are sent as startup options, which a connection pooler drops or refuses.
import type pg from 'pg'

/** The database is not as configured: retrying does not help until somebody changes a setting. */
export class UnfitDatabase extends Error {
  override readonly name = 'UnfitDatabase'
}

/** Names and values as pg_settings spells them, times in milliseconds. */
export type SessionSettings = Readonly<Record<string, string>>

/**
 * Values of synchronous_commit with which a charge that we have acknowledged survives the loss of
 * any one machine: the primary has flushed it and, if there is a synchronous standby, that one has
 * received it. With `off` a crash loses up to 600 ms of commits. `local` does not wait for the
 * standby, so a failover loses commits; without a standby it equals `on`, but would become wrong
 * unnoticed on the day when one is added.
 */
const DURABLE_COMMITS = ['on', 'remote_apply', 'remote_write']

/** As the startup option of a connection. */
export function startupOptions(settings: SessionSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`)
    .join(' ')
}

/** As statements for the beginning of a transaction. */
export function localSettings(settings: SessionSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `set local ${name} = '${value}'`)
    .join('; ')
}

type Found = { readonly name: string; readonly setting: string; readonly source: string }
type Seen = { readonly pid: number; readonly settings: readonly Found[] }
type Queries = { query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> }

async function look(session: Queries, names: readonly string[]): Promise<Seen> {
  const { rows } = await session.query(
    `select pg_backend_pid() as pid,
       json_agg(json_build_object('name', name, 'setting', setting, 'source', source)) as settings
     from pg_settings where name = any ($1)`,
    [names],
  )
  return rows[0] as Seen
}

/** Throws UnfitDatabase. `url` is the name of the setting that has the address. */
export async function verifySession(
  client: pg.Client,
  settings: SessionSettings,
  url: string,
): Promise<void> {
  const seen = await look(client, [...Object.keys(settings), 'synchronous_commit'])
  // A pooler chooses the process of PostgreSQL for each transaction, so it cannot announce its
  // number at connect and makes one up. Session state would not survive between transactions.
  const { processID } = client as unknown as { processID: number | null }
  if (processID !== seen.pid) throw new UnfitDatabase(poolerSentence(url))
  requireSettings(seen.settings, settings)
}

/** The same for statements inside a transaction, which may have come through a pooler. */
export async function verifyTransaction(tx: Queries, settings: SessionSettings): Promise<void> {
  const seen = await look(tx, [...Object.keys(settings), 'synchronous_commit'])
  requireSettings(seen.settings, settings)
}

function requireSettings(seen: readonly Found[], settings: SessionSettings): void {
  for (const { name, setting, source } of seen) {
    const wanted = settings[name]
    if (wanted !== undefined && setting !== wanted) {
      throw new UnfitDatabase(
        `the database session has ${name} = ${setting}, but ${wanted} was sent when it began: ` +
          'a proxy on the way drops startup options, or the address in database.url replaces them',
      )
    }
    if (name === 'synchronous_commit' && !DURABLE_COMMITS.includes(setting)) {
      throw new UnfitDatabase(
        `the database session has ${name} = ${setting}, with which a crash or failover loses ` +
          `charges; use ${DURABLE_COMMITS.join(', ')}; ${sourceSentence(source)}`,
      )
    }
  }
}

/** Where pg_settings says that a value comes from. */
function sourceSentence(source: string): string {
  if (/user|database/.test(source)) return 'ALTER ROLE … SET or ALTER DATABASE … SET has set it'
  if (source === 'configuration file') return 'postgresql.conf or ALTER SYSTEM has set it'
  return `it comes from: ${source}`
}

function poolerSentence(url: string, said = ''): string {
  const because = said === '' ? '' : ` (it answered: ${said})`
  const remedy =
    url === 'database.directUrl'
      ? 'it must be the address of PostgreSQL itself'
      : 'set database.directUrl to the address of PostgreSQL itself'
  return (
    `${url} leads to a connection pooler such as PgBouncer${because}, which does not keep the ` +
    `session settings and LISTEN that charges and jobs need; ${remedy}`
  )
}

/** PgBouncer refuses startup options unless it is configured to drop them. */
export function explainConnectError(error: unknown, url: string): unknown {
  const isPooler = error instanceof Error && /unsupported startup parameter/.test(error.message)
  return isPooler ? new UnfitDatabase(poolerSentence(url, error.message)) : error
}
