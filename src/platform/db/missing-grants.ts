// PostgreSQL refuses a statement because its role lacks a grant (SQLSTATE 42501). That is a fault
// of the installation, not an absent database: repeating the statement does not help until somebody
// grants what is missing. The server's message names the table or function but not the role, so
// every connection of ours completes the message where the error arrives.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { EventEmitter } from 'node:events'
import type pg from 'pg'

const INSUFFICIENT_PRIVILEGE = '42501'

/** The privilege that an object of this kind is missing; of a table it may be any of four. */
const PRIVILEGES: Readonly<Record<string, string>> = {
  function: 'EXECUTE',
  procedure: 'EXECUTE',
  schema: 'USAGE or CREATE',
  sequence: 'USAGE',
  table: 'SELECT, INSERT, UPDATE or DELETE',
  view: 'SELECT',
}

export type MissingGrant = Error & { readonly code: typeof INSUFFICIENT_PRIVILEGE }

export function isMissingGrant(error: unknown): error is MissingGrant {
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown }
  return error instanceof Error && severity !== undefined && code === INSUFFICIENT_PRIVILEGE
}

/** The server does not let the role in (class 28): its password is wrong or has expired. */
export function isLoginRefused(error: unknown): error is Error {
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown }
  return error instanceof Error && severity !== undefined && String(code).startsWith('28')
}

/** The message, if the error is a missing grant or was caused by one. */
export function missingGrantText(error: unknown): string | undefined {
  if (isMissingGrant(error)) return error.message
  if (!(error instanceof Error && isMissingGrant(error.cause))) return undefined
  const { message, cause } = error
  return message.includes(cause.message) ? message : `${message}: ${cause.message}`
}

/** Completes the message of every such error of this connection. */
export function explainMissingGrants(client: pg.ClientBase): void {
  const { connection, user } = client as unknown as { connection: EventEmitter; user?: string }
  connection.on('errorMessage', (error: unknown) => {
    if (isMissingGrant(error)) explain(error, user ?? '')
  })
}

function explain(error: Error, role: string): void {
  const said = error.message
  error.message = missingGrantSentence(said, role)
  // Its first line repeats the message of the time when the error was made.
  error.stack = (error.stack ?? '').replace(said, () => error.message)
}

/** `said` is the server's message, in the language of its lc_messages. */
export function missingGrantSentence(said: string, role: string): string {
  const [, kind = '', name = ''] = /^permission denied for (\w+) (.+)$/.exec(said) ?? []
  const privilege = PRIVILEGES[kind]
  const missing =
    privilege === undefined ? said : `${said}; it lacks ${privilege} on ${kind} ${name}`
  return (
    `the database role ${role} may not do this: ${missing}. ` +
    'migrate grants each role what it needs'
  )
}

/** Repeating does not help until a person has done something about the role. */
export function isRefused(error: unknown): error is Error {
  return isMissingGrant(error) || isLoginRefused(error)
}

type Watched = { missing?: Error }
const watched = new AsyncLocalStorage<Watched>()

/** Records the error for the `watchMissingGrants` in whose work the statement was sent. */
export function noteMissingGrant(error: unknown): void {
  const work = watched.getStore()
  if (work !== undefined && isRefused(error)) work.missing ??= error
}

/**
 * Runs the work and returns the first such error that one of its statements met: work that handles
 * a hundred refunds one by one logs a failed one and resolves.
 */
export async function watchMissingGrants(work: () => Promise<unknown>): Promise<Watched> {
  const seen: Watched = {}
  await watched.run(seen, work).catch((error: unknown) => {
    if (!isRefused(error)) throw error
    seen.missing ??= error
  })
  return seen
}
